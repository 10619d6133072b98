import { AppError } from '../errors.ts'
import { readBody } from '../platform/http/body.ts'

const limitBytes = 16 * 1024
// A byte order mark is part of the text.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
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
  return new URLSearchParams(utf8.decode(body))
}
