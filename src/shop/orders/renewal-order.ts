import { count, eq } from 'drizzle-orm'
import type { Totals } from './totals.ts'
import type { RecurringView } from './shapes.ts'
import type { SaleTerms } from '../tax/terms.ts'
import type { GrantSpec } from '../catalog/grants.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { toMajor } from '../../platform/money.ts'
import { toIso } from '../../platform/iso-time.ts'
import { validationFailed } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { needsShipping } from '../catalog/product-types.ts'
import { emit } from '../webhooks/emit.ts'
import { createReferral, finalRefusalOf, rejectReferral } from '../referrals/referrals.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { taxInPaid } from '../tax/terms.ts'
import { sameBuyer } from './buyer.ts'
import { goodsOf } from './refunds/refund-lines.ts'
import { checkReferral } from './review.ts'
import { recordMove } from './transition.ts'
import { findAttribution, itemsOf } from './find.ts'
import { computeTotals, lineAmountMinor, pricesFor, toColumns, totalsOf, insertTaxes, termsOfOrder } from './totals.ts'
import type { OrderItemRow, OrderRow } from './find.ts'
import { orderAttributions, orderItems, orders } from './schema.ts'

export type BillingInterval = 'month' | 'year'

/** What a line needs to be charged again. */
export type RenewingLine = Pick<OrderItemRow, 'totalMinor' | 'discountMinor' | 'type' | 'taxClass'> & {
  grants: readonly GrantSpec[]
}

/** What is charged with each renewal: the lines that renew, at their full price, and their sums. */
export type Recurring<Line> = {
  interval: BillingInterval
  lines: readonly (Line & { totalMinor: number; discountMinor: number })[]
  totals: Totals
}

/** The billing interval of the lines; null when no line is a subscription. All subscriptions of an order have the same. */
export function subscriptionInterval(lines: readonly Pick<RenewingLine, 'grants'>[]): BillingInterval | null {
  const intervals = lines.flatMap(({ grants }) => grants).map(renewalInterval)
  return intervals.find((interval) => interval !== null) ?? null
}

/** The lines that renew, each at its full price: a discount counts for the first period only. */
export function renewingLines<Line extends RenewingLine>(lines: readonly Line[]): Recurring<Line>['lines'] {
  return lines
    .filter((line) => subscriptionInterval([line]) !== null)
    .map((line) => ({ ...line, totalMinor: lineAmountMinor(line), discountMinor: 0 }))
}

/**
 * What is charged with each renewal of a cart or an order: the goods that renew, their own shipping and their tax. The
 * shipping of the first parcel is not part of it. Null when nothing renews.
 *
 * @param sold.shippingMinor the list price of shipping the goods that renew alone
 */
export function recurringOf<Line extends RenewingLine>(
  terms: SaleTerms,
  sold: { lines: readonly Line[]; shippingMinor: number; currency: string }
): Recurring<Line> | null {
  const interval = subscriptionInterval(sold.lines)
  if (interval === null) return null
  const lines = renewingLines(sold.lines)
  const shippingMinor = needsShipping(lines) ? sold.shippingMinor : 0
  return { interval, lines, totals: computeTotals(terms, { lines, shippingMinor, currency: sold.currency }) }
}

/** The public form of what is charged with each renewal, the next one at `from` (epoch ms). */
export function toRecurring(
  { interval, totals }: Pick<Recurring<unknown>, 'interval' | 'totals'>,
  currency: string,
  from: number
): RecurringView {
  return {
    amount: toMajor(totals.totalMinor, currency),
    interval,
    shipping: toMajor(totals.shippingMinor, currency),
    tax: toMajor(totals.tax.amountMinor, currency),
    from: toIso(from)
  }
}

/** As `recurringOf`, for an order, by the tax rates of the moment. */
export function recurringOfOrder(
  db: Db,
  order: OrderRow,
  lines: readonly OrderItemRow[] = itemsOf(db, order.id)
): Recurring<OrderItemRow> | null {
  const { currency, renewalShippingMinor } = order
  return recurringOf(termsOfOrder(db, order), { lines, shippingMinor: renewalShippingMinor ?? 0, currency })
}

/** The gateway's charge for one more period of a subscription, in minor units. */
export type RenewalPayment = { amountMinor: number; currency: string; by: string }

/**
 * Inserts the pending order of a subscription's renewal: the subscription lines of the first order, at the charged
 * amount, for the same buyer. It takes no stock, because the charge was made, and gives no benefits, because the
 * subscription itself is extended. It has the attribution of the first order. The affiliate earns from it only with the
 * module and the setting `affiliates.renewals`, for `affiliates.renewalMonths`, and not if the first referral was rejected for good.
 *
 * @throws AppError VALIDATION_FAILED when the charge has another currency than the first order
 */
export function insertRenewal(tx: Tx, original: OrderRow, payment: RenewalPayment, now: number): OrderRow {
  const { amountMinor, currency, by } = payment
  if (currency !== original.currency)
    throw validationFailed({
      currency: [`The renewal was charged in ${currency}, the order is in ${original.currency}.`]
    })
  const items = itemsOf(tx, original.id)
  const recurring = recurringOfOrder(tx, original, items)
  const renewing = recurring?.lines ?? items.map(fullPrice)
  const isShipped = needsShipping(renewing)
  const priced = recurring?.totals.shippingMinor ?? 0
  const tax = taxInPaid(termsOfOrder(tx, original), { lines: renewing, shippingMinor: priced }, amountMinor)
  const withoutTaxMinor = amountMinor - (tax.included ? 0 : tax.amountMinor)
  const shippingMinor = Math.min(priced, withoutTaxMinor)
  const lines = renewedLines(renewing, withoutTaxMinor - shippingMinor)
  const order = tx.orm
    .insert(orders)
    .values({
      ...sameBuyer(original),
      emailKey: original.emailKey,
      strategy: original.strategy,
      currency,
      renewalOf: original.id,
      status: 'pending',
      cardFingerprint: original.cardFingerprint,
      cardCountry: original.cardCountry,
      ...toColumns(totalsOf(lines, { ...original, shippingMinor, listShippingMinor: null, tax })),
      shippingMethod: isShipped ? original.shippingMethod : null,
      publicToken: randomToken(),
      createdAt: now,
      updatedAt: now
    })
    .returning()
    .get()
  const orderId = order.id
  for (const [index, line] of lines.entries())
    tx.orm
      .insert(orderItems)
      .values({ ...line, orderId, taxRow: tax.rowOf[index] ?? null })
      .run()
  insertTaxes(tx, orderId, tax)
  recordMove(tx, { orderId, from: null, to: 'pending', by, reason: `renewal of order ${original.id}`, at: now })
  emit(tx, 'order.created', { orderId, totalMinor: amountMinor, currency }, now)
  copyAttribution(tx, original.id, order, { earns: doesRenewalEarn(tx, original, items) }, now)
  return order
}

/** Each renewal counts for the months that it pays, however late it was charged. */
function doesRenewalEarn(tx: Tx, { id }: OrderRow, items: readonly OrderItemRow[]): boolean {
  if (!setting(tx, 'affiliates.renewals')) return false
  const months = setting(tx, 'affiliates.renewalMonths')
  const renewals = tx.orm.select({ so: count() }).from(orders).where(eq(orders.renewalOf, id)).get()?.so ?? 0
  return months === 0 || renewals * (subscriptionInterval(items) === 'year' ? 12 : 1) <= months
}

/** Of an order without a subscription line, everything is charged again. */
function fullPrice(item: OrderItemRow): OrderItemRow {
  return { ...item, totalMinor: lineAmountMinor(item), discountMinor: 0 }
}

function renewedLines(lines: readonly OrderItemRow[], amountMinor: number): Omit<OrderItemRow, 'id' | 'orderId'>[] {
  const prices = pricesFor(lines, amountMinor)
  return lines.map(({ id: _id, orderId: _order, ...line }, index) => {
    return { ...line, ...prices[index], grants: [], stockTaken: 0 }
  })
}

/**
 * Gives an order the attribution of another one.
 *
 * @param earns whether its affiliate earns from it, if the referral of the other order was not rejected for good
 */
export function copyAttribution(
  tx: Tx,
  originalId: number,
  order: OrderRow,
  { earns }: { earns: boolean },
  now: number
): void {
  const attribution = findAttribution(tx, originalId)
  if (attribution === undefined) return
  tx.orm
    .insert(orderAttributions)
    .values({ ...attribution, orderId: order.id })
    .run()
  const { affiliateId, visitId } = attribution
  const affiliate = affiliateId === null ? undefined : findAffiliateById(tx, affiliateId)
  if (affiliate === undefined || visitId === null || !earns) return
  if (!isModuleOn(tx, 'affiliates') || !isCreditable(tx, affiliate)) return
  const { id: orderId, currency } = order
  createReferral(tx, { affiliate, orderId, visitId, goods: goodsOf(tx, order), currency }, now)
  checkReferral(tx, order, now)
  const refusal = finalRefusalOf(tx, originalId)
  if (refusal !== null) rejectReferral(tx, orderId, refusal, now)
}
