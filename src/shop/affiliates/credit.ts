import type { Db } from '../../platform/db/database.ts'
import { emailKey, withoutPlusTag } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { AffiliateRow } from './find.ts'

/** What is known about a buyer: the account, and every email of the account and of the order. */
export type Buyer = { userId: number | null; emails: readonly (string | null | undefined)[] }

/** Whether the buyer is the affiliate: by account, or by the affiliate's account or billing email. */
export function isSelfReferral(
  affiliate: Pick<AffiliateRow, 'userId'>,
  affiliateUser: Pick<UserRow, 'email' | 'billingEmail'>,
  buyer: Buyer
): boolean {
  if (buyer.userId === affiliate.userId) return true
  const own = keysOf([affiliateUser.email, affiliateUser.billingEmail])
  return keysOf(buyer.emails).some((key) => own.includes(key))
}

/**
 * Whether the buyer's email is a plus address of the affiliate's own, or the other way round: most mail providers deliver
 * both to one mailbox, but not all do, so an operator decides.
 */
export function isPlusAddressOf(
  affiliateUser: Pick<UserRow, 'email' | 'billingEmail'>,
  emails: Buyer['emails']
): boolean {
  const own = new Set(keysOf([affiliateUser.email, affiliateUser.billingEmail]).map(withoutPlusTag))
  return keysOf(emails).some((key) => own.has(withoutPlusTag(key)))
}

function keysOf(emails: Buyer['emails']): string[] {
  return emails.filter((email) => typeof email === 'string').map(emailKey)
}

/** Whether commissions are credited to an affiliate: the affiliate account and the user account must both be active. */
export function isCreditable(db: Db, { status, userId }: Pick<AffiliateRow, 'status' | 'userId'>): boolean {
  return status === 'active' && findUserById(db, userId)?.status === 'active'
}
