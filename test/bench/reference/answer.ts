import type { IncomingMessage, ServerResponse } from 'node:http'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** One of the shop's answers, to be given again as it is. */
export type KeptAnswer = { status: number; headers: [name: string, value: string][]; body: string }

export function answerKept({ status, headers, body }: KeptAnswer): Handler {
  const bytes = Buffer.from(body)
  const flat = headers.flat()
  return (_, response) => {
    response.writeHead(status, flat)
    response.end(bytes)
  }
}

const id = '00000000-0000-4000-8000-000000000000'

/** What the shop sends along with every answer that is one person's. */
const privateHeaders = Object.entries({
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'x-request-id': id,
  'cache-control': 'no-store'
}).flat()

/** As long as the shop's meta, and with the time of the answer. */
export function meta(): object {
  return { correlationId: id, correlation_id: id, request_id: id, timestamp: new Date().toISOString() }
}

export function answerJson(response: ServerResponse, body: string): void {
  response.writeHead(200, [...privateHeaders, 'content-length', String(Buffer.byteLength(body))])
  response.end(body)
}
