import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the proxy sent to its upstream. */
export type ReceivedRequest = {
  method: string
  /** Relative to the service's api_root. */
  path: string
  headers: IncomingMessage['headersDistinct']
  body: string
}

type Responder = (res: ServerResponse) => void

/** A server between a proxy and its service. It records each request, then forwards it or answers it itself. */
export type Interceptor = {
  port: number
  received: ReceivedRequest[]
  /** Answers requests for a path with `responder` until the returned function is called. */
  answer(path: string, responder: Responder): () => void
  /** Refuses connections while `work` runs. */
  whileDown<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Starts an interceptor.
 *
 * @param service the service's api_root
 * @param port the port of the upstream that the proxy under test is configured with; 0 picks a free one
 */
export async function startInterceptor(service: URL, port: number, host = '127.0.0.1'): Promise<Interceptor> {
  const received: ReceivedRequest[] = []
  const own = new Map<string, Responder>()
  const server = createServer((req, res) => {
    void receive(req).then((request) => {
      received.push(request)
      const responder = own.get(request.path.split('?')[0] ?? '')
      return responder === undefined ? forward(service, request, res) : responder(res)
    })
  })
  await listen(server, port, host)
  const bound = (server.address() as AddressInfo).port
  return {
    port: bound,
    received,
    answer(path, responder) {
      own.set(path, responder)
      return () => void own.delete(path)
    },
    async whileDown(work) {
      await close(server)
      try {
        return await work()
      } finally {
        await listen(server, bound, host)
      }
    },
    close: () => close(server)
  }
}

async function receive(req: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const { method = '', url = '', headersDistinct: headers } = req
  // An api_root ends in /v1, so everything after it is the path, whatever prefix the proxy uses.
  const path = url.includes('/v1/') ? url.slice(url.indexOf('/v1/') + 3) : url
  return { method, path, headers, body: Buffer.concat(chunks).toString('utf8') }
}

async function forward(service: URL, request: ReceivedRequest, res: ServerResponse): Promise<void> {
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headers)) {
    if (hopByHop.has(name)) continue
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = request.body !== '' && request.method !== 'GET' && request.method !== 'HEAD'
  try {
    const url = `${service.href.replace(/\/$/, '')}${request.path}`
    const body = hasBody ? request.body : null
    const answer = await fetch(url, { method: request.method, headers, body, redirect: 'manual' })
    const sent = [...answer.headers].filter(([name]) => name !== 'set-cookie' && !hopByHop.has(name))
    const cookies = answer.headers.getSetCookie().map((cookie): [string, string] => ['set-cookie', cookie])
    res.writeHead(answer.status, [...sent, ...cookies].flat())
    res.end(Buffer.from(await answer.arrayBuffer()))
  } catch {
    // The service is down. Close the connection, so that the proxy sees the same.
    res.destroy()
  }
}

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
  'content-encoding'
])

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
