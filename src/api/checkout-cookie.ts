import { hash } from 'node:crypto'
import { hmac } from '../platform/crypto/hmac.ts'
import { randomToken } from '../platform/crypto/secrets.ts'
import { cookieValues } from '../platform/http/cookies.ts'
import { ownCookie, ownCookieName } from '../platform/http/own-cookie.ts'
import type { Holder } from '../shop/orders/holders.ts'
import type { Call } from './route.ts'

/** The longest hold of an unpaid order. */
const maxAgeSeconds = 24 * 60 * 60

/**
 * Who checks out: the user of the session, else the browser with the checkout cookie. A guest without a valid cookie
 * gets a new one in `cookies`.
 */
export function readHolder({ shop, request, identity, addressKey: address }: Call): Holder & { cookies: string[] } {
  const addressKey = hmac(shop.keys.nonce, `holder\0${address}`).toString('hex').slice(0, 32)
  const [sent = '', ...others] = cookieValues(request.headers.get('cookie'), ownCookieName(shop, 'checkout'))
  const isValid = others.length === 0 && /^[\w-]{22}$/.test(sent)
  if (identity !== null) {
    const cookieBuyer = isValid ? guestOf(sent) : null
    return { buyer: `user:${identity.user.id}`, isGuest: false, cookieBuyer, addressKey, cookies: [] }
  }
  const token = isValid ? sent : randomToken(16)
  const cookies = isValid ? [] : [ownCookie(shop, 'checkout', token, maxAgeSeconds)]
  return { buyer: guestOf(token), isGuest: true, cookieBuyer: null, addressKey, cookies }
}

function guestOf(token: string): string {
  return `guest:${hash('sha256', token, 'hex').slice(0, 32)}`
}
