import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { AffiliateRow } from './rows.ts'

/** What is known about a buyer: the account, and every email of the account and of the order. */
export type Buyer = { userId: number | null; emails: readonly (string | null | undefined)[] }

/** Whether the buyer is the affiliate: by account, or by the affiliate's account or billing email. */
export function isSelfReferral(
  affiliate: Pick<AffiliateRow, 'userId'>,
  affiliateUser: Pick<UserRow, 'emailKey' | 'billingEmail'>,
  buyer: Buyer
): boolean {
  if (buyer.userId === affiliate.userId) return true
  const { emailKey, billingEmail } = affiliateUser
  const own = new Set(billingEmail === null ? [emailKey] : [emailKey, compareKey(billingEmail)])
  return buyer.emails.some((email) => typeof email === 'string' && own.has(compareKey(email)))
}

/** Whether commissions are credited to an affiliate: the affiliate account and the user account must both be active. */
export function isCreditable(db: Db, { status, userId }: Pick<AffiliateRow, 'status' | 'userId'>): boolean {
  return status === 'active' && findUserById(db, userId)?.status === 'active'
}
