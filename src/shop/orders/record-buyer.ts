import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { compareKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import { isSelfReferral } from '../affiliates/credit.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { rejectReferral } from '../referrals/referrals.ts'
import { findAttribution, getOrder } from './find.ts'
import type { OrderRow } from './rows.ts'
import { orderCoupons, orders } from './schema.ts'

const setEmail = statement((orm) =>
  orm
    .update(orders)
    .set({
      email: sql`${sql.placeholder('email')}`,
      emailKey: sql`${sql.placeholder('emailKey')}`,
      updatedAt: sql`${sql.placeholder('now')}`
    })
    .where(eq(orders.id, sql.placeholder('id')))
    .returning()
    .prepare()
)

/**
 * Writes down the email of a guest whose order had none (it was asked on the hosted page, or the gateway knew it); an
 * order that has one keeps it, and one of an account has none only since that was erased. Where it turns out that the
 * credited affiliate bought himself, the attribution stays and the referral is rejected.
 */
export function recordBuyerEmail(tx: Tx, orderId: number, email: string, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (order.email !== null || order.userId !== null) return order
  const emailKey = compareKey(email)
  const known = setEmail(tx).get({ id: orderId, email, emailKey, now })
  tx.orm
    .update(orderCoupons)
    .set({ customerKey: sql`coalesce(${orderCoupons.customerKey}, ${`email:${emailKey}`})` })
    .where(eq(orderCoupons.orderId, orderId))
    .run()
  if (isCreditedAffiliate(tx, known)) rejectReferral(tx, orderId, 'self', now)
  return known
}

function isCreditedAffiliate(tx: Tx, { id, userId, email }: OrderRow): boolean {
  const affiliateId = findAttribution(tx, id)?.affiliateId ?? null
  if (affiliateId === null) return false
  const affiliate = getAffiliateById(tx, affiliateId)
  const owner = findUserById(tx, affiliate.userId)
  return owner !== undefined && isSelfReferral(affiliate, owner, { userId, emails: [email] })
}
