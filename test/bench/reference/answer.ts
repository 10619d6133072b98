import type { IncomingMessage, ServerResponse } from 'node:http'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A response of the shop that the reference repeats. */
export type StoredResponse = { status: number; headers: [name: string, value: string][]; body: string }

/** A handler that sends a stored response. */
export function sendStored({ status, headers, body }: StoredResponse): Handler {
  const bytes = Buffer.from(body)
  const flat = headers.flat()
  return (_, response) => {
    response.writeHead(status, flat)
    response.end(bytes)
  }
}

const id = '00000000-0000-4000-8000-000000000000'

/** The headers of the shop's private responses. */
const privateHeaders = Object.entries({
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'x-request-id': id,
  'cache-control': 'no-store'
}).flat()

/** A `meta` of the same length as the shop's, with the current time. */
export function meta(): object {
  return { correlationId: id, correlation_id: id, request_id: id, timestamp: new Date().toISOString() }
}

/** Sends a private JSON response. */
export function answerJson(response: ServerResponse, body: string): void {
  response.writeHead(200, [...privateHeaders, 'content-length', String(Buffer.byteLength(body))])
  response.end(body)
}
