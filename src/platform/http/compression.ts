import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

export type Encoding = 'br' | 'gzip'

/** The best encoding that the client accepts; `q=0` excludes an encoding (RFC 9110 12.5.3). */
export function acceptedEncoding(request: Request): Encoding | null {
  if (accepts(request, 'br')) return 'br'
  return accepts(request, 'gzip') ? 'gzip' : null
}

/** Whether the client accepts an encoding. */
export function accepts(request: Request, encoding: Encoding): boolean {
  const named = (request.headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  return named.some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

const cache = new Map<string, Buffer<ArrayBuffer>>()

/** Compresses a body that never changes under its name, once and at the highest level. */
export function compressed(name: string, body: Buffer, encoding: Encoding): Buffer<ArrayBuffer> {
  const key = `${encoding} ${name}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const small = encoding === 'br' ? brotliCompressSync(body) : gzipSync(body, { level: 9 })
  cache.set(key, small)
  return small
}

/** Compresses a page at a fast level, because it is rendered for each request. */
export function compressedPage(html: string, encoding: Encoding): Buffer<ArrayBuffer> {
  if (encoding === 'gzip') return gzipSync(html)
  return brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}
