import { FastResponse } from 'srvx'
import type { App } from '../app.ts'
import type { Eventually } from '../platform/eventually.ts'
import { clientAddress, parseTrustedProxies } from '../platform/http/client-address.ts'
import { handOnFor, socketAddress } from '../platform/http/node-request.ts'
import { WholeResponse } from '../platform/http/whole-response.ts'
import { describeError } from '../platform/log.ts'
import { createProxy } from './proxy.ts'
import type { AnswerBody, WholeBody } from './upstream.ts'

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
    upstream: `http://localhost${app.config.apiPrefix}`,
    prefix: mountedAt,
    publicUrl: app.publicUrl,
    origins: app.config.origins,
    development: app.config.env === 'development',
    clientAddress: (request) => clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted),
    send: async (request, address) => {
      if (address !== undefined) handOnFor(request, address)
      return api(request)
    },
    whole: { read: readWhole, make: makeWhole },
    onFailure: (error) => app.log.error('the proxy could not ask the API', { error: describeError(error) })
  })
}

async function readWhole(response: Response): Promise<WholeBody> {
  if (response instanceof WholeResponse) return response.content ?? ''
  return new Uint8Array(await response.arrayBuffer())
}

function makeWhole(body: AnswerBody | null, status: number, headers: [string, string][]): Response {
  return body instanceof ReadableStream
    ? new FastResponse(body, { status, headers })
    : new WholeResponse(body, status, headers.flat())
}
