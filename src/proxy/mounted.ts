import type { App } from '../app.ts'
import { andThen } from '../platform/eventually.ts'
import type { Eventually } from '../platform/eventually.ts'
import { clientAddress, parseTrustedProxies } from '../platform/http/client-address.ts'
import { usualPrefix } from '../platform/http/csrf.ts'
import { socketAddress } from '../platform/http/node-request.ts'
import { requestInMemory } from '../platform/http/request-in-memory.ts'
import { WholeResponse } from '../platform/http/whole-response.ts'
import { describeError } from '../platform/log.ts'
import { clientLog } from '../platform/repeated-lines.ts'
import { createProxy } from './proxy.ts'
import type { WholeAnswer } from './upstream.ts'

/** A placeholder origin: these requests do not use the network. */
const internalOrigin = 'http://localhost'

/** The proxy's path on the service's own server. */
export const mountedAt = usualPrefix

/**
 * Creates the proxy inside the service's process. It calls the API without a network connection.
 *
 * @param api the API's handler
 */
export function mountProxy(
  app: App,
  api: (request: Request) => Eventually<Response>
): (request: Request) => Promise<Response> {
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  return createProxy({
    upstream: `${internalOrigin}${app.config.apiPrefix}`,
    prefix: mountedAt,
    publicUrl: app.publicUrl,
    origins: app.config.origins,
    development: app.config.env === 'development',
    clientAddress: (request) => clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted),
    inProcess: {
      handle: (url, { method, headers, body }, remoteAddress) => {
        const target = url.slice(internalOrigin.length)
        return andThen(api(requestInMemory({ method, target, headers, body, remoteAddress })), readWhole)
      },
      respond: (body, status, headers) => new WholeResponse(body, status, headers.flat())
    },
    onFailure: (error) => clientLog(app.log).error('the proxy could not reach the API', { error: describeError(error) })
  })
}

function readWhole(response: Response): Eventually<WholeAnswer> {
  const { status } = response
  if (response instanceof WholeResponse) return { status, headers: response.fewHeaders, body: response.content }
  return response.arrayBuffer().then((body) => ({ status, headers: response.headers, body: new Uint8Array(body) }))
}
