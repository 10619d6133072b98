import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ProxyContext } from './proxy.ts'

/** Node's request with what Express and its body parsers add. */
type ExpressRequest = IncomingMessage & { originalUrl?: string; ip?: unknown; body?: unknown }

/**
 * Converts a web-standard handler to a listener for a node:http server, or to a handler for Express. The handler can read
 * the raw path, the raw headers and the socket's address, because the request carries Node's own request. In Express, the
 * client's address is `req.ip`, which follows the setting "trust proxy", and a body that express.json() has parsed is sent
 * as JSON again.
 */
export function toNodeListener(
  handle: (request: Request, context: ProxyContext) => Promise<Response>
): RequestListener {
  return (req, res) => void answer(handle, req, res)
}

async function answer(
  handle: (request: Request, context: ProxyContext) => Promise<Response>,
  req: ExpressRequest,
  res: ServerResponse
): Promise<void> {
  try {
    // A web-standard Request cannot have this method, and no route uses it.
    if (req.method === 'TRACE') return void res.writeHead(405).end()
    const wrong = bodyProblem(req)
    if (wrong !== undefined) return void res.writeHead(500, { 'content-type': 'text/plain' }).end(wrong)
    const response = await handle(toRequest(req), { clientAddress: typeof req.ip === 'string' ? req.ip : undefined })
    const headers = [...response.headers].filter(([name]) => name !== 'set-cookie')
    const cookies = response.headers.getSetCookie()
    res.writeHead(response.status, [...headers, ...cookies.map((cookie) => ['set-cookie', cookie])].flat())
    if (response.body === null) res.end()
    else await pipeline(Readable.fromWeb(response.body), res)
  } catch {
    // The headers are sent already or cannot be created, so the only way to report the error is to close the connection.
    // The proxy has called onFailure.
    res.destroy()
  }
}

/** A middleware before the proxy has read the body, and has not left it as the body parsers of Express do. */
function bodyProblem(req: ExpressRequest): string | undefined {
  if (!req.readableDidRead || req.body !== undefined) return undefined
  return 'Mount the proxy before the middleware that reads request bodies.'
}

/** A Request with Node's request attached as srvx attaches it. */
function toRequest(req: ExpressRequest): Request {
  const headers = new Headers()
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const method = req.method ?? 'GET'
  const request = new Request('http://localhost/', { method, headers })
  return Object.assign(request, { runtime: { name: 'node', node: { req: unreadRequest(req) } } })
}

/** Node's request with its body to read once more, if a body parser has read it. */
function unreadRequest(req: ExpressRequest): IncomingMessage {
  if (!req.readableDidRead) return req
  const { method, url, originalUrl, rawHeaders, socket, body } = req
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  // The parser has decompressed the body and joined its chunks.
  const headers = { 'content-length': String(Buffer.byteLength(bytes)) }
  const read = { method, url, originalUrl, headers, rawHeaders, socket }
  return Object.assign(Readable.from([Buffer.from(bytes)], { objectMode: false }), read) as unknown as IncomingMessage
}
