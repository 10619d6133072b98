import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

export type Encoding = 'br' | 'gzip'

/** The better of the encodings that the client names; one named with `q=0` is one it will not have (RFC 9110 12.5.3). */
export function acceptedEncoding(request: Request): Encoding | null {
  const named = (request.headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  const takes = (encoding: Encoding): boolean =>
    named.some((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
      return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    })
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : null
}

const kept = new Map<string, Buffer<ArrayBuffer>>()

/** A file that never changes under its name, compressed as well as can be, once. */
export function compressed(name: string, body: Buffer, encoding: Encoding): Buffer<ArrayBuffer> {
  const key = `${encoding} ${name}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const small = encoding === 'br' ? brotliCompressSync(body) : gzipSync(body, { level: 9 })
  kept.set(key, small)
  return small
}

/** A page, which is made anew each time: quickly rather than well. */
export function compressedPage(html: string, encoding: Encoding): Buffer<ArrayBuffer> {
  if (encoding === 'gzip') return gzipSync(html)
  return brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}
