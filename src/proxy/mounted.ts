import type { IncomingMessage } from 'node:http'
import { NodeRequest } from 'srvx/node'
import type { App } from '../app.ts'
import type { Eventually } from '../platform/eventually.ts'
import { clientAddress, parseTrustedProxies } from '../platform/http/client-address.ts'
import { handOnFor, socketAddress } from '../platform/http/node-request.ts'
import { WholeResponse } from '../platform/http/whole-response.ts'
import { describeError } from '../platform/log.ts'
import { createProxy } from './proxy.ts'
import type { Sent, WholeBody } from './upstream.ts'

/** Never asked for: nothing leaves the process. */
const inside = 'http://localhost'

/** Where the proxy answers on the service's own server. */
export const mountedAt = '/api/secure'

/**
 * The proxy inside the service's own process: it hands requests to the API itself, without a network between.
 *
 * @param api the API's own handler
 */
export function mountProxy(
  app: App,
  api: (request: Request) => Eventually<Response>
): (request: Request) => Promise<Response> {
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  return createProxy({
    upstream: `${inside}${app.config.apiPrefix}`,
    prefix: mountedAt,
    publicUrl: app.publicUrl,
    origins: app.config.origins,
    development: app.config.env === 'development',
    clientAddress: (request) => clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted),
    send: async (request, address) => {
      if (address !== undefined) handOnFor(request, address)
      return api(request)
    },
    inside: {
      request: requestInside,
      read: readWhole,
      answer: (body, status, headers) => new WholeResponse(body, status, headers.flat())
    },
    onFailure: (error) => app.log.error('the proxy could not ask the API', { error: describeError(error) })
  })
}

/**
 * One without a body is made as the listener makes them, of what Node would have read: a Request of the platform's own
 * kind costs more than all else that the proxy does.
 */
function requestInside(url: string, { method, headers, body }: Sent): Request {
  if (body !== null) return new Request(url, { method, headers, body })
  const req = {
    method,
    url: url.slice(inside.length),
    headers: Object.fromEntries(headers),
    rawHeaders: headers.flat()
  }
  return new NodeRequest({ req: req as unknown as IncomingMessage })
}

async function readWhole(response: Response): Promise<WholeBody> {
  if (response instanceof WholeResponse) return response.content ?? ''
  return new Uint8Array(await response.arrayBuffer())
}
