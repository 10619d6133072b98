import { eq } from 'drizzle-orm'
import { totalStock } from './stock.ts'
import { AppError } from '../../errors.ts'
import { toMajor } from '../../platform/money.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { optionsOf } from './grants.ts'
import { offerParts, offerPrice, toOffer } from './offers.ts'
import { isAvailable } from './public/card.ts'
import type { ViewTerms } from './public/categories.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { products } from './schema.ts'
import { indexProduct } from './search/index-product.ts'
import { grantsOfProduct, productById, productBySlug, variationsOfProduct } from './stored-product.ts'

/** Finds a product by its slug, or by its id in digits. A slug wins over an id. @throws AppError NOT_FOUND */
export function getProduct(db: Db, slugOrId: string): ProductRow {
  const bySlug = productBySlug(db, slugOrId)
  const row = bySlug ?? (/^\d{1,15}$/.test(slugOrId) ? productById(db, Number(slugOrId)) : undefined)
  if (row === undefined) throw new AppError('NOT_FOUND', 'No product has this slug or id.')
  return row
}

/** Publishes or unpublishes a product. Without a change nothing is written. @throws AppError NOT_FOUND */
export function setPublished(db: Db, slugOrId: string, published: boolean, now: number): ProductRow {
  return write(db, (tx) => {
    const row = getProduct(tx, slugOrId)
    if (row.published === published) return row
    const changed = { published, updatedAt: now }
    tx.orm.update(products).set(changed).where(eq(products.id, row.id)).run()
    indexProduct(tx, row.id)
    return { ...row, ...changed }
  })
}

/** Whether a product can be bought, and if not, why. */
export type ProductState = 'listed' | 'sold_out' | 'unpublished'

/** A product as operators see it: its offer, with stock, variations, grants and the other fields that buyers don't see. */
export function toProduct(db: Db, row: ProductRow, terms: ViewTerms, now: number) {
  const parts = offerParts(db, row, terms)
  return {
    ...toOffer(parts, terms, now).view,
    state: stateOf(row, parts.variations),
    type: row.type,
    stock: row.stock,
    position: row.position,
    brand: row.brand,
    manufacturer: row.manufacturer,
    responsiblePerson: row.responsiblePerson,
    safetyInfo: row.safetyInfo,
    ...unitFacts(row),
    cost: row.costMinor === null ? null : toMajor(row.costMinor, terms.currency),
    options: optionsOf(parts.variations),
    variations: parts.variations.map((variation) => toVariation(variation, terms.currency)),
    grants: grantsOfProduct(db, row.id)
  }
}

export type ProductView = ReturnType<typeof toProduct>

/**
 * What a table shows of a product. `stock` is that of all its variations together; null when the stock of one is not
 * counted.
 */
export function toBrief(
  db: Db,
  row: ProductRow,
  { currency }: Pick<ViewTerms, 'currency'>,
  now: number
): Pick<ProductView, 'price' | 'stock' | 'state'> {
  const variations = variationsOfProduct(db, row.id)
  return {
    price: offerPrice(row, variations, currency, now).view,
    stock: totalStock(row, variations),
    state: stateOf(row, variations)
  }
}

function stateOf(row: ProductRow, variations: VariationRow[]): ProductState {
  if (!row.published) return 'unpublished'
  return isAvailable(row, variations) ? 'listed' : 'sold_out'
}

function toVariation(row: VariationRow, currency: string) {
  const { id, sku, name, options, stock, isDefault, priceMinor, salePriceMinor } = row
  return {
    variationId: id,
    sku,
    name,
    options,
    price: toMajor(priceMinor, currency),
    salePrice: salePriceMinor === null ? null : toMajor(salePriceMinor, currency),
    stock,
    isDefault,
    ...unitFacts(row)
  }
}

/** What is true of a unit; null of a variation means that it has the value of its product. */
function unitFacts({ weightGrams, gtin, mpn, unitMeasure }: ProductRow | VariationRow) {
  return { weightGrams, gtin, mpn, unitMeasure }
}
