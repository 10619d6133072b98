import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'

/** A file to serve. `etag` is a strong one, in quotes; `bytes` is its content, if that is in memory. */
export type ServedFile = { path: string; sizeBytes: number; etag: string; bytes?: Buffer<ArrayBuffer> | undefined }

/**
 * The response to a GET or HEAD request for a file: the whole file, one range of it (RFC 9110, 14.2), or 416.
 *
 * @param headers further headers, such as content-type
 */
export function fileResponse(request: Request, file: ServedFile, headers: Record<string, string>): Response {
  const all = { ...headers, 'accept-ranges': 'bytes', etag: file.etag }
  const range = parseRange(askedRange(request, file.etag), file.sizeBytes)
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { ...all, 'content-range': `bytes */${file.sizeBytes}` } })
  const { start, end } = range ?? { start: 0, end: file.sizeBytes - 1 }
  const length = { 'content-length': String(end - start + 1) }
  if (range === undefined) return new Response(bodyOf(request, file, range), { headers: { ...all, ...length } })
  const part = { ...length, 'content-range': `bytes ${start}-${end}/${file.sizeBytes}` }
  return new Response(bodyOf(request, file, range), { status: 206, headers: { ...all, ...part } })
}

/** Ranges are defined only for GET (RFC 9110, 14.2), and apply only while the file is unchanged (If-Range). */
function askedRange({ method, headers }: Request, etag: string): string | null {
  const ifRange = headers.get('if-range')
  return method === 'GET' && (ifRange === null || ifRange === etag) ? headers.get('range') : null
}

type Range = { start: number; end: number }

function bodyOf(
  request: Request,
  file: ServedFile,
  range: Range | undefined
): ReadableStream | Buffer<ArrayBuffer> | null {
  if (request.method === 'HEAD' || file.sizeBytes === 0) return null
  if (file.bytes !== undefined)
    return range === undefined ? file.bytes : file.bytes.subarray(range.start, range.end + 1)
  return Readable.toWeb(createReadStream(file.path, range)) as ReadableStream
}

/** Reads a single byte range. Several ranges and other units are ignored, so the whole file is sent (RFC 9110 14.2). */
function parseRange(header: string | null, size: number): Range | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [first, last] = [match[1], match[2]].map((text) => (text === '' ? undefined : Number(text)))
  const start = first ?? Math.max(0, size - (last ?? 0))
  const end = first === undefined ? size - 1 : Math.min(last ?? size - 1, size - 1)
  if (first !== undefined && last !== undefined && last < first) return undefined
  return start > end || start >= size ? 'unsatisfiable' : { start, end }
}
