import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { emailKey } from '../../platform/email-key.ts'
import { findUserById } from '../accounts/find.ts'
import { isPlusAddressOf, isSelfReferral } from '../affiliates/credit.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { noteReferral, rejectReferral } from '../referrals/referrals.ts'
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
 * Stores the email for a guest's order without one: from the hosted page or from the gateway. An order that has an
 * email keeps it. An account's order without an email was erased and stays without one. If the buyer is the credited
 * affiliate, the attribution stays and the referral is rejected.
 */
export function recordBuyerEmail(tx: Tx, orderId: number, email: string, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (order.email !== null || order.userId !== null) return order
  const key = emailKey(email)
  const known = setEmail(tx).get({ id: orderId, email, emailKey: key, now })
  tx.orm
    .update(orderCoupons)
    .set({ customerKey: sql`coalesce(${orderCoupons.customerKey}, ${`email:${key}`})` })
    .where(eq(orderCoupons.orderId, orderId))
    .run()
  checkReferral(tx, known, now)
  return known
}

/** Removes the email from a guest's unpaid order, so that the hosted page requests another one. */
export function forgetBuyerEmail(tx: Tx, orderId: number, now: number): void {
  const { userId, paidAt } = getOrder(tx, orderId)
  if (userId !== null || paidAt !== null) return
  setEmail(tx).get({ id: orderId, email: null, emailKey: null, now })
  tx.orm.update(orderCoupons).set({ customerKey: null }).where(eq(orderCoupons.orderId, orderId)).run()
}

/** Stores what the buyer entered on the hosted page. */
export function recordContact(
  tx: Tx,
  orderId: number,
  buyer: { contact: OrderContact; shippingAddress: Address | null },
  now: number
): void {
  tx.orm
    .update(orders)
    .set({ ...buyer, updatedAt: now })
    .where(eq(orders.id, orderId))
    .run()
}

function checkReferral(tx: Tx, { id, userId, email }: OrderRow, now: number): void {
  const affiliateId = findAttribution(tx, id)?.affiliateId ?? null
  if (affiliateId === null) return
  const affiliate = getAffiliateById(tx, affiliateId)
  const owner = findUserById(tx, affiliate.userId)
  if (owner === undefined) return
  if (isSelfReferral(affiliate, owner, { userId, emails: [email] })) rejectReferral(tx, id, 'self', now)
  else if (isPlusAddressOf(owner, [email])) noteReferral(tx, id, 'plus_address', now)
}
