import { and, eq, getTableColumns, inArray, isNotNull, isNull, like, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { sqlList } from '../../platform/db/columns.ts'
import type { Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { keyedHash } from '../../platform/db/keyed-hash.ts'
import { emailKey } from '../../platform/text.ts'
import { forgetVatChecks } from '../tax/vat-checks.ts'
import { giftCards } from '../gift-cards/schema.ts'
import { getOrder, placedAsGuest } from './find.ts'
import type { OrderRow, Person } from './find.ts'
import { guestWithData, notes, orderChanges, orderCoupons, orders } from './schema.ts'
import { checkReferral } from './review.ts'
import { releasedStatuses } from './states.ts'

/** What an order takes over of the buyer of another one: one that is added to it, or its renewal. */
export function sameBuyer(order: OrderRow) {
  return {
    userId: order.userId,
    email: order.email,
    contact: order.contact,
    billingAddress: order.billingAddress,
    shippingAddress: order.shippingAddress,
    vatId: order.vatId,
    vatCheck: order.vatCheck,
    buyerReference: order.buyerReference,
    language: order.language
  }
}

/**
 * Stores the email for a guest's order without one: from the hosted page or from the gateway. An order that has an
 * email keeps it. An account's order without an email was erased and stays without one. If the buyer is the credited
 * affiliate, the attribution stays and the referral is rejected.
 */
export function recordBuyerEmail(tx: Tx, orderId: number, email: string, now: number): OrderRow {
  const order = getOrder(tx, orderId)
  if (order.email !== null || order.userId !== null) return order
  const known = setEmail(tx, orderId, email, now)
  tx.orm
    .update(orderCoupons)
    .set({ customerKey: sql`coalesce(${orderCoupons.customerKey}, ${`email:${known.emailKey}`})` })
    .where(eq(orderCoupons.orderId, orderId))
    .run()
  checkReferral(tx, known, now)
  return known
}

/** Removes the email from a guest's unpaid order, so that the hosted page requests another one. */
export function forgetBuyerEmail(tx: Tx, orderId: number, now: number): void {
  const { userId, paidAt } = getOrder(tx, orderId)
  if (userId !== null || paidAt !== null) return
  setEmail(tx, orderId, null, now)
  tx.orm.update(orderCoupons).set({ customerKey: null }).where(eq(orderCoupons.orderId, orderId)).run()
}

function setEmail(tx: Tx, orderId: number, email: string | null, now: number): OrderRow {
  return tx.orm
    .update(orders)
    .set({ email, emailKey: email === null ? null : emailKey(email), updatedAt: now })
    .where(eq(orders.id, orderId))
    .returning()
    .get()
}

/**
 * Stores which card pays an order, before it is paid: a card of the affiliate puts the referral in review, and the card's
 * country is evidence of where a buyer of downloads is.
 */
export function recordCard(
  tx: Tx,
  orderId: number,
  card: { fingerprint: string | null; country: string | null } | null
): void {
  if (card === null) return
  const { fingerprint: cardFingerprint, country: cardCountry } = card
  tx.orm.update(orders).set({ cardFingerprint, cardCountry }).where(eq(orders.id, orderId)).run()
}

/** Stores what the buyer entered on the hosted page. */
export function recordContact(
  tx: Tx,
  orderId: number,
  buyer: Partial<Pick<OrderRow, 'contact' | 'buyerReference' | 'shippingAddress' | 'billingAddress'>>,
  now: number
): void {
  tx.orm
    .update(orders)
    .set({ ...buyer, updatedAt: now })
    .where(eq(orders.id, orderId))
    .run()
}

/** Stores that the buyer agreed to the delivery of files at once; the first time counts. */
export function recordDeliveryConsent(tx: Tx, orderId: number, now: number): void {
  tx.orm
    .update(orders)
    .set({ deliveryConsentAt: now })
    .where(and(eq(orders.id, orderId), isNull(orders.deliveryConsentAt)))
    .run()
}

const released = sqlList(releasedStatuses)

// The condition is written as in the partial index. That is named, because SQLite would rather read all guest orders.
const unpaidGuests = rawStatement<{ before: number; limit: number }, { id: number }>(`
  SELECT id FROM orders INDEXED BY orders_unpaid_guests
  WHERE ${guestWithData(getTableColumns(orders), 'unpaid')} AND created_at < @before AND updated_at < @before AND status IN (${released})
  ORDER BY created_at LIMIT @limit`)

/**
 * Removes the personal data from the orders of an erased person, of the account and as a guest. The email
 * need not be verified: the removal reveals nothing, and without it, names and addresses would remain. Items and
 * amounts stay for accounting.
 */
export function anonymiseOrdersOf(tx: Tx, { id, emailKey }: Person): void {
  if (id !== null) anonymise(tx, eq(orders.userId, id), `user:${id}`)
  anonymise(tx, placedAsGuest(emailKey), null)
}

/**
 * Removes the personal data from unpaid orders without an account that have not changed since a time, at most `limit` of
 * them. The rows stay. Returns how many orders were changed.
 */
export function anonymiseUnpaidOrders(tx: Tx, before: number, limit: number): number {
  const ids = unpaidGuests(tx)
    .all({ before, limit })
    .map(({ id }) => id)
  if (ids.length > 0) anonymiseOrders(tx, ids)
  return ids.length
}

/** Removes the personal data from orders without an account. The rows stay. */
export function anonymiseOrders(tx: Tx, ids: readonly number[]): void {
  anonymise(tx, inArray(orders.id, [...ids]), null)
}

/** @param customerKey the customer whose coupon uses these orders count from now on; null for an unknown customer */
function anonymise(tx: Tx, whose: SQL | undefined, customerKey: string | null): void {
  rememberCouponUses(tx, whose)
  const ids = tx.orm.select({ id: orders.id }).from(orders).where(whose)
  tx.orm
    .update(orderCoupons)
    .set({ customerKey })
    .where(and(like(orderCoupons.customerKey, 'email:%'), inArray(orderCoupons.orderId, ids)))
    .run()
  forgetVatChecks(tx, tx.orm.select({ vatId: orders.vatId }).from(orders).where(whose))
  eraseRows(tx, orderChanges, inArray(orderChanges.orderId, ids))
  eraseRows(tx, giftCards, inArray(giftCards.orderId, ids))
  tx.orm.delete(notes).where(inArray(notes.orderId, ids)).run()
  eraseRows(tx, orders, whose)
}

/** A coupon that each customer may use once must not be free again after an erasure. */
function rememberCouponUses(tx: Tx, whose: SQL | undefined): void {
  const uses = tx.orm
    .select({ id: orderCoupons.id, emailKey: orders.emailKey })
    .from(orderCoupons)
    .innerJoin(orders, eq(orders.id, orderCoupons.orderId))
    .where(and(whose ?? sql`FALSE`, isNotNull(orders.emailKey)))
    .all()
  for (const { id, emailKey } of uses)
    tx.orm
      .update(orderCoupons)
      .set({ mailboxHash: keyedHash(tx, 'mailbox', emailKey ?? '') })
      .where(eq(orderCoupons.id, id))
      .run()
}
