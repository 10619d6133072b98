import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import type { TaxLine } from '../tax/arithmetic.ts'
import { couponsOf } from './find.ts'
import { taxesOfOrder, taxLabel } from './order-taxes.ts'
import type { OrderRow } from './rows.ts'

/** A row of sums under the lines of an order. `amount` is for display. */
export type SummaryRow = { label: string; amount: string; isTotal: boolean }

/**
 * The rows from the subtotal to the total of an order, as its page, its hosted page and its emails show them. Without
 * discounts, shipping and tax, the total is the only row.
 *
 * @param taxLines the taxes that the order would have, if it is not stored yet
 */
export function summaryRows(
  db: Db,
  order: OrderRow,
  taxLines: readonly TaxLine[] = taxesOfOrder(db, order.id)
): SummaryRow[] {
  const { currency, subtotalMinor, shippingMinor, shippingMethod, taxIncluded, totalMinor } = order
  const row = (label: string, minor: number, isTotal = false): SummaryRow => ({
    label,
    amount: formatMoney(minor, currency),
    isTotal
  })
  const discounts = discountsOf(db, order).map(({ label, amountMinor }) => row(label, -amountMinor))
  const taxes = taxLines.map((tax) => row(taxLabel(tax, taxIncluded), tax.amountMinor))
  const parts = [
    ...discounts,
    ...(shippingMethod === null ? [] : [row(`Shipping: ${shippingMethod.name}`, shippingMinor)]),
    ...(taxIncluded ? [] : taxes)
  ]
  return [
    ...(parts.length === 0 ? [] : [row('Subtotal', subtotalMinor)]),
    ...parts,
    row('Total', totalMinor, true),
    ...(taxIncluded ? taxes : [])
  ]
}

/** The discounts of an order, which add up to its `discountMinor`. */
export function discountsOf(db: Db, { id, discountMinor }: OrderRow): { label: string; amountMinor: number }[] {
  const coupons = couponsOf(db, id).filter((coupon) => coupon.discountMinor > 0)
  const byCoupons = coupons.reduce((sum, coupon) => sum + coupon.discountMinor, 0)
  // An order that was paid with another amount than ordered has another discount than its coupons.
  return byCoupons === discountMinor
    ? coupons.map((coupon) => ({ label: `Coupon ${coupon.code}`, amountMinor: coupon.discountMinor }))
    : [{ label: 'Discount', amountMinor: discountMinor }]
}
