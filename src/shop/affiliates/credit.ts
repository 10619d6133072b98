import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { AffiliateRow } from './rows.ts'

/** Who is buying, as far as it is known: the account, and every email that is his or that the order carries. */
export type Buyer = { userId: number | null; emails: readonly (string | null | undefined)[] }

/** Whether the buyer is the affiliate himself: by account, or by the affiliate's account or billing email. */
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

/** Whether anything is credited to an affiliate: he is active, and so is the account that he is paid by. */
export function isCreditable(db: Db, { status, userId }: Pick<AffiliateRow, 'status' | 'userId'>): boolean {
  return status === 'active' && findUserById(db, userId)?.status === 'active'
}
