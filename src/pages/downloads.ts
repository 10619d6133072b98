import { methodNotAllowed } from '../platform/http/addresses.ts'
import { failure, requestIds } from '../platform/http/envelope.ts'
import { fileResponse } from '../platform/http/file-response.ts'
import { rawPath, rawTarget } from '../platform/http/node-request.ts'
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
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff'
  }
  return fileResponse(request, { path: found.path, sizeBytes: found.sizeBytes, etag }, headers)
}

function refuseMethod(shop: ShopContext, request: Request): Response {
  const ids = requestIds(request.headers.get('x-correlation-id'))
  return failure(methodNotAllowed(['GET']), ids, shop.clock.now(), { noStore: true })
}

/** An ASCII name for old clients and the real name in UTF-8 (RFC 6266). */
function contentDisposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
