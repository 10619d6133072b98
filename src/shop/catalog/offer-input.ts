import type { Tx } from '../../platform/db/database.ts'
import type { ProductInput, VariationInput } from './import/format.ts'
import { currentPrice, pricesOf } from './price.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { variationsOfProduct } from './stored-product.ts'
import { chooseVariation } from './variation-choice.ts'

type Sale = Pick<ProductInput, 'priceMinor' | 'salePriceMinor' | 'saleStartsAt' | 'saleEndsAt'>

/**
 * Turns an entry in the shape of GET /store/offers into what it says about the product. It holds what a buyer was shown:
 * a price that the shop shows already says nothing of sales to come, and the address that the shop gives every product
 * says nothing at all. Another price becomes that of the product, or of the variation whose price was shown.
 */
export function resolveOffer(
  tx: Tx,
  row: ProductRow | undefined,
  offer: ProductInput,
  { urlOf, now }: { urlOf: ((slug: string) => string) | undefined; now: number }
): ProductInput {
  const isOwnAddress = typeof offer.url === 'string' && offer.url === urlOf?.(offer.slug)
  const input = { ...offer, url: isOwnAddress ? undefined : offer.url }
  if (row === undefined || offer.variations !== undefined) return input
  const available = variationsOfProduct(tx, row.id)
  const shown = chooseVariation(row, available) ?? null
  const sale = { salePriceMinor: offer.salePriceMinor ?? null, saleStartsAt: null, saleEndsAt: null }
  const said = currentPrice({ priceMinor: offer.priceMinor, ...sale }, now)
  const known = currentPrice(pricesOf(row, shown), now)
  if (said.unitPriceMinor === known.unitPriceMinor && said.originalMinor === known.originalMinor) {
    return { ...input, ...salesOf(row) }
  }
  if (shown === null) return { ...input, ...sale }
  return { ...input, ...salesOf(row), ...windowOf(sale), variations: repriced(available, shown, { ...input, ...sale }) }
}

function salesOf({ priceMinor, salePriceMinor, saleStartsAt, saleEndsAt }: ProductRow): Sale {
  return { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt }
}

/** A price without a sale leaves the window to the other variations. */
function windowOf({
  salePriceMinor,
  ...window
}: {
  salePriceMinor: number | null
  saleStartsAt: null
  saleEndsAt: null
}) {
  return salePriceMinor === null ? {} : window
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
