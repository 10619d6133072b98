import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { compareKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import { isSelfReferral } from '../affiliates/credit.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { rejectReferral } from '../referrals/referrals.ts'
import type { Address, OrderContact } from './address.ts'
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
 * Stores the email of a guest whose order has none: the hosted page asked for it, or the gateway knew it. An order that
 * has an email keeps it; an order of an account has none only after an erasure, and stays so. If the buyer turns out to be
 * the credited affiliate, the attribution stays and the referral is rejected.
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

/** Takes the email off a guest's unpaid order, so that the hosted page asks for another one. */
export function forgetBuyerEmail(tx: Tx, orderId: number, now: number): void {
  const { userId, paidAt } = getOrder(tx, orderId)
  if (userId !== null || paidAt !== null) return
  setEmail(tx).get({ id: orderId, email: null, emailKey: null, now })
  tx.orm.update(orderCoupons).set({ customerKey: null }).where(eq(orderCoupons.orderId, orderId)).run()
}

/** Stores what the buyer filled in on the hosted page. */
export function recordContact(
  tx: Tx,
  orderId: number,
  given: { contact: OrderContact; shippingAddress: Address | null },
  now: number
): void {
  tx.orm
    .update(orders)
    .set({ ...given, updatedAt: now })
    .where(eq(orders.id, orderId))
    .run()
}

function isCreditedAffiliate(tx: Tx, { id, userId, email }: OrderRow): boolean {
  const affiliateId = findAttribution(tx, id)?.affiliateId ?? null
  if (affiliateId === null) return false
  const affiliate = getAffiliateById(tx, affiliateId)
  const owner = findUserById(tx, affiliate.userId)
  return owner !== undefined && isSelfReferral(affiliate, owner, { userId, emails: [email] })
}
