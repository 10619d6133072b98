import { chargeStepMinor } from '../../platform/money.ts'
import { isShipped } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { TaxClass } from './input.ts'
import { shareEvenly, taxesInPaid, taxesOf, withoutTax } from './arithmetic.ts'
import type { Taxable, Taxes, TaxLine, TaxRate } from './arithmetic.ts'

/** What decides the rate of a line. */
export type TaxedKind = { type: ProductType; taxClass: TaxClass }

/** A line with its amounts in minor units: `totalMinor` is after discounts. */
export type TaxedLine = TaxedKind & { totalMinor: number; discountMinor: number }

/** How a cart or an order is taxed. */
export type TaxTerms = {
  /** Whether the prices include the tax. */
  included: boolean
  /** The rate of a line; null if it is not taxed. */
  rateOf: (line: TaxedKind) => TaxRate | null
}

/** The tax of a cart or an order, in minor units. */
export type OrderTax = {
  included: boolean
  amountMinor: number
  /** The part of the tax that is on the goods. The rest is on the shipping. */
  goodsMinor: number
  /** A line for each rate. */
  lines: readonly TaxLine[]
}

type Carried = { lines: readonly TaxedLine[]; shippingMinor: number }

/**
 * The tax of lines and their shipping. Shipping has the rates of the goods that are shipped, in proportion to their prices.
 * Each rate is rounded once, over the whole order.
 */
export function taxOf(terms: TaxTerms, carried: Carried, currency: string): OrderTax {
  const stepMinor = chargeStepMinor(currency)
  return toOrderTax(terms, taxesOf(taxablesOf(terms, carried), { included: terms.included, stepMinor }))
}

/** The tax in what a buyer paid for lines and their shipping, which can be another amount than their total. */
export function taxInPaid(terms: TaxTerms, carried: Carried, paidMinor: number): OrderTax {
  return toOrderTax(terms, taxesInPaid(paidMinor, taxablesOf(terms, carried), terms))
}

/** The price of shipping without the taxes that it includes. */
export function shippingWithoutTax(
  rateOf: TaxTerms['rateOf'],
  { lines, shippingMinor }: Carried,
  currency: string
): number {
  const shares = shippingShares(lines, shippingMinor)
  const net = lines.map((line, index) => withoutTax(shares[index] ?? 0, rateOf(line), 1))
  const stepMinor = chargeStepMinor(currency)
  return Math.round(net.reduce((sum, share) => sum + share, 0) / stepMinor) * stepMinor
}

function taxablesOf({ rateOf }: TaxTerms, { lines, shippingMinor }: Carried): Taxable[] {
  const shares = shippingShares(lines, shippingMinor)
  return lines.map((line, index) => ({
    rate: rateOf(line),
    goodsMinor: line.totalMinor,
    shippingMinor: shares[index] ?? 0
  }))
}

/** Each line's share of the shipping: by price, or by price before discounts if discounts take off everything. */
function shippingShares(lines: readonly TaxedLine[], shippingMinor: number): number[] {
  if (shippingMinor === 0) return lines.map(() => 0)
  const shipped = lines.map((line) => (isShipped(line.type) ? line : { totalMinor: 0, discountMinor: 0 }))
  const prices = shipped.map(({ totalMinor }) => totalMinor)
  if (prices.some((price) => price > 0)) return shareEvenly(shippingMinor, prices)
  return shareEvenly(
    shippingMinor,
    shipped.map(({ discountMinor }) => discountMinor)
  )
}

function toOrderTax({ included }: TaxTerms, { lines, goodsMinor }: Taxes): OrderTax {
  const amountMinor = lines.reduce((sum, line) => sum + line.amountMinor, 0)
  return { included, amountMinor, goodsMinor, lines }
}
