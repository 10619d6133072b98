import { cookieValues, serializeCookie } from '../platform/http/cookies.ts'
import { compareKey } from '../platform/text.ts'
import type { ShopContext } from '../shop/context.ts'
import { setting } from '../shop/settings/settings.ts'

/** An affiliate's link, as a checkout sends it. */
type Link = { ref: string; campaign: string }

/** The visitor's answer to whether the shop may store an affiliate's link, which a site's script sets. */
const consentCookie = 'shopstead_consent'

/**
 * Cookies that the site's script reads and sends with its next checkout, for `affiliates.cookieDays` days. The service
 * never credits an affiliate by them. Those of an order do not extend the days of a click: a browser that has the ref
 * keeps its cookie. With `law.consent` there are none before the visitor agrees.
 *
 * @param sent the Cookie header of the request
 * @param by a click starts the days again
 */
export function trackingCookies(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  { ref, campaign }: Link,
  sent: string | null,
  by: 'click' | 'order'
): string[] {
  if (setting(shop.db, 'law.consent') && cookieValues(sent, consentCookie)[0] !== 'yes') return []
  const known = by === 'click' ? null : cookieRef(sent)
  if (ref === '' || (known !== null && compareKey(known) === compareKey(ref))) return []
  const attributes = {
    sameSite: 'Lax',
    path: '/',
    secure: shop.publicUrl().startsWith('https:'),
    httpOnly: false,
    maxAgeSeconds: setting(shop.db, 'affiliates.cookieDays') * 24 * 60 * 60
  } as const
  const cookie = (name: string, value: string): string => serializeCookie(name, encodeURIComponent(value), attributes)
  return [cookie('shopstead_ref', ref), ...(campaign === '' ? [] : [cookie('shopstead_campaign', campaign)])]
}

/** The ref in the cookies of a request; null without one. Their days are not over, because the browser still has them. */
export function cookieRef(sent: string | null): string | null {
  const [known] = cookieValues(sent, 'shopstead_ref')
  return known === undefined || known === '' ? null : decoded(known)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
