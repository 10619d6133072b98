import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../platform/db/database.ts'
import type { ProductInput, VariationInput } from './import/format.ts'
import { currentPrice, pricesOf, chooseVariation } from './sellable.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { categoriesOfProduct, variationsOfProduct } from './stored-product.ts'

type Sale = Pick<ProductInput, 'priceMinor' | 'salePriceMinor' | 'saleStartsAt' | 'saleEndsAt'>

/**
 * Converts an import entry in the shape of GET /store/offers to product input. An offer holds only what buyers see. If
 * its price equals the price that the shop shows, the product's prices and sale period stay. Any other price becomes the
 * price of the product, or of the variation that the offer shows. A URL that the shop itself derives is ignored. A new
 * product whose offer was sold out has no stock.
 *
 * @param row the stored product with this slug, if it exists
 */
export function resolveOffer(
  tx: Tx,
  row: ProductRow | undefined,
  offer: ProductInput,
  { urlOf, now }: { urlOf: ((slug: string) => string) | undefined; now: number }
): ProductInput {
  const isDerivedUrl = typeof offer.url === 'string' && offer.url === urlOf?.(offer.slug)
  const input = { ...offer, url: isDerivedUrl ? undefined : offer.url, categories: newCategories(tx, row, offer) }
  if (row === undefined) return offer.available === false ? { ...input, stock: offer.stock ?? 0 } : input
  if (offer.variations !== undefined) return input
  const available = variationsOfProduct(tx, row.id)
  const shown = chooseVariation(row, available) ?? null
  const sale = { salePriceMinor: offer.salePriceMinor ?? null, saleStartsAt: null, saleEndsAt: null }
  const imported = currentPrice({ priceMinor: offer.priceMinor, ...sale }, now)
  const stored = currentPrice(pricesOf(row, shown), now)
  if (imported.unitPriceMinor === stored.unitPriceMinor && imported.originalMinor === stored.originalMinor) {
    return { ...input, ...storedSale(row) }
  }
  if (shown === null) return { ...input, ...sale }
  const variations = repriced(available, shown, { ...input, ...sale })
  return { ...input, ...storedSale(row), ...periodOf(sale), variations }
}

/** An offer names its categories without the ones above them, so names that the product already shows change nothing. */
function newCategories(tx: Tx, row: ProductRow | undefined, { categories }: ProductInput): string[] | undefined {
  const shown = row === undefined ? [] : categoriesOfProduct(tx, row.id).map(({ name }) => name)
  return isDeepStrictEqual(shown, categories) ? undefined : categories
}

function storedSale({ priceMinor, salePriceMinor, saleStartsAt, saleEndsAt }: ProductRow): Sale {
  return { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt }
}

/** Without a sale price the sale period stays, because the other variations use it. */
function periodOf({
  salePriceMinor,
  ...period
}: {
  salePriceMinor: number | null
  saleStartsAt: null
  saleEndsAt: null
}) {
  return salePriceMinor === null ? {} : period
}

function repriced(
  available: readonly VariationRow[],
  shown: VariationRow,
  { priceMinor, salePriceMinor = null }: Sale
): VariationInput[] {
  return available.map(
    ({ id, sku, name, options, stock, gtin, mpn, unitMeasure, weightGrams, isDefault, ...prices }) => ({
      sku,
      name,
      options,
      stock,
      gtin,
      mpn,
      unitMeasure,
      weightGrams,
      isDefault,
      priceMinor: id === shown.id ? priceMinor : prices.priceMinor,
      salePriceMinor: id === shown.id ? salePriceMinor : prices.salePriceMinor
    })
  )
}
