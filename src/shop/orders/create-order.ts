import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Tx } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { emailKey } from '../../platform/text.ts'
import { saleTerms } from '../tax/terms.ts'
import { emitVatCheck } from '../tax/vat-checks.ts'
import type { TaxedLine } from '../tax/terms.ts'
import { emit } from '../webhooks/emit.ts'
import { stampAttribution } from './attribution.ts'
import type { NewAttribution } from './attribution.ts'
import { takeCouponUse } from './coupon-uses.ts'
import type { OrderCouponRow, OrderItemRow, OrderRow } from './find.ts'
import { countedStock, takeUnits } from './holds.ts'
import { cartRefused, couponRefusal, notEnough, refusal } from './problems.ts'
import type { Refusal } from './problems.ts'
import { orderCoupons, orderItems, orders } from './schema.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { computeTotals, insertTaxes, shippingTotals, toColumns } from './totals.ts'
import { recordMove } from './transition.ts'

/**
 * An order that is priced and attributed, before it takes stock and coupons. All amounts are minor units of `currency`.
 * It has no totals, because they follow from the lines and the shipping.
 */
export type NewOrder = Pick<
  OrderRow,
  | 'userId'
  | 'email'
  | 'contact'
  | 'billingAddress'
  | 'shippingAddress'
  | 'vatId'
  | 'vatCheck'
  | 'notes'
  | 'language'
  | 'returnUrl'
  | 'cancelUrl'
  | 'strategy'
  | 'currency'
> & {
  /** How long the order keeps its stock and coupons without being paid. */
  holdMinutes: number
  buyerReference?: string | null
  deliveryConsentAt?: number | null
  ipCountry?: string | null
  giftRecipient?: OrderRow['giftRecipient']
  /** Who places it, for its history; the checkout by default. */
  by?: 'operator'
  /** At least one, unless it adds to another order; equal products and variations are merged. */
  lines: readonly NewLine[]
  coupons: readonly NewCoupon[]
  shipping: ChosenShipping | null
  /** Null for an order that gets the attribution of another one. */
  attribution: NewAttribution | null
  /** The order that it adds to, and the goods of that, which its shipping carries if it has no lines. */
  addedTo?: { orderId: number; carried: readonly TaxedLine[] }
}

/** `path` is the line's path in the request (`items.0`), for the error when it is out of stock. */
export type NewLine = Omit<OrderItemRow, 'id' | 'orderId' | 'stockTaken' | 'taxRow'> & { path: string }

/**
 * How an order is shipped, and what that costs; a buyer with reverse charge pays it without the tax. `renewalMinor` is what
 * shipping the goods that renew costs alone; null when none of them is shipped.
 */
export type ChosenShipping = { method: ChosenMethod; amountMinor: number; renewalMinor: number | null }

/** `path` is the coupon's path in the request (`couponCode`, `couponCodes.1`). */
export type NewCoupon = Omit<OrderCouponRow, 'id' | 'orderId' | 'counted' | 'mailboxHash'> & { path: string }

const newOrder = insertion(orders)
const newItem = insertion(orderItems)
const newCoupon = insertion(orderCoupons)

/**
 * Inserts a pending order: takes stock and coupon uses, and writes the lines, the attribution with visit and referral,
 * the first audit row and the event `order.created`.
 *
 * @throws AppError VALIDATION_FAILED on the paths of lines and coupons that are no longer available. Roll the
 *   transaction back then, because the available ones have been taken.
 */
export function insertOrder(tx: Tx, sale: NewOrder, now: number): OrderRow {
  const { lines, coupons, shipping, attribution, holdMinutes, addedTo, by = 'checkout', ...columns } = sale
  const items = takeHold(tx, sale)
  const shippingMinor = shipping?.amountMinor ?? 0
  const { currency: soldIn } = sale
  const terms = saleTerms(tx, sale)
  const totals =
    lines.length === 0 && addedTo !== undefined
      ? shippingTotals(terms, { lines: addedTo.carried, shippingMinor, currency: soldIn })
      : computeTotals(terms, { lines, shippingMinor, currency: soldIn })
  const order = newOrder.get(tx, {
    ...columns,
    ...toColumns(totals),
    addedTo: addedTo?.orderId ?? null,
    emailKey: sale.email === null ? null : emailKey(sale.email),
    status: 'pending',
    shippingMethod: shipping?.method ?? null,
    renewalShippingMinor: shipping?.renewalMinor ?? null,
    publicToken: randomToken(),
    holdEndsAt: now + holdMinutes * 60_000,
    createdAt: now,
    updatedAt: now
  })
  const { id: orderId, totalMinor, currency } = order
  for (const [index, item] of items.entries())
    newItem.run(tx, { ...item, orderId, taxRow: totals.tax.rowOf[index] ?? null })
  for (const coupon of coupons) newCoupon.run(tx, { ...coupon, orderId, counted: 1 })
  insertTaxes(tx, orderId, totals.tax)
  recordMove(tx, { orderId, from: null, to: 'pending', by, reason: 'created', at: now })
  emit(tx, 'order.created', { orderId, totalMinor, currency }, now)
  if (order.vatCheck !== null) emitVatCheck(tx, orderId, order.vatCheck, now)
  if (attribution !== null) stampAttribution(tx, order, attribution, now)
  return order
}

/**
 * Takes the stock and the coupon uses of a sale, and returns its lines with what each has taken.
 *
 * @throws AppError VALIDATION_FAILED naming every line and coupon that is not available
 */
function takeHold(tx: Tx, { lines, coupons }: NewOrder): (NewLine & Pick<OrderItemRow, 'stockTaken'>)[] {
  const refusals: Refusal[] = []
  const items = lines.map((line) => {
    const stockTaken = takeUnits(tx, line, line.quantity)
    if (stockTaken === null) {
      const problem = notEnough(`${line.path}.quantity`, line.name, countedStock(tx, line)?.units ?? 0)
      refusals.push(refusal(problem, { message: 'There is not enough of this in stock.' }))
    }
    return { ...line, stockTaken: stockTaken ?? 0 }
  })
  for (const coupon of coupons) {
    const outcome = takeCouponUse(tx, coupon)
    if (outcome !== 'taken') refusals.push(couponRefusal(coupon.path, outcome))
  }
  if (refusals.length > 0) throw cartRefused(refusals)
  return items
}
