import type { H3 } from 'h3'
import type { App } from '../app.ts'
import { clientAddress, parseTrustedProxies, fromAddress, socketAddress } from '../platform/http/client-address.ts'
import { usualPrefix } from '../platform/http/cross-site.ts'
import { describeError, clientLog } from '../platform/log.ts'
import { createProxy } from './proxy.ts'

/** The proxy's path on the service's own server. */
export const mountedAt = usualPrefix

/** Mounts the proxy inside the service's process. It calls the API without a network connection. */
export function mountProxy(h3: H3, app: App): void {
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const proxy = createProxy({
    // These requests do not use the network.
    upstream: `http://localhost${app.config.apiPrefix}`,
    prefix: mountedAt,
    publicUrl: app.publicUrl,
    origins: app.config.origins,
    development: app.config.env === 'development',
    clientAddress: (request) => clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted),
    inProcess: async (request) => h3.fetch(fromAddress(request, request.headers.get('x-forwarded-for') ?? undefined)),
    onFailure: (error) => clientLog(app.log).error('the proxy could not reach the API', { error: describeError(error) })
  })
  h3.all(`${mountedAt}/**`, ({ req }) => proxy(req))
}
