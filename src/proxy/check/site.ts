import { request as requestHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Interceptor } from './interceptor.ts'
import { isObject } from '../../platform/typed.ts'

/** A response of the proxy, with its body read. */
export type Reply = {
  status: number
  /** All values of a header, in order. */
  all(name: string): string[]
  /** The first value of a header; empty if it is missing. */
  header(name: string): string
  text: string
  error: { code: string; details: Readonly<Record<string, unknown>> } | undefined
  meta: Readonly<Record<string, unknown>>
  data: Readonly<Record<string, unknown>>
}

export type Sending = { headers?: readonly (readonly [string, string])[]; body?: string }

/** The proxy under test, as a client uses it. */
export type Site = {
  /** Sends a request. `path` is relative to the proxy's root and is sent unchanged. */
  send(method: string, path: string, sending?: Sending): Promise<Reply>
  /** A valid nonce without a session. */
  nonce: string
  /** The server between the proxy and the service. Without it, only responses can be checked. */
  interceptor: Interceptor | undefined
}

/** Longer than a proxy may wait for its service. */
const longestMs = 60_000

/** Returns a function that sends requests below `root`. Uses node:http, because fetch normalises paths and joins headers. */
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
      outgoing.setTimeout(longestMs, () => outgoing.destroy(new Error(`no response within ${longestMs / 1000} s`)))
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

/** The value if it is an object, else an empty object. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}
