import { and, eq, gt, lt, min, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement, writeWhenFree } from '../../platform/db/database.ts'
import { tokenHash, hmac, randomToken, sameBytes } from '../../platform/crypto/secrets.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'
import { countVisitor } from '../limits/visitors.ts'
import { emailCounterKey } from '../limits/points.ts'
import type { Counter } from '../limits/points.ts'
import { findUserByEmail, findUserByUsername, getUserById } from './find.ts'
import type { LoginInput } from './input.ts'
import { checkNonce } from './nonce.ts'
import type { Caller, UserRow } from './rows.ts'
import { users } from './schema.ts'
import { endSession, startSession } from './sessions.ts'
import type { StartedSession } from './sessions.ts'
import { channel } from 'node:diagnostics_channel'
import { cookieValues, ownCookie, ownCookieName } from '../../platform/http/cookies.ts'

/**
 * Checks the password and starts a session; ends the session of the request.
 *
 * An unknown account takes as long as a wrong password and gets the same response. Only a correct password reveals that
 * an account is deactivated or not verified.
 *
 * @throws AppError AUTH_RATE_LIMITED (login_ip, login_account), AUTH_INVALID_CREDENTIALS, AUTH_ACCOUNT_DEACTIVATED and
 *   AUTH_EMAIL_NOT_VERIFIED, in this order; DEPENDENCY_UNAVAILABLE when too many logins are running
 */
export async function login(
  shop: ShopContext,
  input: LoginInput,
  caller: Caller,
  now: number
): Promise<{ user: UserRow; session: StartedSession }> {
  const account = findAccount(shop, input)
  const known = deviceCounters(shop, account, caller)
  const counters = known ?? [
    { bucket: 'login_ip', key: caller.addressKey },
    { bucket: 'login_account', key: nameCounter(input) }
  ]
  const user = await verifyPassword(shop, account, input.password, counters)
  assertMayLogIn(user)
  const newHash = await rehash(shop, user, input.password)
  const started = await writeWhenFree(shop.db, (tx) => {
    const current = getUserById(tx, user.id)
    if (current.passwordHash !== user.passwordHash) return null
    assertMayLogIn(current)
    if (newHash !== null) storeHash(tx, user.id, newHash, now)
    if (caller.identity !== null) endSession(tx, caller.identity.session.tokenHash)
    if (shop.language !== undefined && shop.language !== current.language)
      tx.orm.update(users).set({ language: shop.language }).where(eq(users.id, user.id)).run()
    const startNonce = validNonce(shop, caller, now)
    const session = startSession(tx, { userId: user.id, rememberMe: input.rememberMe, startNonce }, now)
    return { user: getUserById(tx, user.id), session }
  })
  // The password was changed or rehashed since the check, so this checks it again.
  if (started === null) return login(shop, input, caller, now)
  if (known === null) await countVisitor(shop, caller.addressKey)
  return started
}

/** The field `username` also accepts an email. If both fields are sent, `email` decides. */
function findAccount(shop: ShopContext, { email, username }: LoginInput): UserRow | undefined {
  if (email !== null) return findUserByEmail(shop.db, email)
  if (username === null) return undefined
  return username.includes('@') ? findUserByEmail(shop.db, username) : findUserByUsername(shop.db, username)
}

/**
 * A browser that has logged in to the account before has an allowance of its own. Others can use up the allowances of
 * the account's name and of an address that they share with the owner, but not this one.
 */
function deviceCounters(shop: ShopContext, account: UserRow | undefined, caller: Caller): Counter[] | null {
  const device = account === undefined ? null : findDevice(shop, account, caller.cookies)
  return device === null ? null : [{ bucket: 'login_account', key: `device:${tokenHash(device)}` }]
}

/**
 * The key that counts failures: the name as entered, whether or not an account has it. With one counter for an
 * account's email and username, using up one and trying the other would reveal that the account exists.
 */
function nameCounter({ email, username }: LoginInput): string {
  return emailCounterKey(emailKey(email ?? username ?? ''))
}

/**
 * Checks a password and counts a wrong one.
 *
 * @throws AppError AUTH_INVALID_CREDENTIALS for a wrong password and for an unknown account
 */
export async function verifyPassword(
  shop: ShopContext,
  user: UserRow | undefined,
  password: string,
  counters: readonly Counter[]
): Promise<UserRow> {
  const { failed } = await runCountingFailures(shop, counters, async () => {
    const right =
      user === undefined
        ? await shop.passwords.verifyNothing(password, oneHashOfEachCost(shop.db))
        : await shop.passwords.verify(user.passwordHash, password, oneHashOfEachCost(shop.db))
    return { failed: !right }
  })
  if (failed || user === undefined) {
    failedLogins.publish(null)
    throw invalidCredentials()
  }
  return user
}

/**
 * A stored hash of each cost in the shop: with imported hashes beside the shop's own, an account that takes longer or
 * shorter to check than an unknown one would reveal itself. It reads one row of the index for each kind.
 */
function oneHashOfEachCost(db: Db): string[] {
  const found: string[] = []
  // Hashes begin with $, the algorithm and its parameters; MD5 takes no time that could show.
  for (let after = '$'; found.length < maxCosts;) {
    const { first } = firstHashAfter(db).get({ after }) ?? { first: null }
    if (first === null) break
    found.push(first)
    after = `${costPrefix.exec(first)?.[0] ?? first}~`
  }
  return found
}

const maxCosts = 16
const costPrefix = /^\$argon2id\$v=\d+\$[^$]*\$|^(?:\$wp)?\$2.\$\d\d\$|^\$[PH]\$./

const firstHashAfter = statement((orm) =>
  orm
    .select({ first: min(users.passwordHash) })
    .from(users)
    .where(and(gt(users.passwordHash, sql.placeholder('after')), lt(users.passwordHash, '0')))
)

function assertMayLogIn(user: UserRow): void {
  if (user.status !== 'active') {
    throw new AppError('AUTH_ACCOUNT_DEACTIVATED', 'This account has been deactivated.')
  }
  if (user.verificationPending) {
    throw new AppError(
      'AUTH_EMAIL_NOT_VERIFIED',
      'Please verify your email first, with the link in the email that we sent.'
    )
  }
}

/** The AUTH_INVALID_CREDENTIALS error, identical for an unknown user and a wrong password. */
export function invalidCredentials(): AppError {
  return new AppError('AUTH_INVALID_CREDENTIALS', 'The username, email or password is incorrect.')
}

/** A new hash if the stored one uses outdated parameters, else null. */
async function rehash(shop: ShopContext, user: UserRow, password: string): Promise<string | null> {
  return shop.passwords.needsRehash(user.passwordHash) ? shop.passwords.hash(password) : null
}

/** Stores a new password hash. */
export function storeHash(tx: Tx, userId: number, passwordHash: string, now: number): void {
  tx.orm.update(users).set({ passwordHash, updatedAt: now }).where(eq(users.id, userId)).run()
}

/**
 * The service does not require a nonce at login. A nonce that was sent stays valid for the session only if it is valid
 * now.
 */
function validNonce(shop: ShopContext, { nonce, identity }: Caller, now: number): string | null {
  if (nonce === null) return null
  const bearer = {
    sessionTokenHash: identity?.session.tokenHash ?? null,
    startNonceHash: identity?.session.startNonceHash ?? null
  }
  return checkNonce(shop.keys, nonce, bearer, now) ? nonce : null
}

/** Publishes every wrong password, without saying whose; costs nothing without a subscriber. */
export const failedLogins = channel('shopstead:login-failed')

/**
 * The device cookie proves that a browser has registered an account or logged in to it, or has set its password by a link.
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

/**
 * Whether a request comes from a browser of the account: with a session of it, or with the device cookie of a login or a
 * registration. A link from an email proves the mailbox; this proves that its reader also holds the account.
 */
export function isBrowserOf(
  shop: DeviceContext,
  user: DeviceUser,
  { identity, cookies }: Pick<Caller, 'identity' | 'cookies'>
): boolean {
  return identity?.session.userId === user.id || findDevice(shop, user, cookies) !== null
}

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
