import { and, desc, eq, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { isFromFuture } from '../../platform/clock.ts'
import { randomToken, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement, write, writeWhenFree } from '../../platform/db/database.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { findUserById } from './find.ts'
import type { SessionRow, UserRow, Caller } from './rows.ts'
import { sessions, users } from './schema.ts'
import type { ShopContext } from '../context.ts'
import { cookieValues, ownCookie, ownCookieName } from '../../platform/http/cookies.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const idleMs = { short: dayMs, remembered: 14 * dayMs }
/** Every session ends after this time, regardless of its use (ASVS 7.3.2). */
const absoluteMs = 30 * dayMs
const touchEveryMs = 60_000
const maxPerUser = 100
const tokenShape = /^[A-Za-z0-9_-]{43}$/

export type StartedSession = {
  /** For the cookie; it is not stored. */
  token: string
  tokenHash: string
  /** The cookie's Max-Age; null for a cookie that ends with the browser session. */
  maxAgeSeconds: number | null
}

const hash = sql.placeholder('hash')
const byHash = statement((orm) =>
  orm
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.tokenHash, hash))
    .prepare()
)
const touch = statement((orm) =>
  orm
    .update(sessions)
    .set({ lastSeenAt: sql`${sql.placeholder('now')}` })
    .where(and(eq(sessions.tokenHash, hash), eq(sessions.lastSeenAt, sql.placeholder('lastSeenAt'))))
    .prepare()
)
const oldest = statement((orm) =>
  orm
    .delete(sessions)
    .where(
      inArray(
        sessions.tokenHash,
        orm
          .select({ tokenHash: sessions.tokenHash })
          .from(sessions)
          .where(eq(sessions.userId, sql.placeholder('userId')))
          .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
          .limit(sql.placeholder('all'))
          .offset(maxPerUser - 1)
      )
    )
    .prepare()
)

/**
 * Starts a session with a new random token. Checks in the same transaction that the account is active, so that a
 * concurrent deactivation also prevents the session. Notes the use of the account, to the day.
 *
 * @param options.startNonce the nonce of the request, if it is valid; it stays valid for the new session
 * @throws AppError AUTH_ACCOUNT_DEACTIVATED for an account that is not active
 */
export function startSession(
  tx: Tx,
  options: { userId: number; rememberMe: boolean; startNonce?: string | null },
  now: number
): StartedSession {
  const user = findUserById(tx, options.userId)
  if (user?.status !== 'active') throw new AppError('AUTH_ACCOUNT_DEACTIVATED', 'This account has been deactivated.')
  const isNoted = user.dormantMailAt === null && now - (user.activeAt ?? 0) < dayMs
  if (!isNoted) tx.orm.update(users).set({ activeAt: now, dormantMailAt: null }).where(eq(users.id, user.id)).run()
  oldest(tx).run({ userId: options.userId, all: -1 })
  const token = randomToken()
  const row: SessionRow = {
    tokenHash: tokenHash(token),
    userId: options.userId,
    rememberMe: options.rememberMe,
    startNonceHash: options.startNonce ? tokenHash(options.startNonce) : null,
    createdAt: now,
    lastSeenAt: now,
    endsAt: now + absoluteMs
  }
  tx.orm.insert(sessions).values(row).run()
  return { token, tokenHash: row.tokenHash, maxAgeSeconds: options.rememberMe ? absoluteMs / 1000 : null }
}

/**
 * The valid session of a cookie's token. Its end depends only on times, not on a job. A session that starts in the
 * future was created while the clock was wrong and is deleted. Records the visit at most once a minute.
 */
export function findSession(db: Db, token: string, now: number): { session: SessionRow; user: UserRow } | undefined {
  if (!tokenShape.test(token)) return undefined
  const found = byHash(db).get({ hash: tokenHash(token) })
  if (found === undefined || isFromFuture(found.session.createdAt, now)) return undefined
  const { session, user } = found
  if (hasEnded(session, now)) {
    // Delete it, so that it stays ended if the clock is set back.
    tryToNote(() => endSession(db, session.tokenHash))
    return undefined
  }
  if (user.status !== 'active') return undefined
  // Corrects a visit that was recorded while the clock was ahead.
  if (now - session.lastSeenAt >= touchEveryMs || isFromFuture(session.lastSeenAt, now))
    tryToNote(() => touch(db).run({ now, hash: session.tokenHash, lastSeenAt: session.lastSeenAt }))
  return { session, user }
}

/** Ignores a full or busy disk, so that it does not log users out. The next request tries again. */
function tryToNote(note: () => void): void {
  try {
    note()
  } catch (error) {
    if (!isStorageError(error)) throw error
  }
}

function hasEnded(session: SessionRow, now: number): boolean {
  return now >= session.endsAt || now - session.lastSeenAt >= (session.rememberMe ? idleMs.remembered : idleMs.short)
}

/** Ends the session of a token. An unknown token changes nothing. */
export function endSession(db: Db, hash: string): void {
  db.orm.delete(sessions).where(eq(sessions.tokenHash, hash)).run()
}

/** Ends every session of a user, except the one with `exceptTokenHash`. */
export function endUserSessions(tx: Tx, userId: number, exceptTokenHash?: string): void {
  const others = exceptTokenHash === undefined ? undefined : ne(sessions.tokenHash, exceptTokenHash)
  tx.orm
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), others))
    .run()
}

/** Deletes the rows of expired sessions, at most `limit` for each reason to expire; for the jobs. Returns how many. */
export function purgeSessions(tx: Tx, now: number, limit: number): number {
  const over = tx.orm.delete(sessions).where(lte(sessions.endsAt, now)).limit(limit).run()
  const idle = tx.orm
    .delete(sessions)
    // Written as in the partial index, otherwise SQLite does not use it.
    .where(and(sql`remember_me = 0`, lt(sessions.lastSeenAt, now - idleMs.short)))
    .limit(limit)
    .run()
  return over.changes + idle.changes
}

/** Ends the session of the request; a request without a session changes nothing. */
export async function logout(shop: Pick<ShopContext, 'db'>, { identity }: Pick<Caller, 'identity'>): Promise<void> {
  if (identity !== null) await writeWhenFree(shop.db, (tx) => endSession(tx, identity.session.tokenHash))
}

/** Ends every session of an account, for an operator. */
export function logOutEverywhere(db: Db, userId: number): void {
  write(db, (tx) => endUserSessions(tx, userId))
}

/** With `__Host-`, browsers accept the cookie only from this host over https, so plain http needs a name without it. */
export function sessionCookieName(shop: Pick<ShopContext, 'publicUrl'>): string {
  return ownCookieName(shop, 'session')
}

/** The session token of a request. A cookie that was sent twice is rejected, because one of the two was planted. */
export function sessionToken(shop: ShopContext, cookieHeader: string | null): string | null {
  const [token, ...others] = cookieValues(cookieHeader, sessionCookieName(shop))
  return token === undefined || others.length > 0 ? null : token
}

/** A Set-Cookie value for a session. Without `maxAgeSeconds`, the cookie ends with the browser session. */
export function sessionCookie(shop: ShopContext, token: string, maxAgeSeconds: number | null): string {
  return ownCookie(shop, 'session', token, maxAgeSeconds)
}

/** A Set-Cookie value that removes the session cookie. */
export function endedSessionCookie(shop: ShopContext): string {
  return sessionCookie(shop, '', 0)
}
