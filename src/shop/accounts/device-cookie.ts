import { hmac, randomToken, sameBytes } from '../../platform/crypto/secrets.ts'
import { cookieValues, ownCookie, ownCookieName } from '../../platform/http/cookies.ts'
import type { ShopContext } from '../context.ts'
import type { UserRow } from './rows.ts'

/**
 * The device cookie proves that a browser has logged in to an account before, or that its user read the account's email.
 * Such a browser has its own allowance of wrong passwords, so another client that uses up the account's allowance cannot
 * keep the owner out. It does not log anyone in.
 *
 * An entry is the account's id, a random part, and an HMAC over both and the password's hash. It needs no row, and a new
 * password makes it invalid.
 */
const entryShape = /^(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/
const randomBytes = 16
const separator = '~'
/** Accounts that share a browser. */
const maxEntries = 4
/** Browsers keep a cookie for at most 400 days (RFC 6265bis). */
const maxAgeSeconds = 400 * 24 * 60 * 60

type DeviceContext = Pick<ShopContext, 'keys' | 'publicUrl'>
type DeviceUser = Pick<UserRow, 'id' | 'passwordHash'>
type Entry = { text: string; userId: number; random: string; mac: string }

/** The random part of this browser's entry for an account; null if the browser has no valid one. */
export function findDevice(shop: DeviceContext, user: DeviceUser, cookieHeader: string | null): string | null {
  const found = entriesIn(shop, cookieHeader).find(
    ({ userId, random, mac }) =>
      userId === user.id && sameBytes(Buffer.from(mac), Buffer.from(macOf(shop, user, random)))
  )
  return found?.random ?? null
}

/** A Set-Cookie value that makes this browser known to an account, beside the accounts that it is known to already. */
export function deviceCookie(shop: DeviceContext, user: DeviceUser, cookieHeader: string | null): string {
  const random = randomToken(randomBytes)
  const others = entriesIn(shop, cookieHeader).filter(({ userId }) => userId !== user.id)
  const entries = [`${user.id}.${random}.${macOf(shop, user, random)}`, ...others.map(({ text }) => text)]
  return ownCookie(shop, 'device', entries.slice(0, maxEntries).join(separator), maxAgeSeconds)
}

function entriesIn(shop: DeviceContext, cookieHeader: string | null): Entry[] {
  // A cookie that was planted beside ours adds nothing: its entries need our key.
  const texts = cookieValues(cookieHeader, ownCookieName(shop, 'device')).flatMap((value) =>
    value.split(separator, maxEntries)
  )
  return texts.flatMap((text) => {
    const [, userId, random, mac] = entryShape.exec(text) ?? []
    return random === undefined || mac === undefined ? [] : [{ text, userId: Number(userId), random, mac }]
  })
}

function macOf({ keys }: DeviceContext, { id, passwordHash }: DeviceUser, random: string): string {
  return hmac(keys.device, `${id}.${random}.${passwordHash}`).toString('base64url')
}
