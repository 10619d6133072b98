import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Converts a web-standard handler to a listener for a node:http server. The handler can read the raw path, the raw
 * headers and the socket's address, because the request carries Node's own request.
 */
export function toNodeListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return (req, res) => void answer(handle, req, res)
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  req: IncomingMessage,
  res: ServerResponse
): Promise<void> {
  try {
    // A web-standard Request cannot have this method, and no route uses it.
    if (req.method === 'TRACE') return void res.writeHead(405).end()
    const response = await handle(toRequest(req))
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

/** A Request with Node's request attached as srvx attaches it. */
function toRequest(req: IncomingMessage): Request {
  const headers = new Headers()
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const method = req.method ?? 'GET'
  const request = new Request('http://localhost/', { method, headers })
  return Object.assign(request, { runtime: { name: 'node', node: { req } } })
}
