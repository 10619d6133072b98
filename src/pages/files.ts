import type { H3 } from 'h3'
import { matchesEtag, notFound } from '../platform/http/answers.ts'
import { fileResponse } from '../platform/http/file-response.ts'
import { rawPath, rawTarget } from '../platform/http/client-address.ts'
import { serveAt } from '../platform/http/routing.ts'
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

/** An ASCII name for old clients and the real name in UTF-8 (RFC 6266). */
function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
