import type { H3 } from 'h3'
import { matchesEtag, notFound } from '../platform/http/answers.ts'
import { fileResponse } from '../platform/http/file-response.ts'
import { rawPath, rawTarget } from '../platform/http/request.ts'
import { serveAt } from '../platform/http/routing.ts'
import { findMediaFile } from '../shop/catalog/images/media-files.ts'

/**
 * Serves `/media/{hash}-{width}.webp`, the pictures of the products. An address always has the same content, so browsers
 * and caches keep it for a year.
 */
export function serveMedia(h3: H3, dataDir: string): void {
  serveAt(h3, '/media/**', { GET: ({ req }) => answer(dataDir, req) })
}

async function answer(dataDir: string, request: Request): Promise<Response> {
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
