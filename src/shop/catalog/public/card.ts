import type { Db } from '../../../platform/db/database.ts'
import { toIso } from '../../../platform/iso-time.ts'
import { codePoints } from '../../../platform/text.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { effectiveStock } from '../stock.ts'
import { categoriesOfProduct, variationsOfProduct } from '../stored-product.ts'
import { chooseVariation } from '../sellable.ts'
import { imagesOf } from './image.ts'
import { lowestPrice, nextChange } from './price.ts'
import type { Card } from './shapes.ts'
import type { ViewTerms } from './categories.ts'

const summaryLength = 200

/** A product as a card, and the next time at which it may change by itself. */
export function toCard(
  db: Db,
  product: ProductRow,
  terms: ViewTerms,
  now: number
): { view: Card; changesAt: number | null } {
  const { id, slug, name, type, url, updatedAt } = product
  const variations = variationsOfProduct(db, id)
  const view = {
    productId: id,
    slug,
    name,
    summary: summaryOf(product.description),
    url: url ?? terms.urlOf(slug),
    type,
    categories: categoriesOfProduct(db, id).map(({ slug, name }) => ({ slug, name })),
    price: lowestPrice(db, product, variations, terms.currency, now),
    image: imagesOf(db, { productId: id, variationId: null }, terms.publicUrl)[0] ?? null,
    available: isAvailable(product, variations),
    variationCount: variations.length,
    updatedAt: toIso(updatedAt)
  }
  return { view, changesAt: nextChange(product, variations, now) }
}

/**
 * Whether a published product can be bought now.
 *
 * @param variations the available variations
 */
export function isAvailable(product: Pick<ProductRow, 'stock'>, variations: readonly VariationRow[]): boolean {
  if (variations.length === 0) return effectiveStock(product, null) !== 0
  return chooseVariation(product, variations) !== undefined
}

/** The beginning of a description in one line, cut at a space. */
export function summaryOf(description: string): string {
  const line = description
    .slice(0, 8 * summaryLength)
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (codePoints(line) <= summaryLength) return line
  const start = Array.from(line).slice(0, summaryLength)
  const space = start.lastIndexOf(' ')
  return `${start.slice(0, space > summaryLength / 2 ? space : -1).join('')}…`
}
