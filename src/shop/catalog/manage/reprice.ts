import { z } from 'zod'
import { validationFailed } from '../../../errors.ts'
import { write, rawStatement } from '../../../platform/db/database.ts'
import type { Db } from '../../../platform/db/database.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import { chargeStepMinor, percentOf } from '../../../platform/money.ts'
import { amount } from '../../../platform/input-fields.ts'
import { getCategoryId } from './list-products.ts'

export type Repricing = {
  /** 500 is 5 %; negative for lower prices. */
  percentBps: number
  /** Prices are rounded to a multiple of this; at least one. */
  stepMinor: number
  category?: string | undefined
}

/** A price that changes; `sku` is null for the product's own. */
export type PriceChange = {
  slug: string
  sku: string | null
  field: 'price' | 'salePrice'
  fromMinor: number
  toMinor: number
}

type Prices = { id: number; priceMinor: number; salePriceMinor: number | null }
type Found = Prices & { slug: string; sku: string | null; isRepeated: 0 | 1 }

const inCategory = `(@category = 0 OR EXISTS (
  SELECT 1 FROM product_categories pc WHERE pc.product_id = p.id AND pc.category_id = @category))`
const prices = rawStatement<{ category: number }, Found>(`
  SELECT p.id, p.slug, NULL AS sku, p.price_minor AS priceMinor, p.sale_price_minor AS salePriceMinor,
    EXISTS (SELECT 1 FROM variations v WHERE v.product_id = p.id AND v.available) AS isRepeated
  FROM products p WHERE ${inCategory} ORDER BY p.position, p.id`)
const variationPrices = rawStatement<{ category: number }, Found>(`
  SELECT v.id, p.slug, v.sku, v.price_minor AS priceMinor, v.sale_price_minor AS salePriceMinor, 0 AS isRepeated
  FROM variations v JOIN products p ON p.id = v.product_id
  WHERE v.available AND ${inCategory} ORDER BY p.position, p.id, v.position, v.id`)
const setProduct = rawStatement<Prices & { now: number }>(
  'UPDATE products SET price_minor = @priceMinor, sale_price_minor = @salePriceMinor, updated_at = @now WHERE id = @id'
)
const setVariation = rawStatement<Prices>(
  'UPDATE variations SET price_minor = @priceMinor, sale_price_minor = @salePriceMinor WHERE id = @id'
)

/**
 * The price changes of a repricing, for the operator to confirm. Sale prices change like prices. Free products stay free,
 * and a positive price is at least one step.
 *
 * @throws AppError NOT_FOUND for an unknown category
 */
export function planRepricing(db: Db, repricing: Repricing): PriceChange[] {
  return read(db, repricing).flatMap(({ row, isRepeated, after }) => {
    // The product's own price repeats that of its default variation.
    if (isRepeated) return []
    const { slug, sku, priceMinor, salePriceMinor } = row
    return [
      { slug, sku, field: 'price' as const, fromMinor: priceMinor, toMinor: after.priceMinor },
      ...(salePriceMinor === null || after.salePriceMinor === null
        ? []
        : [{ slug, sku, field: 'salePrice' as const, fromMinor: salePriceMinor, toMinor: after.salePriceMinor }])
    ].filter(({ fromMinor, toMinor }) => fromMinor !== toMinor)
  })
}

/**
 * Changes all prices, or those of a category, by a percentage, in one transaction.
 *
 * @throws AppError NOT_FOUND for an unknown category
 */
export function reprice(db: Db, repricing: Repricing, now: number): PriceChange[] {
  return write(db, (tx) => {
    const changes = planRepricing(tx, repricing)
    for (const { row, after } of read(tx, repricing)) {
      if (after.priceMinor === row.priceMinor && after.salePriceMinor === row.salePriceMinor) continue
      if (row.sku === null) setProduct(tx).run({ id: row.id, ...after, now })
      else setVariation(tx).run({ id: row.id, ...after })
    }
    return changes
  })
}

/**
 * What an operator typed as a percentage and a rounding step.
 *
 * @throws AppError VALIDATION_FAILED with the field
 */
export function parseRepricing(percent: string, round: string | undefined, currency: string): Repricing {
  const value = /^[+-]?\d{1,4}(\.\d{1,2})?$/.test(percent) ? Number(percent) : 0
  const percentBps = Math.round(value * 100)
  if (percentBps === 0 || percentBps <= -10_000) {
    throw validationFailed({ percent: ['Must be a percentage such as 5, -10 or 2.5, above -100.'] })
  }
  const stepMinor =
    round === undefined ? chargeStepMinor(currency) : parseWith(z.object({ round: amount(currency) }), { round }).round
  if (stepMinor === 0) throw validationFailed({ round: ['Must be an amount such as 0.05.'] })
  return { percentBps, stepMinor }
}

function read(db: Db, { category, ...repricing }: Repricing) {
  const values = { category: category === undefined ? 0 : getCategoryId(db, category) }
  const products = prices(db).all(values)
  const bySlug = Map.groupBy(variationPrices(db).all(values), ({ slug }) => slug)
  return products
    .flatMap((product) => [product, ...(bySlug.get(product.slug) ?? [])])
    .map((row) => ({
      row,
      isRepeated: row.isRepeated === 1,
      after: {
        priceMinor: changed(row.priceMinor, repricing),
        salePriceMinor: row.salePriceMinor === null ? null : changed(row.salePriceMinor, repricing)
      }
    }))
}

/** A price after a change by a percentage. A free one stays free. */
export function changed(minor: number, { percentBps, stepMinor }: Omit<Repricing, 'category'>): number {
  if (minor === 0) return 0
  const exact = percentOf(minor, 10_000 + percentBps)
  return Math.max(stepMinor, Math.round(exact / stepMinor) * stepMinor)
}
