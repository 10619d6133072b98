import type { CommissionBase } from '../referrals/commission.ts'
import { shippingWithoutTax, taxOf } from '../tax/tax-of.ts'
import type { OrderTax, TaxedLine } from '../tax/tax-of.ts'
import type { SaleTerms } from '../tax/terms.ts'
import type { OrderRow } from './rows.ts'

/** The sums of an order, in minor units: subtotal − discount + shipping (+ tax that prices do not include) = total. */
export type Totals = {
  /** The lines before discounts. */
  subtotalMinor: number
  discountMinor: number
  shippingMinor: number
  /** What the shipping costs with the tax that the buyer does not pay; null if that is the same. */
  listShippingMinor: number | null
  tax: OrderTax
  /** Whether the buyer owes the tax instead of the shop. */
  reverseCharge: boolean
  totalMinor: number
}

type Sold = { lines: readonly TaxedLine[]; shippingMinor: number; currency: string }

/**
 * The sums of a cart or an order: the one function that computes them. The prices of the lines are what this buyer pays;
 * the shipping is at its list price.
 */
export function computeTotals(terms: SaleTerms, { lines, shippingMinor: listMinor, currency }: Sold): Totals {
  const shippingMinor = chargedShipping(terms, { lines, shippingMinor: listMinor, currency })
  const tax = taxOf(terms, { lines, shippingMinor }, currency)
  const listShippingMinor = terms.removed === null ? null : listMinor
  return totalsOf(lines, { shippingMinor, listShippingMinor, tax, ...terms })
}

/** What shipping with a list price costs a buyer whose sale is taxed on these terms. */
export function chargedShipping({ removed }: Pick<SaleTerms, 'removed'>, { currency, ...listed }: Sold): number {
  return removed === null ? listed.shippingMinor : shippingWithoutTax(removed, listed, currency)
}

type Parts = Pick<Totals, 'shippingMinor' | 'listShippingMinor' | 'tax' | 'reverseCharge'>

/** The sums of lines whose tax is known. */
export function totalsOf(
  lines: readonly Pick<TaxedLine, 'totalMinor' | 'discountMinor'>[],
  { shippingMinor, listShippingMinor, tax, reverseCharge }: Parts
): Totals {
  const goodsMinor = lines.reduce((sum, line) => sum + line.totalMinor, 0)
  const discountMinor = lines.reduce((sum, line) => sum + line.discountMinor, 0)
  return {
    subtotalMinor: goodsMinor + discountMinor,
    discountMinor,
    shippingMinor,
    listShippingMinor,
    tax,
    reverseCharge,
    totalMinor: goodsMinor + shippingMinor + (tax.included ? 0 : tax.amountMinor)
  }
}

/** The columns of an order that store its sums. */
export type SumColumns = Pick<
  OrderRow,
  'subtotalMinor' | 'discountMinor' | 'shippingMinor' | 'taxMinor' | 'goodsTaxMinor' | 'taxIncluded' | 'totalMinor'
>
type AllColumns = SumColumns & Pick<OrderRow, 'listShippingMinor' | 'reverseCharge'>

/** The sums as the columns of an order. */
export function toColumns({ tax, ...sums }: Totals): AllColumns {
  return { ...sums, taxMinor: tax.amountMinor, goodsTaxMinor: tax.goodsMinor, taxIncluded: tax.included }
}

/** What the goods of an order cost after discounts and without tax, in minor units. Commissions are a share of it. */
export function netGoodsMinor(order: Omit<SumColumns, 'shippingMinor' | 'taxMinor' | 'totalMinor'>): number {
  const { subtotalMinor, discountMinor, goodsTaxMinor, taxIncluded } = order
  return subtotalMinor - discountMinor - (taxIncluded ? goodsTaxMinor : 0)
}

/** What the commission of an order is computed from. */
export function commissionBaseOf(order: OrderRow): CommissionBase {
  const { totalMinor, refundedMinor } = order
  return { baseMinor: netGoodsMinor(order), totalMinor, refundedMinor }
}
