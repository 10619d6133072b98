import { and, asc, desc, eq, isNotNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/answers.ts'
import { toIso } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import { subscriptionsOf } from '../benefits/records.ts'
import type { SubscriptionRecord } from '../benefits/records.ts'
import { toSubscription } from '../benefits/view.ts'
import type { ShopContext } from '../context.ts'
import { countAccountChange, takePoints } from '../limits/points.ts'
import { findOrder } from '../orders/find.ts'
import { recurringOfOrder, toRecurring } from '../orders/renewal-order.ts'
import { orderItems, orders } from '../orders/schema.ts'
import { lineAmountMinor } from '../orders/totals.ts'
import { findPayingAttempt } from '../payments/attempts.ts'
import { endWithPeriod, createPortalSession } from '../payments/buyer-subscription.ts'
import { findGatewayOf } from '../payments/gateway.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import type { OwnSubscription } from './shapes.ts'

/** A subscription that the gateway renews: its id there, and the order that started it. */
export type Renewed = { gatewayId: string; orderId: number }

/** The subscriptions of a person, the latest first. It asks the gateway nothing. Empty while the commerce module is off. */
export function listOwnSubscriptions(shop: ShopContext, userId: number, now: number): OwnSubscription[] {
  if (!isModuleOn(shop.db, 'commerce')) return []
  return subscriptionsOf(shop.db, userId).map((record) => toOwnSubscription(shop, record, now))
}

/** One of them as it is now. @throws AppError NOT_FOUND when the person has no such subscription */
export function getOwnSubscription(shop: ShopContext, userId: number, id: number, now: number): OwnSubscription {
  return toOwnSubscription(shop, getRecord(shop, userId, id), now)
}

/** The record of a person's subscription. @throws AppError NOT_FOUND when the person has no such subscription */
export function getRecord({ db }: Pick<ShopContext, 'db'>, userId: number, id: number): SubscriptionRecord {
  const record = subscriptionsOf(db, userId).find((row) => row.id === id)
  if (record === undefined) throw notFound()
  return record
}

/** Where the gateway renews a subscription; null when it has ended there or nothing renews it. */
export function renewedAt({ gatewayId, orderId }: SubscriptionRecord): Renewed | null {
  return gatewayId === null || orderId === null ? null : { gatewayId, orderId }
}

/** Whether another period will be charged: the gateway renews it and it was not ended. */
export function willRenew({ cancelledAt, cancelAtPeriodEnd, ...record }: SubscriptionRecord): boolean {
  return cancelledAt === null && !cancelAtPeriodEnd && record.gatewayId !== null
}

function toOwnSubscription(shop: ShopContext, record: SubscriptionRecord, now: number): OwnSubscription {
  const view = toSubscription(record, now)
  const isManaged = isAtGateway(shop, record)
  // After a failed renewal the gateway decides when it tries again.
  const isDue = willRenew(record) && view.status !== 'past_due'
  return {
    ...view,
    ...priceOf(shop, record),
    recurring: willRenew(record) ? recurringOfRecord(shop, record) : null,
    nextPaymentAt: isDue ? toIso(record.currentPeriodEnd) : null,
    canCancel: isManaged && willRenew(record),
    manageUrl: isManaged ? `${shop.publicUrl()}/account/subscriptions/${view.id}/manage` : null
  }
}

/** Whether the gateway renews it and can be asked from here. */
function isAtGateway(shop: ShopContext, record: SubscriptionRecord): boolean {
  const renewed = renewedAt(record)
  const attempt = renewed === null ? undefined : findPayingAttempt(shop.db, renewed.orderId)
  return attempt !== undefined && findGatewayOf(shop, attempt) !== undefined
}

/** What the gateway charges with each renewal, for all subscriptions of the checkout together. */
function recurringOfRecord({ db }: ShopContext, { orderId, currentPeriodEnd }: SubscriptionRecord) {
  const order = orderId === null ? undefined : findOrder(db, orderId)
  if (order === undefined) return null
  const recurring = recurringOfOrder(db, order)
  return recurring && toRecurring(recurring, order.currency, currentPeriodEnd)
}

/** What the newest paid order of a subscription charged for it; its first order may have had a discount. */
function priceOf({ db }: ShopContext, { orderId, productId }: SubscriptionRecord) {
  const found = orderId === null ? undefined : newestCharge(db, orderId, productId)
  const { amountMinor, currency } = found ?? { amountMinor: 0, currency: setting(db, 'shop.currency') }
  return { amount: toMajor(amountMinor, currency), currency }
}

function newestCharge(db: Db, orderId: number, productId: number) {
  const ofSubscription = or(eq(orders.id, orderId), eq(orders.renewalOf, orderId))
  const found = db.orm
    .select({ order: orders, item: orderItems })
    .from(orders)
    .innerJoin(orderItems, eq(orderItems.orderId, orders.id))
    // The plus keeps SQLite from reading every sale of the product.
    .where(and(ofSubscription, isNotNull(orders.paidAt), sql`+${orderItems.productId} = ${productId}`))
    .orderBy(desc(orders.id), asc(orderItems.id))
    .limit(1)
    .get()
  if (found === undefined) return undefined
  const { order, item } = found
  const amountMinor = order.renewalOf === null ? lineAmountMinor(item) : item.totalMinor
  return { amountMinor, currency: order.currency }
}

/**
 * Ends a person's subscription with the period that is paid. Subscriptions that were bought in one checkout are billed
 * together and end together. A subscription that renews no more is returned as it is, so a repeated call is harmless.
 *
 * @throws AppError NOT_FOUND when the person has no such subscription; RATE_LIMITED (account_change);
 *   DEPENDENCY_UNAVAILABLE when the gateway did not confirm: nothing is stored, and what the gateway did all the same is reported by its event
 */
export async function endOwnSubscription(shop: ShopContext, userId: number, id: number): Promise<OwnSubscription> {
  const record = getRecord(shop, userId, id)
  await countAccountChange(shop, userId)
  const renewed = renewedAt(record)
  if (renewed !== null && willRenew(record)) await endWithPeriod(shop, renewed, 'buyer')
  return getOwnSubscription(shop, userId, id, shop.clock.now())
}

/**
 * The address of a new session of the gateway's billing portal, where a person renews the card, sees invoices and ends
 * the subscription. The address expires within minutes, so it is created for each request and never stored.
 *
 * @throws AppError NOT_FOUND when the person has no such subscription or the gateway does not renew it, RATE_LIMITED,
 *   DEPENDENCY_UNAVAILABLE when the gateway gives no session
 */
export async function openPortal(
  shop: ShopContext,
  userId: number,
  id: number,
  returnUrl: string | null
): Promise<string> {
  const renewed = renewedAt(getRecord(shop, userId, id))
  if (renewed === null) throw notFound()
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'portal_account', key: String(userId) })
  return createPortalSession(shop, renewed, returnUrl)
}
