import { hash } from 'node:crypto'
import { hmac, randomToken } from '../platform/crypto/secrets.ts'
import { cookieValues, ownCookie, ownCookieName } from '../platform/http/cookies.ts'
import type { Holder } from '../shop/orders/holds.ts'
import type { Call } from './route.ts'

/** The longest hold of an unpaid order. */
const maxAgeSeconds = 24 * 60 * 60

/**
 * Who checks out: the user of the session, else the browser with the checkout cookie. A guest without a valid cookie
 * gets a new one in `cookies`.
 */
export function readHolder({ shop, request, identity, addressKey: address }: Call): Holder & { cookies: string[] } {
  const addressKey = hmac(shop.keys.nonce, `holder\0${address}`).toString('hex').slice(0, 32)
  const sent = findToken(shop, request)
  if (identity !== null) {
    const cookieBuyer = sent === null ? null : guestOf(sent)
    return { buyer: `user:${identity.user.id}`, isGuest: false, cookieBuyer, addressKey, cookies: [] }
  }
  const token = sent ?? randomToken(16)
  const cookies = sent === null ? [ownCookie(shop, 'checkout', token, maxAgeSeconds)] : []
  return { buyer: guestOf(token), isGuest: true, cookieBuyer: null, addressKey, cookies }
}

/** The buyer that the checkout cookie of a request names; null without a valid one. */
export function findGuestBuyer(shop: Call['shop'], request: Request): string | null {
  const token = findToken(shop, request)
  return token === null ? null : guestOf(token)
}

function findToken(shop: Call['shop'], request: Request): string | null {
  const [sent = '', ...others] = cookieValues(request.headers.get('cookie'), ownCookieName(shop, 'checkout'))
  return others.length === 0 && /^[\w-]{22}$/.test(sent) ? sent : null
}

function guestOf(token: string): string {
  return `guest:${hash('sha256', token, 'hex').slice(0, 32)}`
}
