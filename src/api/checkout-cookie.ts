import { hash, randomBytes } from 'node:crypto'
import { hmac } from '../platform/crypto/secrets.ts'
import { cookieValues, serializeCookie } from '../platform/http/cookies.ts'
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
  if (identity !== null) return { buyer: `user:${identity.user.id}`, isGuest: false, addressKey, cookies: [] }
  const secure = shop.publicUrl().startsWith('https:')
  const name = secure ? '__Host-shopstead_checkout' : 'shopstead_checkout'
  const [sent = '', ...others] = cookieValues(request.headers.get('cookie'), name)
  const isValid = others.length === 0 && /^[\w-]{22}$/.test(sent)
  const token = isValid ? sent : randomBytes(16).toString('base64url')
  const buyer = `guest:${hash('sha256', token, 'hex').slice(0, 32)}`
  const attributes = { httpOnly: true, sameSite: 'Lax', path: '/', secure, maxAgeSeconds } as const
  return { buyer, isGuest: true, addressKey, cookies: isValid ? [] : [serializeCookie(name, token, attributes)] }
}
