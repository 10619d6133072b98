import { and, asc, eq, gt, gte, inArray, isNull, lte, ne, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { setBackMs } from '../../platform/clock.ts'
import { hmac, randomToken, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { EmailTokenRow, UserRow } from './rows.ts'
import { emailTokens, users } from './schema.ts'
import { emit } from '../webhooks/emit.ts'
import { getUnerasedUser } from './find.ts'
import { queueMail } from '../mail/queue.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'

export type EmailTokenKind = EmailTokenRow['kind']

const hourMs = 3_600_000
/** While it is valid, a reset link is as powerful as the password (ASVS 6.4.3), so it is valid for an hour. */
const ttlMs: Record<EmailTokenKind, number> = {
  verify: 24 * hourMs,
  reset: hourMs,
  email: 24 * hourMs,
  undo: 7 * 24 * hourMs
}
/** The links that a mailbox of the account has got and that end when the account leaves it. */
export const mailboxLinks: readonly EmailTokenKind[] = ['verify', 'reset', 'email']
const retentionMs = 30 * 24 * hourMs

/**
 * Creates the token of a link and ends the user's earlier tokens of its kind, except those that undo a change of the
 * email: an intruder who changes it twice must not end the link of the owner. Only its hash is stored. The token is
 * derived again when the email is composed (`findEmailToken`), so no queue, log or backup contains a working link.
 */
export function createEmailToken(
  tx: Tx,
  keys: Pick<Keys, 'emailToken'>,
  { kind, userId, newEmail = null }: { kind: EmailTokenKind; userId: number; newEmail?: string | null },
  now: number
): EmailTokenRow {
  if (kind !== 'undo') endEmailTokens(tx, userId, now, [kind])
  const salt = randomToken(16)
  return tx.orm
    .insert(emailTokens)
    .values({
      kind,
      userId,
      newEmail,
      salt,
      tokenHash: tokenHash(deriveEmailToken(keys, { kind, userId, salt })),
      createdAt: now,
      expiresAt: now + ttlMs[kind]
    })
    .returning()
    .get()
}

/** Derives the token from its row and the shop's secret. */
export function deriveEmailToken(
  keys: Pick<Keys, 'emailToken'>,
  { kind, userId, salt }: Pick<EmailTokenRow, 'kind' | 'userId' | 'salt'>
): string {
  return hmac(keys.emailToken, `${kind}.${userId}.${salt}`).toString('base64url')
}

/** Whether the shop's secret is still the one of the oldest stored token; undefined if none is stored. */
export function fitsOldestToken(db: Db, keys: Pick<Keys, 'emailToken'>): boolean | undefined {
  const oldest = db.orm.select().from(emailTokens).orderBy(asc(emailTokens.id)).limit(1).get()
  return oldest && oldest.tokenHash === tokenHash(deriveEmailToken(keys, oldest))
}

/** The data for the link in an email; undefined when the token is used or expired, so the link would not work. */
export function findEmailToken(
  db: Db,
  keys: Pick<Keys, 'emailToken'>,
  id: number,
  now: number
): { token: string; expiresAt: number; newEmail: string | null } | undefined {
  const row = db.orm
    .select()
    .from(emailTokens)
    .where(and(eq(emailTokens.id, id), isOpen(now)))
    .get()
  if (row === undefined) return undefined
  return { token: deriveEmailToken(keys, row), expiresAt: row.expiresAt, newEmail: row.newEmail }
}

/** The user's token of a kind that is valid now. A new one ends the earlier ones, so there is at most one. */
export function findOpenToken(db: Db, userId: number, kind: EmailTokenKind, now: number): EmailTokenRow | undefined {
  return db.orm
    .select()
    .from(emailTokens)
    .where(and(eq(emailTokens.userId, userId), eq(emailTokens.kind, kind), isOpen(now)))
    .get()
}

/** The row of a token that is valid now. Does not use the token. */
export function findUsableToken(db: Db, kind: EmailTokenKind, token: string, now: number): EmailTokenRow | undefined {
  return db.orm
    .select()
    .from(emailTokens)
    .where(usable(kind, token, now))
    .get()
}

/** Uses a token and returns its row; undefined if it is not valid. Of two concurrent calls, only one gets the row. */
export function redeemEmailToken(tx: Tx, kind: EmailTokenKind, token: string, now: number): EmailTokenRow | undefined {
  return tx.orm
    .update(emailTokens)
    .set({ usedAt: now })
    .where(usable(kind, token, now))
    .returning()
    .get()
}

function usable(kind: EmailTokenKind, token: string, now: number) {
  return and(eq(emailTokens.tokenHash, tokenHash(token)), eq(emailTokens.kind, kind), isOpen(now))
}

/** Not used, not expired, and not created while the clock was ahead: such a token would be valid for too long. */
function isOpen(now: number) {
  return and(isNull(emailTokens.usedAt), gt(emailTokens.expiresAt, now), lte(emailTokens.createdAt, now + setBackMs))
}

/** Ends a user's open tokens, of some kinds or all. Returns how many. */
export function endEmailTokens(tx: Tx, userId: number, now: number, kinds?: readonly EmailTokenKind[]): number {
  return tx.orm
    .update(emailTokens)
    .set({ usedAt: now })
    .where(and(eq(emailTokens.userId, userId), isNull(emailTokens.usedAt), kinds && inArray(emailTokens.kind, kinds)))
    .run().changes
}

/** Ends a user's links that undo the change of a link, or a later one. Earlier changes can still be undone. */
export function endLaterUndos(tx: Tx, { id, userId }: EmailTokenRow, now: number): void {
  tx.orm
    .update(emailTokens)
    .set({ usedAt: now })
    .where(
      and(
        eq(emailTokens.userId, userId),
        eq(emailTokens.kind, 'undo'),
        isNull(emailTokens.usedAt),
        gte(emailTokens.id, id)
      )
    )
    .run()
}

/**
 * Whether an account can still return to an email that it had, so that no other account gets it meanwhile: an intruder
 * could register it to stop the owner.
 */
export function isReserved(db: Db, email: string, exceptUserId: number | null, now: number): boolean {
  const key = emailKey(email)
  const open = db.orm
    .select({ newEmail: emailTokens.newEmail })
    .from(emailTokens)
    .where(
      and(
        // Written as in the partial index, otherwise SQLite does not use it.
        sql`kind = 'undo' AND used_at IS NULL`,
        gt(emailTokens.expiresAt, now),
        exceptUserId === null ? undefined : ne(emailTokens.userId, exceptUserId)
      )
    )
    .all()
  return open.some(({ newEmail }) => newEmail !== null && emailKey(newEmail) === key)
}

/** The TOKEN_INVALID error for a token that is unknown, used or expired. */
export function tokenInvalid(): AppError {
  return new AppError(
    'TOKEN_INVALID',
    'This link is invalid, was used before or has expired. Please request a new one.'
  )
}

/** Deletes tokens that expired more than 30 days ago, at most `limit` of them; for the jobs. Returns how many. */
export function purgeEmailTokens(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(emailTokens)
    .where(lte(emailTokens.expiresAt, now - retentionMs))
    .limit(limit)
    .run().changes
}

/**
 * Records that the email belongs to the account's owner, ends the open verification links and emits `account.verified`.
 * An account that is already verified stays as it is.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function markVerified(tx: Tx, userId: number, now: number): { user: UserRow; changed: boolean } {
  const user = getUnerasedUser(tx, userId)
  if (user.emailVerifiedAt !== null && !user.verificationPending) return { user, changed: false }
  const change = { emailVerifiedAt: now, verificationPending: false, updatedAt: now }
  tx.orm.update(users).set(change).where(eq(users.id, userId)).run()
  endEmailTokens(tx, userId, now, ['verify'])
  emit(tx, 'account.verified', { userId }, now)
  return { user: { ...user, ...change }, changed: true }
}

/** The links that go to an account's own address. */
export type LinkKind = Exclude<EmailTokenKind, 'email' | 'undo'>

const templates: Readonly<Record<LinkKind, 'reset_password' | 'verify_email'>> = {
  reset: 'reset_password',
  verify: 'verify_email'
}

/** Creates the token of a link and queues its email; the user's earlier links of the same kind end. */
export function queueLink(
  tx: Tx,
  shop: Pick<ShopContext, 'keys'>,
  kind: LinkKind,
  user: Pick<UserRow, 'id' | 'email'>,
  now: number
): EmailTokenRow {
  const token = createEmailToken(tx, shop.keys, { kind, userId: user.id }, now)
  queueMail(tx, { template: templates[kind], recipient: user.email, data: { userId: user.id, tokenId: token.id } }, now)
  return token
}
