import { AppError } from '../../errors.ts'

/**
 * The header by which a first-party proxy asks the service to check the nonce of a request; only the service has the
 * secret. It can only make the service stricter, so a client that sends it does no harm.
 */
export const checkNonceHeader = 'x-shopstead-proxy'

/** CSRF_FAILED with the reason in its details. */
export function csrfFailed(reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site', message: string): AppError {
  return new AppError('CSRF_FAILED', message, { reason })
}

/**
 * The nonce of a request, from the values of its X-Nonce headers.
 *
 * @throws AppError CSRF_FAILED `missing_nonce` when the header is missing or empty
 */
export function sentNonce(values: readonly string[]): string {
  if (values.length === 0 || values[0] === '') throw csrfFailed('missing_nonce', 'The X-Nonce header is missing.')
  // Two headers join to a text that is not a valid nonce.
  return values.join(', ')
}
