import type { CommissionBase } from '../referrals/commission.ts'
import type { DraftLine } from './draft.ts'
import type { OrderRow } from './rows.ts'

/** The sums of an order, in minor units: subtotal − discount + shipping (+ tax that prices do not include) = total. */
export type Totals = {
  /** The lines before discounts. */
  subtotalMinor: number
  discountMinor: number
  shippingMinor: number
  tax: Tax
  totalMinor: number
}

export type Tax = {
  /** Whether the prices include the tax. */
  included: boolean
  amountMinor: number
  /** The part of the tax that is on the goods. The rest is on the shipping. */
  goodsMinor: number
}

const withoutTax: Tax = { included: true, amountMinor: 0, goodsMinor: 0 }

/** The sums of an order or a quote. */
export function totalsOf(
  lines: readonly Pick<DraftLine, 'totalMinor' | 'discountMinor'>[],
  { shippingMinor = 0, tax = withoutTax }: Partial<Pick<Totals, 'shippingMinor' | 'tax'>> = {}
): Totals {
  const goodsMinor = lines.reduce((sum, line) => sum + line.totalMinor, 0)
  const discountMinor = lines.reduce((sum, line) => sum + line.discountMinor, 0)
  return {
    subtotalMinor: goodsMinor + discountMinor,
    discountMinor,
    shippingMinor,
    tax,
    totalMinor: goodsMinor + shippingMinor + (tax.included ? 0 : tax.amountMinor)
  }
}

/** The columns of an order that store its sums. */
export type SumColumns = Pick<
  OrderRow,
  'subtotalMinor' | 'discountMinor' | 'shippingMinor' | 'taxMinor' | 'goodsTaxMinor' | 'taxIncluded' | 'totalMinor'
>

/** The sums as the columns of an order. */
export function toColumns({ tax, ...sums }: Totals): SumColumns {
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
