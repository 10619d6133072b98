import { request as requestHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Interceptor } from './interceptor.ts'

/** An answer of the proxy as it came, its body read. */
export type Reply = {
  status: number
  /** Values of a header in the order sent; none where it was not. */
  all(name: string): string[]
  /** The one value of a header; empty where it was not sent. */
  header(name: string): string
  text: string
  error: { code: string; details: Readonly<Record<string, unknown>> } | undefined
  meta: Readonly<Record<string, unknown>>
  data: Readonly<Record<string, unknown>>
}

export type Sending = { headers?: readonly (readonly [string, string])[]; body?: string }

/** The proxy under test as a client on the other side of the network meets it. */
export type Site = {
  /** The path is below the proxy's root and goes out exactly as it is. */
  send(method: string, path: string, sending?: Sending): Promise<Reply>
  /** One that was issued to nobody. */
  nonce: string
  /** Where the check stands between the proxy and the service; without it, only what comes back can be judged. */
  interceptor: Interceptor | undefined
}

/** Longer than any proxy may wait for its service. */
const longestMs = 60_000

/** Sends by Node's own client, which neither tidies a path up nor joins two headers into one. */
export function sendTo(root: URL): Site['send'] {
  const request = root.protocol === 'https:' ? requestHttps : requestHttp
  const below = root.pathname.replace(/\/$/, '')
  return (method, path, { headers = [], body } = {}) =>
    new Promise((resolve, reject) => {
      const raw = [['Host', root.host], ...headers, ...lengthOf(body)].flat()
      const outgoing = request(
        {
          hostname: root.hostname.replace(/^\[|\]$/g, ''),
          port: root.port,
          method,
          path: `${below}${path}`,
          headers: raw
        },
        (incoming) => void read(incoming).then(resolve, reject)
      )
      outgoing.setTimeout(longestMs, () => outgoing.destroy(new Error(`no answer within ${longestMs / 1000} s`)))
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

function lengthOf(body: string | undefined): [string, string][] {
  return body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))]]
}

async function read(incoming: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const { error, data, meta } = asObject(parse(text))
  const { code, details } = asObject(error)
  return {
    status: incoming.statusCode ?? 0,
    all: (name) => incoming.headersDistinct[name] ?? [],
    header: (name) => incoming.headersDistinct[name]?.[0] ?? '',
    text,
    error: typeof code === 'string' ? { code, details: asObject(details) } : undefined,
    meta: asObject(meta),
    data: asObject(data)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
