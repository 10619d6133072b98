import { request } from 'node:http'
import type { Agent, IncomingHttpHeaders } from 'node:http'

export type RequestOptions = {
  /** Default: POST with a body, else GET. */
  method?: string
  headers?: Record<string, string>
  /** URLSearchParams are sent as a form, other objects as JSON, a string unchanged as JSON. */
  body?: object | string
  /** Default: a new connection. */
  agent?: Agent
}

export type Reply = { status: number; headers: IncomingHttpHeaders; text: string; ms: number }

/** Sends one request with node:http, which is the cheapest client, and measures the time to the end of the response. */
export function sendRequest(url: string, { method, headers = {}, body, agent }: RequestOptions = {}): Promise<Reply> {
  const started = performance.now()
  const [type, text] = written(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: method ?? (text === undefined ? 'GET' : 'POST'),
        agent: agent ?? false,
        headers: { ...(text === undefined ? {} : { ...type, 'content-length': Buffer.byteLength(text) }), ...headers }
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
            ms: performance.now() - started
          })
        )
      }
    )
    sent.on('error', reject).end(text)
  })
}

function written(body: RequestOptions['body']): [type: Record<string, string>, text: string | undefined] {
  if (body === undefined) return [{}, undefined]
  if (body instanceof URLSearchParams) return [{ 'content-type': 'application/x-www-form-urlencoded' }, String(body)]
  return [{ 'content-type': 'application/json' }, typeof body === 'string' ? body : JSON.stringify(body)]
}

/** The `data` of a response's envelope. Throws if there is none. */
export function dataOf<Data = Record<string, unknown>>({ status, text }: Reply): Data {
  const { data } = JSON.parse(text) as { data?: Data }
  if (data === undefined) throw new Error(`response without data: ${status} ${text.slice(0, 200)}`)
  return data
}

/** The value of the Cookie header for the cookies that a response sets. */
export function cookiesOf({ headers }: Reply): string {
  return (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
}

/** Runs `work` for 0 to `times` - 1 with at most `width` concurrent calls. Returns the results in order. */
export async function runConcurrently<T>(
  times: number,
  width: number,
  work: (index: number) => Promise<T>
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < times) {
      const index = next++
      results[index] = await work(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, times) }, worker))
  return results
}
