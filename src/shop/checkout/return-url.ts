import { validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'

const rule = 'Takes an http or https address without a user name in it.'

/**
 * Judges an address that a browser will be sent to. Backslashes, control characters and spaces are refused before
 * parsing, because browsers and URL parsers disagree about them; so are credentials (`https://shop@evil.example`).
 *
 * @param origins when not empty, the only origins it may have
 */
export function checkReturnUrl(field: string, url: string | undefined, origins: readonly string[]): string | null {
  if (url === undefined) return null
  const parsed =
    /[\\\s\p{C}]/u.test(url) || !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url) ? undefined : new URL(url)
  const errors: FieldErrors = {}
  if (parsed === undefined || parsed.username !== '' || parsed.password !== '' || /^https?:\/\/[^/?#]*@/i.test(url))
    errors[field] = [rule]
  else if (origins.length > 0 && !origins.includes(parsed.origin))
    errors[field] = ['Takes an address of one of the origins that this shop allows.']
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
  return parsed?.href ?? null
}

/** Where a buyer comes back to: what it says proves nothing, so the site asks /orders. */
export function withResult(url: string, orderId: number, result: 'success' | 'pending' | 'cancelled'): string {
  const target = new URL(url)
  target.searchParams.set('orderId', String(orderId))
  target.searchParams.set('result', result)
  return target.href
}
