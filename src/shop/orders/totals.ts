import type { DraftLine } from './draft.ts'

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
}

const withoutTax: Tax = { included: true, amountMinor: 0 }

/** The sums of an order or a quote. */
export function totalsOf(
  lines: readonly Pick<DraftLine, 'totalMinor' | 'discountMinor'>[],
  { shippingMinor, tax }: Pick<Totals, 'shippingMinor' | 'tax'> = { shippingMinor: 0, tax: withoutTax }
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
