import { AppError } from '../../errors.ts'

/**
 * Sent by a first-party proxy to the service: check the nonce of this request, whose secret only you have. All it can
 * do is to make the service stricter, so it does no harm when somebody else sends it.
 */
export const checkNonceHeader = 'x-shopstead-proxy'

export function csrfFailed(reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site', message: string): AppError {
  return new AppError('CSRF_FAILED', message, { reason })
}

/**
 * The nonce of a request as it was sent, from each of its X-Nonce headers.
 *
 * @throws CSRF_FAILED `missing_nonce` without one
 */
export function sentNonce(values: readonly string[]): string {
  if (values.length === 0 || values[0] === '') throw csrfFailed('missing_nonce', 'The X-Nonce header is missing.')
  // Two headers are one text that no nonce looks like.
  return values.join(', ')
}
