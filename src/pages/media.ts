import { methodNotAllowed } from '../platform/http/addresses.ts'
import { failure, requestIds } from '../platform/http/envelope.ts'
import { matchesEtag } from '../platform/http/etag.ts'
import { fileResponse } from '../platform/http/file-response.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
import { findMediaFile } from '../shop/catalog/images/media-files.ts'

/**
 * Serves `/media/{hash}-{width}.webp`, a picture of a product; undefined if there is none. An address always has the same
 * content, so browsers and caches keep it for a year.
 */
export async function serveMedia(dataDir: string, request: Request, now: number): Promise<Response | undefined> {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD') {
    const ids = requestIds(headers.get('x-correlation-id'))
    return failure(methodNotAllowed(['GET']), ids, now, { noStore: true })
  }
  const file = await findMediaFile(dataDir, rawPath(rawTarget(request)))
  if (file === undefined) return undefined
  const cached = {
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    // Sites of other origins show the pictures (Cross-Origin-Resource-Policy).
    'cross-origin-resource-policy': 'cross-origin'
  }
  if (matchesEtag(headers.get('if-none-match'), file.etag))
    return new Response(null, { status: 304, headers: { ...cached, etag: file.etag } })
  return fileResponse(request, file, cached)
}
