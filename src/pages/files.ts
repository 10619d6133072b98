import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { H3 } from 'h3'
import { matchesEtag, notFound } from '../platform/http/answers.ts'
import { fileResponse } from '../platform/http/file-response.ts'
import { rawPath, rawTarget } from '../platform/http/client-address.ts'
import { serveAt } from '../platform/http/routing.ts'
import { accepts } from '../platform/http/compression.ts'
import { feedFormats } from '../shop/feeds/formats.ts'
import type { FeedName } from '../shop/feeds/formats.ts'
import { keptFeed } from '../shop/feeds/kept-feed.ts'
import { keysOf } from '../platform/typed.ts'
import { findMediaFile } from '../shop/catalog/images/media-files.ts'
import { findDownloadFile } from '../shop/benefits/download-file.ts'
import { openDownload } from '../shop/benefits/download-links.ts'
import type { ShopContext } from '../shop/context.ts'

/**
 * Serves `/media/{hash}-{width}.webp`, the pictures of the products. An address always has the same content, so browsers
 * and caches keep it for a year.
 */
export function serveMedia(h3: H3, dataDir: string): void {
  serveAt(h3, '/media/**', { GET: ({ req }) => sendPicture(dataDir, req) })
}

async function sendPicture(dataDir: string, request: Request): Promise<Response> {
  const file = await findMediaFile(dataDir, rawPath(rawTarget(request)))
  if (file === undefined) throw notFound()
  const cached = {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    // Sites of other origins show the pictures (Cross-Origin-Resource-Policy).
    'cross-origin-resource-policy': 'cross-origin'
  }
  if (matchesEtag(request.headers.get('if-none-match'), file.etag))
    return new Response(null, { status: 304, headers: { ...cached, etag: file.etag } })
  return fileResponse(request, file, cached)
}

/**
 * Serves `/downloads/{token}`, whole or one range of it (RFC 9110, 14.2), while the link is valid. The file is always sent
 * as an attachment, so that it never runs in the shop's origin.
 */
export function serveDownloads(h3: H3, shop: ShopContext): void {
  serveAt(h3, String.raw`/downloads/:token([\w.-]{1,200})`, {
    GET: ({ req, context }) => sendDownload(shop, req, context.params?.['token'] ?? '')
  })
}

async function sendDownload(shop: ShopContext, request: Request, token: string): Promise<Response> {
  const file = openDownload(shop.db, shop.keys, token, shop.clock.now())
  const found = file === undefined ? undefined : await findDownloadFile(shop.config.dataDir, file)
  if (file === undefined || found === undefined) throw notFound()
  const etag = `"${found.sizeBytes.toString(36)}-${Math.round(found.modifiedAt).toString(36)}"`
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': contentDisposition(file.split('/').at(-1) ?? file),
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff'
  }
  return fileResponse(request, { path: found.path, sizeBytes: found.sizeBytes, etag }, headers)
}

/** Serves the products for market places: `/feeds/google.xml`, and the same as text with tabs, `/feeds/products.tsv`. */
export function serveFeeds(h3: H3, shop: ShopContext): void {
  for (const name of keysOf(feedFormats)) {
    const path = `/feeds/${name}`
    serveAt(h3, path, { GET: ({ req }) => sendFeed(shop, req, name) }, { meta: { record: { kind: 'page', path } } })
  }
}

/** A feed is kept compressed; a client that does not take gzip gets it unpacked on the way. */
async function sendFeed(shop: ShopContext, request: Request, name: FeedName): Promise<Response> {
  const feed = await keptFeed(shop, name, shop.clock.now())
  const isPacked = accepts(request, 'gzip')
  const etag = isPacked ? feed.etag.replace(/"$/, '-gzip"') : feed.etag
  const headers = {
    'content-type': feedFormats[name].type,
    'cache-control': 'public, max-age=0, s-maxage=60',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {})
  }
  const current = { ...headers, etag }
  if (matchesEtag(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: current })
  if (isPacked) return fileResponse(request, { ...feed, etag }, headers)
  return new Response(request.method === 'HEAD' ? null : unpacked(feed.path), { headers: current })
}

function unpacked(path: string): ReadableStream {
  // A failure destroys the unpacked stream, whose reader gets the error.
  const stream = pipeline(createReadStream(path), createGunzip(), () => undefined)
  return Readable.toWeb(stream) as ReadableStream
}

/** An ASCII name for old clients and the real name in UTF-8 (RFC 6266). */
function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
