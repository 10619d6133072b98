import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { discountLines, couponRefusals, findCombinationRefusal, findCouponRefusal } from '../catalog/coupon-rules.ts'
import type { DiscountableLine } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { coupons } from '../catalog/schema.ts'
import { discountableMinor } from '../catalog/product-types.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import { repriceReferral } from '../referrals/referrals.ts'
import { taxInPaid } from '../tax/terms.ts'
import {
  chargedPrice,
  computeTotals,
  lineAmountMinor,
  toColumns,
  totalsOf,
  pricesFor,
  replaceTaxes,
  termsOfOrder
} from './totals.ts'
import { goodsOf } from './refunds/refund-lines.ts'
import type { ChosenShipping } from './create-order.ts'
import { fitCards } from './refunds/credits.ts'
import { couponsOf, getOrder, itemsOf } from './find.ts'
import type { OrderItemRow, OrderRow } from './find.ts'
import { orderCoupons, orderItems, orders } from './schema.ts'
import type { Totals } from './totals.ts'
import { AppError } from '../../errors.ts'
import { attributeAgain } from './attribution.ts'
import { customerKeyOf, takeCouponUse } from './coupon-uses.ts'
import { couponsRefused } from './problems.ts'
import { setting } from '../settings/settings.ts'
import { emitVatCheck } from '../tax/vat-checks.ts'

/** The lines of an order before discounts, in their order. */
export function discountableLines(db: Db, orderId: number): DiscountableLine[] {
  return itemsOf(db, orderId).map((item) => toDiscountable(db, { ...item, amountMinor: lineAmountMinor(item) }))
}

function toDiscountable(
  db: Db,
  { productId, ...line }: Pick<OrderItemRow, 'productId' | 'type'> & { amountMinor: number }
): DiscountableLine {
  return { productId, categoryIds: categoryIdsOfProduct(db, productId), totalMinor: discountableMinor(line) }
}

/**
 * Computes the discounts, the taxes and the sums of an unpaid order again, from the coupons, addresses and VAT id that it
 * now has; the referral follows. The catalog's prices stay as they were ordered.
 */
export function repriceOrder(tx: Tx, order: OrderRow, now: number): OrderRow {
  const { lines, byCoupon, totals } = repriced(tx, order)
  for (const [index, { id }] of couponsOf(tx, order.id).entries()) {
    const discountMinor = byCoupon[index] ?? 0
    tx.orm.update(orderCoupons).set({ discountMinor }).where(eq(orderCoupons.id, id)).run()
  }
  for (const { id, unitPriceMinor, listPriceMinor, discountMinor, totalMinor } of lines) {
    const prices = { unitPriceMinor, listPriceMinor, discountMinor, totalMinor }
    tx.orm.update(orderItems).set(prices).where(eq(orderItems.id, id)).run()
  }
  const stored = storeSums(tx, order.id, totals, now)
  fitCards(tx, order.id, now)
  return stored
}

/** Changes how an unpaid order is shipped and what that costs, and computes the rest again. */
export function setShipping(tx: Tx, order: OrderRow, shipping: ChosenShipping | null, now: number): OrderRow {
  const changed = withShipping(order, shipping)
  const { shippingMethod, renewalShippingMinor } = changed
  tx.orm.update(orders).set({ shippingMethod, renewalShippingMinor }).where(eq(orders.id, order.id)).run()
  return repriceOrder(tx, changed, now)
}

/** Changes the VAT id of an unpaid order, and computes its prices and taxes again. */
export function setVatId(
  tx: Tx,
  order: OrderRow,
  { vatId, vatCheck }: Pick<OrderRow, 'vatId' | 'vatCheck'>,
  now: number
): OrderRow {
  storeVatCheck(tx, order.id, { vatId, vatCheck }, now)
  return repriceOrder(tx, { ...order, vatId, vatCheck }, now)
}

/** Stores a VAT id and what is known of it, which an event also says. */
export function storeVatCheck(
  tx: Tx,
  orderId: number,
  checked: Pick<OrderRow, 'vatId' | 'vatCheck'>,
  now: number
): void {
  tx.orm.update(orders).set(checked).where(eq(orders.id, orderId)).run()
  if (checked.vatCheck !== null) emitVatCheck(tx, orderId, checked.vatCheck, now)
}

/** An order with another shipping, before its sums are computed again. */
export function withShipping(order: OrderRow, shipping: ChosenShipping | null): OrderRow {
  const { method = null, amountMinor = 0, renewalMinor = null } = shipping ?? {}
  const renewalShippingMinor = renewalMinor
  return { ...order, shippingMethod: method, shippingMinor: amountMinor, listShippingMinor: null, renewalShippingMinor }
}

/** The lines, the discount of each coupon and the sums of an unpaid order, computed again; see `repriceOrder`. */
export function repriced(db: Db, order: OrderRow) {
  const { currency } = order
  const items = itemsOf(db, order.id)
  const terms = termsOfOrder(db, order)
  const priced = items.map((item) => {
    const { listPriceMinor, unitPriceMinor, quantity } = item
    const catalog = { catalogMinor: listPriceMinor ?? unitPriceMinor, quantity }
    return { ...item, ...chargedPrice(terms, item, catalog, currency) }
  })
  const carried = couponsOf(db, order.id)
  const discounts = discountLines(
    priced.map((item) => toDiscountable(db, item)),
    carried.map(({ couponId }) => ({ ...couponById(db, couponId), ...couponScope(db, couponId) })),
    currency
  )
  const lines = priced.map((item, index) => {
    const discountMinor = discounts.byLine[index] ?? 0
    return { ...item, discountMinor, totalMinor: item.amountMinor - discountMinor }
  })
  const shippingMinor = order.listShippingMinor ?? order.shippingMinor
  return { lines, byCoupon: discounts.byCoupon, totals: computeTotals(terms, { lines, shippingMinor, currency }) }
}

/**
 * Changes the total of an unpaid order to what its buyer has really paid; the lines and the referral follow. The shipping
 * costs what was ordered, unless less than that was paid. What its coupons took off stays as it was ordered.
 */
export function takePaidTotal(tx: Tx, order: OrderRow, totalMinor: number, now: number): OrderRow {
  const lines = itemsOf(tx, order.id)
  const terms = termsOfOrder(tx, order)
  const tax = taxInPaid(terms, { lines, shippingMinor: order.shippingMinor }, totalMinor)
  const withoutTaxMinor = totalMinor - (tax.included ? 0 : tax.amountMinor)
  const shippingMinor = Math.min(order.shippingMinor, withoutTaxMinor)
  const prices = pricesFor(lines, withoutTaxMinor - shippingMinor)
  for (const [index, { id }] of lines.entries())
    tx.orm
      .update(orderItems)
      .set(prices[index] ?? {})
      .where(eq(orderItems.id, id))
      .run()
  return storeSums(tx, order.id, totalsOf(prices, { ...order, shippingMinor, tax }), now)
}

function storeSums(tx: Tx, orderId: number, totals: Totals, now: number): OrderRow {
  tx.orm
    .update(orders)
    .set({ ...toColumns(totals), updatedAt: now })
    .where(eq(orders.id, orderId))
    .run()
  replaceTaxes(tx, orderId, totals.tax)
  const order = getOrder(tx, orderId)
  repriceReferral(tx, orderId, goodsOf(tx, order), now)
  return order
}

function couponById(db: Db, id: number): Pick<CouponRow, 'percentBps' | 'amountMinor' | 'exclusive'> {
  const row = db.orm.select().from(coupons).where(eq(coupons.id, id)).get()
  return {
    percentBps: row?.percentBps ?? null,
    amountMinor: row?.amountMinor ?? null,
    exclusive: row?.exclusive === true
  }
}

/**
 * The coupon with which a code would change a pending order; null if the order has it already.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`) for a code that does not apply, CONFLICT for an order that is not
 *   pending
 */
export function couponFor(db: Db, order: OrderRow, code: string, now: number): CouponRow | null {
  if (order.status !== 'pending') throw new AppError('CONFLICT', 'This order can no longer be changed.')
  const coupon = findCoupon(db, code)
  const carried = couponsOf(db, order.id)
  if (coupon !== undefined && carried.some(({ couponId }) => couponId === coupon.id)) return null
  const lines = discountableLines(db, order.id)
  const scope = coupon === undefined ? { productIds: [], categoryIds: [] } : couponScope(db, coupon.id)
  const refusal = findCouponRefusal(coupon, scope, { lines, now })
  if (coupon === undefined || refusal !== undefined) throw refused(couponRefusals[refusal ?? 'unknown'])
  const others = carried.map(({ couponId }) => couponById(db, couponId))
  const clash = findCombinationRefusal(coupon, others, setting(db, 'checkout.combinePercentCoupons'))
  if (clash !== undefined) throw refused(couponRefusals[clash])
  return coupon
}

/**
 * Adds a coupon (`couponFor`) to a pending order: takes a use of it, distributes all discounts over the lines again, and
 * updates the totals and the referral. The prices of the lines stay as they were ordered. The coupon of an affiliate can
 * change who is credited.
 *
 * @throws AppError VALIDATION_FAILED (`coupon`) when no use of it is left, for all or for this customer
 */
export function addCoupon(tx: Tx, order: OrderRow, coupon: CouponRow, now: number): OrderRow {
  takeUse(tx, order, coupon)
  attributeAgain(tx, order, now)
  return repriceOrder(tx, order, now)
}

/** The error for a code that does not apply. The limit on guessing codes counts it. */
function refused(message: string): AppError {
  return couponsRefused({ coupon: [message] })
}

function takeUse(tx: Tx, order: OrderRow, { id: couponId, code }: CouponRow): void {
  const customerKey = customerKeyOf(order)
  const outcome = takeCouponUse(tx, { couponId, customerKey })
  if (outcome !== 'taken') throw refused(couponRefusals[outcome])
  tx.orm
    .insert(orderCoupons)
    .values({ orderId: order.id, couponId, code, discountMinor: 0, customerKey, counted: 1 })
    .run()
}
