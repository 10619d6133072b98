import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { markVerified } from '../accounts/email-tokens.ts'
import type { Caller, UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { claimGuestOrders } from './claim-guest-orders.ts'
import { useEmailLink } from './use-email-link.ts'

/**
 * Uses a verification token up and confirms the email of its account. The account can then log in; no session starts.
 *
 * @throws AppError TOKEN_INVALID for a token that is unknown, used or expired, AUTH_RATE_LIMITED (token_ip) after too
 *   many of these
 */
export function verifyEmail(
  shop: ShopContext,
  token: string,
  caller: Pick<Caller, 'addressKey'>,
  now: number
): Promise<UserRow> {
  return useEmailLink(shop, { kind: 'verify', token, caller }, (tx, { userId }) => confirmEmail(tx, userId, now), now)
}

/**
 * Records that the email belongs to the account's owner, and moves the orders placed as a guest with it into the
 * account. An account that is already verified stays as it is.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function confirmEmail(db: Db, userId: number, now: number): UserRow {
  return write(db, (tx) => {
    const { user, changed } = markVerified(tx, userId, now)
    if (changed) claimGuestOrders(tx, user, now)
    return user
  })
}
