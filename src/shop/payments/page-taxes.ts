import type { Db } from '../../platform/db/database.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { taxesOfOrder, taxLabel, termsOfOrder } from '../orders/totals.ts'
import type { TaxLine } from '../tax/arithmetic.ts'
import { taxOf } from '../tax/terms.ts'
import { subscriptionInterval } from './subscription-interval.ts'

/** A tax that the gateway's page adds to the lines of an order. */
export type AddedTax = {
  name: string
  amountMinor: number
  /** Charged again with each renewal. */
  isRecurring: boolean
}

/** The added taxes, and what a discount must take off them so that the order's total results. */
export type AddedTaxes = { taxes: AddedTax[]; overMinor: number }

/**
 * The taxes of an order whose prices do not include them, as lines of the gateway's page: the gateway does not compute
 * them, so that its total is the order's. With a subscription, the tax on its full price is a recurring line, because a
 * discount counts only for the first period; what the first period's discount takes off that tax is `overMinor`.
 */
export function addedTaxes(db: Db, order: OrderRow, items: readonly OrderItemRow[]): AddedTaxes {
  if (order.taxIncluded || order.taxMinor === 0) return { taxes: [], overMinor: 0 }
  const recurring = recurringTaxes(db, order, items)
  const once = new Map<string, number>()
  let overMinor = 0
  for (const [name, amountMinor] of byLabel(taxesOfOrder(db, order.id))) {
    const restMinor = amountMinor - (recurring.get(name) ?? 0)
    if (restMinor > 0) once.set(name, restMinor)
    else overMinor -= restMinor
  }
  return {
    taxes: [
      ...[...recurring].map(([name, amountMinor]) => ({ name, amountMinor, isRecurring: true })),
      ...[...once].map(([name, amountMinor]) => ({ name, amountMinor, isRecurring: false }))
    ],
    overMinor
  }
}

/** The taxes of one period of the subscriptions in an order, before discounts. */
function recurringTaxes(db: Db, order: OrderRow, items: readonly OrderItemRow[]): Map<string, number> {
  const lines = items
    .filter((item) => subscriptionInterval([item]) !== null)
    .map((item) => ({ ...item, totalMinor: item.unitPriceMinor * item.quantity, discountMinor: 0 }))
  const shippingMinor = needsShipping(lines) ? order.shippingMinor : 0
  const { lines: taxes } = taxOf(termsOfOrder(db, order, items), { lines, shippingMinor }, order.currency)
  return byLabel(taxes.filter((tax) => tax.amountMinor > 0))
}

/** The taxes by their labels. Two countries can have a rate of the same name. */
function byLabel(taxes: readonly TaxLine[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const tax of taxes) {
    const label = taxLabel(tax, false)
    sums.set(label, (sums.get(label) ?? 0) + tax.amountMinor)
  }
  return sums
}
