import { AppError } from '../errors.ts'
import { readBody } from '../platform/http/body.ts'

const limitBytes = 16 * 1024
const formType = /^application\/x-www-form-urlencoded[ \t]*(;|$)/i

/**
 * Reads the fields of a submitted form.
 *
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const body = await readBody(request, limitBytes)
  if (body.length > 0 && !formType.test(request.headers.get('content-type') ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only a submitted form.')
  }
  return new URLSearchParams(body.toString('utf8'))
}
