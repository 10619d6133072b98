import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { emit } from '../outbox/emit.ts'
import { countFailures } from '../limits/counted-attempts.ts'
import { getStanding } from './deactivate.ts'
import { endEmailTokens, redeemEmailToken } from './email-tokens.ts'
import type { Caller, UserRow } from './rows.ts'
import { users } from './schema.ts'

/** What else happens, in the same transaction, once an email is known to be the person's (guest orders join, say). */
export type OnVerified = (tx: Tx, user: UserRow, now: number) => void

/**
 * Uses a verification token up; the account can log in from then on, but is not logged in by it.
 *
 * @throws AppError TOKEN_INVALID for one that is unknown, used or expired, AUTH_RATE_LIMITED (token_ip) for too many
 *   of these
 */
export async function verifyEmail(
  shop: ShopContext,
  token: string,
  caller: Pick<Caller, 'addressKey'>,
  now: number,
  onVerified: OnVerified
): Promise<UserRow> {
  const { user } = await countFailures(shop, [{ bucket: 'token_ip', key: caller.addressKey }], async () => {
    const verified = await writeWhenFree(shop.db, (tx) => {
      const row = redeemEmailToken(tx, 'verify', token, now)
      return row === undefined ? null : markVerified(tx, row.userId, now, onVerified)
    })
    return { failed: verified === null, user: verified }
  })
  if (user === null) throw tokenInvalid()
  return user
}

/** Notes that the email is the person's; of an account that is verified already nothing changes. */
export function markVerified(tx: Tx, userId: number, now: number, onVerified: OnVerified): UserRow {
  const user = getStanding(tx, userId)
  if (user.emailVerifiedAt !== null && !user.verificationPending) return user
  const change = { emailVerifiedAt: now, verificationPending: false, updatedAt: now }
  tx.orm.update(users).set(change).where(eq(users.id, userId)).run()
  endEmailTokens(tx, userId, now, 'verify')
  emit(tx, 'account.verified', { userId }, now)
  const verified = { ...user, ...change }
  onVerified(tx, verified, now)
  return verified
}

export function tokenInvalid(): AppError {
  return new AppError('TOKEN_INVALID', 'This link is wrong, was used before or has expired. Please ask for a new one.')
}
