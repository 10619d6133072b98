import { AppError } from '../../errors.ts'

/**
 * The header by which a first-party proxy asks the service to check the nonce of a request; only the service has the
 * secret. Its value is the path of the proxy on the site, or 1 for the usual one. It can only make the service stricter,
 * and addresses in the client's own answer different, so a client that sends it does no harm.
 */
export const checkNonceHeader = 'x-shopstead-proxy'

/** Where a site mounts the proxy, unless it chooses another path. */
export const usualPrefix = '/api/secure'

/** The path of the proxy that forwarded a request; null without a proxy. */
export function proxyPrefix(headers: Pick<Headers, 'get'>): string | null {
  const sent = headers.get(checkNonceHeader)
  if (sent === null) return null
  return /^(?:\/[\w.~-]{1,100}){0,10}$/.test(sent) ? sent : usualPrefix
}

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
