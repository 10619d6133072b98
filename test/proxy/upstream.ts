import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { method: string; url: string; headers: IncomingMessage['headers']; raw: string[]; body: string }

export type FakeService = {
  url: string
  /** The requests received, in order. */
  received: Received[]
  stop(): Promise<void>
}

type Responder = (req: IncomingMessage, res: ServerResponse, body: string) => void

/** Starts a fake service on a free port. It records requests and responds with `answer`. */
export async function fakeService(answer: Responder = answerOk): Promise<FakeService> {
  const received: Received[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, raw: req.rawHeaders, body })
      answer(req, res, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}

/** Responds with 200 and an envelope. */
export function answerOk(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"ok":true},"meta":{}}')
}
