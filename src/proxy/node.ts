import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * A web-standard handler as a plain node:http server takes it. The request keeps Node's own under it, so that paths and
 * headers are judged as they were sent, and the client's address is the socket's.
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
    // A web-standard request cannot have this method, and no route of ours has.
    if (req.method === 'TRACE') return void res.writeHead(405).end()
    const response = await handle(toRequest(req))
    const headers = [...response.headers].filter(([name]) => name !== 'set-cookie')
    const cookies = response.headers.getSetCookie()
    res.writeHead(response.status, [...headers, ...cookies.map((cookie) => ['set-cookie', cookie])].flat())
    if (response.body === null) res.end()
    else await pipeline(Readable.fromWeb(response.body), res)
  } catch {
    // The headers are out or cannot be had: a broken connection is all that can still say so. The proxy has told
    // its onFailure already.
    res.destroy()
  }
}

/** srvx's convention for Node's own request under a web-standard one. */
function toRequest(req: IncomingMessage): Request {
  const headers = new Headers()
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const method = req.method ?? 'GET'
  const request = new Request('http://localhost/', { method, headers })
  return Object.assign(request, { runtime: { name: 'node', node: { req } } })
}
