import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { getUnerasedUser, findUserByEmail } from '../accounts/find.ts'
import { endEmailTokens, markVerified } from '../accounts/email-tokens.ts'
import type { Caller, UserRow } from '../accounts/rows.ts'
import { users } from '../accounts/schema.ts'
import type { ShopContext } from '../context.ts'
import { queueMail } from '../mail/queue.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { useEmailLink } from './use-email-link.ts'

/**
 * Uses the link that requestEmailChange has sent: its address becomes the account's, and is verified. The old address
 * gets a notice, its open links end, and the guest orders with the new address move into the account. Sessions stay.
 *
 * @throws AppError TOKEN_INVALID for a token that is unknown, used or expired, or if another account has the address by
 *   now; AUTH_RATE_LIMITED (token_ip) after too many of these
 */
export function confirmEmailChange(
  shop: ShopContext,
  token: string,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  return useEmailLink(
    shop,
    { kind: 'email', token, caller },
    (tx, { userId, newEmail }) => (newEmail ? changeEmail(tx, userId, newEmail, now) : null),
    now
  )
}

function changeEmail(tx: Tx, userId: number, email: string, now: number): UserRow | null {
  const user = getUnerasedUser(tx, userId)
  const holder = findUserByEmail(tx, email)
  if (user.status !== 'active' || (holder !== undefined && holder.id !== userId)) return null
  replaceEmail(tx, user, email, now)
  const { user: verified } = markVerified(tx, userId, now)
  claimGuestOrders(tx, verified, now)
  return verified
}

/** Gives an account another email, ends the links that the old address has got, and tells the old address. */
export function replaceEmail(tx: Tx, user: UserRow, email: string, now: number): void {
  const userId = user.id
  endEmailTokens(tx, userId, now)
  const change = { email, emailKey: emailKey(email), updatedAt: now }
  tx.orm.update(users).set(change).where(eq(users.id, userId)).run()
  queueMail(tx, { template: 'email_changed', recipient: user.email, data: { userId, step: 'done' } }, now)
}
