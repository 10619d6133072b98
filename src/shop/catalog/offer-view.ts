import { toMajor } from '../../platform/money.ts'
import { currentPrice, nextPriceChange, pricesOf } from './price.ts'
import { isAvailable } from './public/card.ts'
import type { Image } from './public/image.ts'
import type { ViewTerms } from './public/terms.ts'
import type { ProductRow, VariationRow } from './rows.ts'
import { chooseVariation } from './variation-choice.ts'

/** A product with everything that its offer shows. */
export type OfferParts = {
  product: ProductRow
  /** The available variations, in their order. */
  variations: VariationRow[]
  categories: string[]
  tags: string[]
  images: Image[]
}

export type Offer = {
  offerId: string
  productId: number
  productSlug: string
  name: string
  description: string
  url: string
  price: { currency: string; amount: number; originalAmount: number | null; isOnSale: boolean }
  categories: string[]
  tags: string[]
  image: Image | null
  available: boolean
  /** 0 for a product without variations. */
  variationCount: number
}

/** The public offer (docs/interface.md 2.6), with the next time at which its price may change. */
export function toOffer(
  { product, variations, categories, tags, images }: OfferParts,
  { currency, urlOf }: ViewTerms,
  now: number
): { view: Offer; changesAt: number | null } {
  const price = offerPrice(product, variations, currency, now)
  const view = {
    offerId: `offer-${product.id}`,
    productId: product.id,
    productSlug: product.slug,
    name: product.name,
    description: product.description,
    url: product.url ?? urlOf(product.slug),
    price: price.view,
    categories,
    tags,
    image: images[0] ?? null,
    available: isAvailable(product, variations),
    variationCount: variations.length
  }
  return { view, changesAt: price.changesAt }
}

/** The price that an offer shows, and the next time at which it may change. */
export function offerPrice(
  product: ProductRow,
  variations: readonly VariationRow[],
  currency: string,
  now: number
): { view: Offer['price']; changesAt: number | null } {
  const priced = pricesOf(product, chooseVariation(product, variations) ?? null)
  const { unitPriceMinor, originalMinor } = currentPrice(priced, now)
  const view = {
    currency,
    amount: toMajor(unitPriceMinor, currency),
    originalAmount: originalMinor === null ? null : toMajor(originalMinor, currency),
    isOnSale: originalMinor !== null
  }
  return { view, changesAt: nextPriceChange(priced, now) }
}
