import type { Tx } from '../../platform/db/database.ts'
import type { ProductInput, VariationInput } from './import/format.ts'
import { currentPrice, pricesOf } from './price.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { variationsOfProduct } from './stored-product.ts'
import { chooseVariation } from './variation-choice.ts'

type Sale = Pick<ProductInput, 'priceMinor' | 'salePriceMinor' | 'saleStartsAt' | 'saleEndsAt'>

/**
 * Converts an import entry in the shape of GET /store/offers to product input. An offer holds only what buyers see. If
 * its price equals the price that the shop shows, the product's prices and sale period stay. Any other price becomes the
 * price of the product, or of the variation that the offer shows. A URL that the shop itself derives is ignored.
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
  const input = { ...offer, url: isDerivedUrl ? undefined : offer.url }
  if (row === undefined || offer.variations !== undefined) return input
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
  return available.map(({ id, sku, name, stock, isDefault, ...prices }) => ({
    sku,
    name,
    stock,
    isDefault,
    priceMinor: id === shown.id ? priceMinor : prices.priceMinor,
    salePriceMinor: id === shown.id ? salePriceMinor : prices.salePriceMinor
  }))
}
