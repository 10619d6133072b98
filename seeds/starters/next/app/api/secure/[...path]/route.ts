import { createProxy } from '@shopstead/proxy'
import { clientAddressIn, shopUrl, siteUrl } from '@/lib/site'

const proxy = createProxy({ upstream: shopUrl, publicUrl: siteUrl })

const handle = (request: Request): Promise<Response> =>
  proxy(request, { clientAddress: clientAddressIn(request.headers) })

export { handle as GET, handle as POST, handle as PATCH }
