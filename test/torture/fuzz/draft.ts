import type { Random } from '../random.ts'

/** A request before it is encoded. The strings are latin1 and are sent unchanged. */
export type Draft = {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer
  /** Sends the body in chunks instead of with Content-Length. */
  chunked: boolean
}

/** A little less than the size above which Node answers 431. */
const maxHeadBytes = 15_000

const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** Methods that Node's parser accepts. */
export const knownMethods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'LINK',
  'PURGE'
]

/** Whether the request is valid HTTP. A server may refuse any other with a bare status line. */
export function isLegal({ method, target, headers }: Draft): boolean {
  const count = (name: string): number => headers.filter(([other]) => other.toLowerCase() === name).length
  return (
    knownMethods.includes(method) &&
    /^\/[\x21-\x7e]*$/.test(target) &&
    headers.every(([name, value]) => token.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) &&
    headOf(method, target, headers).length < maxHeadBytes &&
    count('host') === 1 &&
    ['content-length', 'transfer-encoding', 'expect', 'upgrade'].every((name) => count(name) === 0)
  )
}

/** Encodes a request. */
export function bytesOf(draft: Draft, random: Random): Buffer {
  const { method, target, headers, body, chunked } = draft
  const own = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  const framing: [string, string][] = own
    ? []
    : chunked
      ? [['Transfer-Encoding', 'chunked']]
      : body.length > 0 || method === 'POST'
        ? [['Content-Length', String(body.length)]]
        : []
  const head = Buffer.from(`${headOf(method, target, [...headers, ...framing])}\r\n`, 'latin1')
  return Buffer.concat([head, chunked && !own ? inChunks(body, random) : body])
}

function headOf(method: string, target: string, headers: readonly (readonly [string, string])[]): string {
  return `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
}

/** Splits a body into chunks of random sizes, some with an extension, and sometimes adds a trailer. */
function inChunks(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const part = body.subarray(at, at + random.pick([1, 7, 100, 5_000, 100_000]))
    if (parts.length > 300) parts.push(chunk(body.subarray(at), ''))
    else parts.push(chunk(part, random.oneIn(5) ? ';name=value' : ''))
    at = parts.length > 301 ? body.length : at + part.length
  }
  parts.push(Buffer.from(random.oneIn(5) ? '0\r\nX-Trailer: yes\r\n\r\n' : '0\r\n\r\n'))
  return Buffer.concat(parts)
}

function chunk(part: Buffer, extension: string): Buffer {
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from('\r\n')])
}

/** A request as text, for a report. */
export function describe({ method, target, headers, body, chunked }: Draft): string {
  const shown = headers.map(([name, value]) => `${name}: ${cut(value, 150)}`)
  const text =
    body.length === 0
      ? ''
      : `\n${body.length} bytes${chunked ? ' in chunks' : ''}: ${cut(JSON.stringify(body.subarray(0, 1_000).toString('utf8')), 500)}`
  return `${method} ${cut(target, 300)}\n${shown.slice(0, 12).join('\n')}${text}`
}

/** The text, shortened to `longest` characters. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length})`
}
