import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { methodNotAllowed } from '../platform/http/addresses.ts'
import { failure, requestIds } from '../platform/http/envelope.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import type { DownloadFile } from '../shop/benefits/download-file.ts'
import { findDownloadFile } from '../shop/benefits/download-file.ts'
import { openDownload } from '../shop/benefits/download-links.ts'
import type { ShopContext } from '../shop/context.ts'

const pattern = /^\/downloads\/([\w.-]{1,200})$/

/**
 * Serves `/downloads/{token}`, whole or one range of it (RFC 9110, 14.2); undefined for any other address and for a link
 * that is not valid. The file is always sent as an attachment, so that it never runs in the shop's origin.
 */
export async function serveDownload(shop: ShopContext, request: Request): Promise<Response | undefined> {
  const token = pattern.exec(rawPath(rawTarget(request)))?.[1]
  if (token === undefined) return undefined
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(shop, request)
  const file = openDownload(shop.db, shop.keys, token, shop.clock.now())
  const found = file === undefined ? undefined : await findDownloadFile(shop.config.dataDir, file)
  if (file === undefined || found === undefined) return undefined
  const etag = `"${found.sizeBytes.toString(36)}-${Math.round(found.modifiedAt).toString(36)}"`
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': contentDisposition(file.split('/').at(-1) ?? file),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    etag
  }
  const range = parseRange(askedRange(request, etag), found.sizeBytes)
  if (range === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${found.sizeBytes}` } })
  }
  return range === undefined ? whole(request, found, headers) : part(request, found, headers, range)
}

function refuseMethod(shop: ShopContext, request: Request): Response {
  const ids = requestIds(request.headers.get('x-correlation-id'))
  return failure(methodNotAllowed(['GET']), ids, shop.clock.now(), { noStore: true })
}

/** Ranges are defined only for GET (RFC 9110, 14.2), and apply only while the file is unchanged (If-Range). */
function askedRange({ method, headers }: Request, etag: string): string | null {
  const ifRange = headers.get('if-range')
  return method === 'GET' && (ifRange === null || ifRange === etag) ? headers.get('range') : null
}

type Range = { start: number; end: number }

function whole(request: Request, file: DownloadFile, headers: Record<string, string>): Response {
  const length = { 'content-length': String(file.sizeBytes) }
  return new Response(bodyOf(request, file, undefined), { headers: { ...headers, ...length } })
}

function part(request: Request, file: DownloadFile, headers: Record<string, string>, range: Range): Response {
  const lengths = {
    'content-length': String(range.end - range.start + 1),
    'content-range': `bytes ${range.start}-${range.end}/${file.sizeBytes}`
  }
  return new Response(bodyOf(request, file, range), { status: 206, headers: { ...headers, ...lengths } })
}

function bodyOf(request: Request, file: DownloadFile, range: Range | undefined): ReadableStream | null {
  if (request.method === 'HEAD' || file.sizeBytes === 0) return null
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

/** An ASCII name for old clients and the real name in UTF-8 (RFC 6266). */
function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
