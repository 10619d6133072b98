import { validationFailed } from '../../errors.ts'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Tx } from '../../platform/db/database.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import { isCreditable } from '../affiliates/credit.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { needsShipping } from '../catalog/product-types.ts'
import { emit } from '../webhooks/emit.ts'
import { createReferral, finalRefusalOf, rejectReferral } from '../referrals/referrals.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { taxInPaid } from '../tax/terms.ts'
import type { OrderTax } from '../tax/terms.ts'
import { checkReferral } from './buyer.ts'
import { recordMove } from './transition.ts'
import { findAttribution, itemsOf } from './find.ts'
import { pricesFor, netGoodsMinor, toColumns, totalsOf, insertTaxes, termsOfOrder } from './totals.ts'
import type { OrderItemRow, OrderRow } from './find.ts'
import { orderAttributions, orderItems, orders } from './schema.ts'

/** The gateway's charge for one more period of a subscription, in minor units. */
export type RenewalPayment = { amountMinor: number; currency: string; by: string }

/**
 * Inserts the pending order of a subscription's renewal: the subscription lines of the first order, at the charged
 * amount, for the same buyer. It takes no stock, because the charge was made, and gives no benefits, because the
 * subscription itself is extended. It has the attribution of the first order. The affiliate earns from it only with the
 * module and the setting `affiliates.renewals`, and not if the first referral was rejected for good.
 *
 * @throws AppError VALIDATION_FAILED when the charge has another currency than the first order
 */
export function insertRenewal(tx: Tx, original: OrderRow, payment: RenewalPayment, now: number): OrderRow {
  const { amountMinor, currency, by } = payment
  if (currency !== original.currency)
    throw validationFailed({
      currency: [`The renewal was charged in ${currency}, the order is in ${original.currency}.`]
    })
  const renewing = renewingLines(itemsOf(tx, original.id))
  const isShipped = needsShipping(renewing)
  const tax = taxOfRenewal(tx, original, renewing, amountMinor)
  const withoutTaxMinor = amountMinor - (tax.included ? 0 : tax.amountMinor)
  const shippingMinor = isShipped ? Math.min(original.shippingMinor, withoutTaxMinor) : 0
  const lines = renewedLines(renewing, withoutTaxMinor - shippingMinor)
  const { userId, email, emailKey, strategy, contact, billingAddress, shippingAddress } = original
  const order = tx.orm
    .insert(orders)
    .values({
      userId,
      email,
      emailKey,
      strategy,
      contact,
      billingAddress,
      shippingAddress,
      currency,
      renewalOf: original.id,
      status: 'pending',
      vatId: original.vatId,
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
  copyAttribution(tx, original.id, order, now)
  return order
}

/** The subscription lines of an order, or all lines if it has none. */
function renewingLines(items: readonly OrderItemRow[]): readonly OrderItemRow[] {
  const renewing = items.filter(({ grants }) => grants.some((grant) => renewalInterval(grant) !== null))
  return renewing.length > 0 ? renewing : items
}

/** The tax in the charge: the buyer's rates of the moment, on the prices before the discounts of the first period. */
function taxOfRenewal(tx: Tx, original: OrderRow, items: readonly OrderItemRow[], amountMinor: number): OrderTax {
  const lines = items.map((item) => ({ ...item, totalMinor: item.unitPriceMinor * item.quantity, discountMinor: 0 }))
  const shippingMinor = needsShipping(items) ? original.shippingMinor : 0
  return taxInPaid(termsOfOrder(tx, original, items), { lines, shippingMinor }, amountMinor)
}

function renewedLines(lines: readonly OrderItemRow[], amountMinor: number): Omit<OrderItemRow, 'id' | 'orderId'>[] {
  const prices = pricesFor(lines, amountMinor)
  return lines.map(({ id: _id, orderId: _order, ...line }, index) => {
    const { unitPriceMinor, quantity } = line
    const price = prices[index] ?? { unitPriceMinor, discountMinor: unitPriceMinor * quantity, totalMinor: 0 }
    return { ...line, ...price, grants: [], stockTaken: 0 }
  })
}

function copyAttribution(tx: Tx, originalId: number, order: OrderRow, now: number): void {
  const attribution = findAttribution(tx, originalId)
  if (attribution === undefined) return
  tx.orm
    .insert(orderAttributions)
    .values({ ...attribution, orderId: order.id })
    .run()
  const { affiliateId, visitId } = attribution
  const affiliate = affiliateId === null ? undefined : findAffiliateById(tx, affiliateId)
  if (affiliate === undefined || visitId === null || !setting(tx, 'affiliates.renewals')) return
  if (!isModuleOn(tx, 'affiliates') || !isCreditable(tx, affiliate)) return
  const { id: orderId, currency } = order
  createReferral(tx, { affiliate, orderId, visitId, baseMinor: netGoodsMinor(order), currency }, now)
  checkReferral(tx, order, now)
  const refusal = finalRefusalOf(tx, originalId)
  if (refusal !== null) rejectReferral(tx, orderId, refusal, now)
}
