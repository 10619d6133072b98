import type { Db } from '../../../platform/db/database.ts'
import { toMajor } from '../../../platform/money.ts'
import { isKeyOf } from '../../../platform/typed.ts'
import { measures } from '../import/fields.ts'
import { currentPrice, nextPriceChange, pricesOf } from '../sellable.ts'
import type { PriceOf } from '../sellable.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { effectiveStock } from '../stock.ts'
import { lowestBefore } from './lowest-price.ts'
import type { PublicPrice, VariationChoice } from './shapes.ts'
import type { ViewTerms } from './categories.ts'

/** The price of a product without variations, or of one variation. */
export function priceOf(
  db: Db,
  product: ProductRow,
  variation: VariationRow | null,
  currency: string,
  now: number
): PublicPrice {
  const { unitPriceMinor, originalMinor } = currentPrice(pricesOf(product, variation), now)
  const lowestMinor = lowestBefore(db, product, variation, now)
  return {
    amount: toMajor(unitPriceMinor, currency),
    originalAmount: originalMinor === null ? null : toMajor(originalMinor, currency),
    lowestAmount: lowestMinor === null ? null : toMajor(lowestMinor, currency),
    unitPrice: unitPriceOf(unitPriceMinor, variation?.unitMeasure ?? product.unitMeasure, currency),
    currency,
    from: false
  }
}

/** The price of a kilogram, litre or metre of what one unit contains; null if that is not known, or exactly one. */
function unitPriceOf(minor: number, measure: string | null, currency: string): PublicPrice['unitPrice'] {
  const [amount = '', unit = ''] = measure?.split(' ') ?? []
  if (minor === 0 || !isKeyOf(measures, unit)) return null
  const { base, count } = measures[unit]
  if (Number(amount) === count) return null
  return { amount: toMajor(Math.round((minor * count) / Number(amount)), currency), unit: base }
}

/**
 * The price that a card shows: the lowest of the variations that can be bought, or of all when they are sold out.
 *
 * @param variations the available variations
 */
export function lowestPrice(
  db: Db,
  product: ProductRow,
  variations: readonly VariationRow[],
  currency: string,
  now: number
): PublicPrice {
  const prices = comparedVariations(product, variations).map((variation) =>
    priceOf(db, product, variation, currency, now)
  )
  const [first = priceOf(db, product, null, currency, now), ...others] = prices
  const lowest = others.reduce((best, price) => (price.amount < best.amount ? price : best), first)
  return { ...lowest, from: prices.some(({ amount }) => amount !== lowest.amount) }
}

/** The variations among which a card shows the lowest price: those that can be bought, or all when they are sold out. */
export function comparedVariations(product: ProductRow, variations: readonly VariationRow[]): readonly VariationRow[] {
  const buyable = variations.filter((variation) => effectiveStock(product, variation) !== 0)
  return buyable.length === 0 ? variations : buyable
}

/** The next time after `now` at which a price of the product or its variations may change. */
export function nextChange(product: ProductRow, variations: readonly VariationRow[], now: number): number | null {
  const priced = [null, ...variations].map((variation) => nextPriceChange(pricesOf(product, variation), now))
  return priced.find((at) => at !== null) ?? null
}

/** What a buyer chooses from: the available variations of a product, in their order. */
export function variationChoices(
  product: ProductRow,
  variations: readonly VariationRow[],
  terms: Pick<ViewTerms, 'currency' | 'lowStock'>,
  priceOf: PriceOf
): VariationChoice[] {
  return variations.map((variation) => {
    const stock = effectiveStock(product, variation)
    return {
      variationId: variation.id,
      name: variation.name,
      options: variation.options,
      price: toMajor(priceOf(product, variation).unitPriceMinor, terms.currency),
      available: stock !== 0,
      stockLeft: lowOnly(stock, terms)
    }
  })
}

/** How many units are left, if they are few; else null. */
export function lowOnly(stock: number | null, { lowStock }: Pick<ViewTerms, 'lowStock'>): number | null {
  return stock !== null && stock <= lowStock ? stock : null
}
