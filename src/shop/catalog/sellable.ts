import type { Db } from '../../platform/db/database.ts'
import type { ProductRow, VariationRow, CouponRow } from './rows.ts'
import type { GrantSpec } from './grants.ts'
import type { ProductType } from './product-types.ts'
import { effectiveStock } from './stock.ts'
import { grantsOfProduct, productById, variationById, variationsOfProduct } from './stored-product.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { minimumChargeMinor } from '../../platform/money.ts'
import { couponScope } from './coupons.ts'

/** What one unit of a product or a variation costs a buyer: everyone (`publicPrices`), or one buyer (groups/prices.ts). */
export type PriceOf = (product: ProductRow, variation: VariationRow | null) => CurrentPrice

/** The prices of buyers who are in no group, at `now`. */
export function publicPrices(now: number): PriceOf {
  return (product, variation) => currentPrice(pricesOf(product, variation), now)
}

/** A product or variation that can be bought now, at its current price. */
export type Sellable = CurrentPrice & {
  product: ProductRow
  variation: VariationRow | null
  name: string
  type: ProductType
  grants: GrantSpec[]
  /** Units left, at least 1; null when stock is not counted. */
  stock: number | null
}

/** Why a product or variation cannot be bought, with the field of the checkout item to correct. */
export const unsellableReasons = {
  unknown_product: { field: 'productId', message: 'This product does not exist.' },
  not_published: { field: 'productId', message: 'This product is not for sale.' },
  unknown_variation: { field: 'variationId', message: 'This product does not have this variation.' },
  no_variation: { field: 'variationId', message: 'Is required: this product has variations.' },
  sold_out: { field: 'quantity', message: 'This product is sold out.' }
} as const

export type UnsellableReason = keyof typeof unsellableReasons

/**
 * What a checkout item buys, or the reason why it cannot be bought. Without a variation id, it buys the default
 * variation that the shop has set, or the only one; otherwise the buyer must choose. This only reads the stock; `takeStock` takes it.
 */
export function findSellable(
  db: Db,
  productId: number,
  variationId: number | null,
  priceOf: PriceOf
): Sellable | UnsellableReason {
  const product = productById(db, productId)
  if (product === undefined) return 'unknown_product'
  if (!product.published) return 'not_published'
  const variation = findVariation(db, product, variationId)
  if (typeof variation === 'string') return variation
  const stock = effectiveStock(product, variation)
  if (stock === 0) return 'sold_out'
  return {
    ...priceOf(product, variation),
    product,
    variation,
    name: itemName(product, variation),
    type: product.type,
    grants: grantsOfProduct(db, productId),
    stock
  }
}

/** What the shop shows of an item, whether or not it can be bought. */
export type Shown = {
  name: string
  /** Null if the item names a variation that the product does not have. */
  unitPriceMinor: number | null
  hasVariations: boolean
}

/** What the shop shows of an item; null for a product that is unknown or not published. */
export function findShown(db: Db, productId: number, variationId: number | null, priceOf: PriceOf): Shown | null {
  const product = productById(db, productId)
  if (product === undefined || !product.published) return null
  const available = variationsOfProduct(db, productId)
  const hasVariations = available.length > 0
  const byId = available.find(({ id }) => id === variationId) ?? null
  if (variationId !== null && byId === null) return { name: product.name, unitPriceMinor: null, hasVariations }
  const priced = byId ?? available.find(({ isDefault }) => isDefault) ?? available[0] ?? null
  const { unitPriceMinor } = priceOf(product, priced)
  return { name: itemName(product, byId), unitPriceMinor, hasVariations }
}

function findVariation(
  db: Db,
  product: ProductRow,
  variationId: number | null
): VariationRow | null | UnsellableReason {
  if (variationId !== null) {
    // Reads one row: a product may have thousands of variations.
    const named = variationById(db, variationId)
    return named?.productId === product.id && named.available ? named : 'unknown_variation'
  }
  const available = variationsOfProduct(db, product.id)
  if (available.length === 0) return null
  const chosen = chooseVariation(product, available)
  if (chosen === undefined) return 'sold_out'
  return chosen.isDefault || available.length === 1 ? chosen : 'no_variation'
}

/**
 * The variation whose price an offer shows: the default one if it is in stock, else the first that is. Undefined when all
 * are sold out.
 *
 * @param available the product's available variations in their order
 */
export function chooseVariation(
  product: Pick<ProductRow, 'stock'>,
  available: readonly VariationRow[]
): VariationRow | undefined {
  const buyable = available.filter((variation) => effectiveStock(product, variation) !== 0)
  return buyable.find((variation) => variation.isDefault) ?? buyable[0]
}

/** The name of a line item. */
export function itemName(product: { name: string }, variation: { name: string } | null): string {
  return variation === null ? product.name : `${product.name} - ${variation.name}`
}

/** What determines a price. A variation has its own prices and its product's sale period. */
export type Priced = {
  priceMinor: number
  salePriceMinor: number | null
  saleStartsAt: number | null
  saleEndsAt: number | null
}

export type CurrentPrice = {
  unitPriceMinor: number
  /** The regular price during a sale, else null. */
  originalMinor: number | null
}

/** The prices of a variation, or of the product when `variation` is null, with the product's sale period. */
export function pricesOf(product: Priced, variation: Pick<Priced, 'priceMinor' | 'salePriceMinor'> | null): Priced {
  const { priceMinor, salePriceMinor } = variation ?? product
  return { priceMinor, salePriceMinor, saleStartsAt: product.saleStartsAt, saleEndsAt: product.saleEndsAt }
}

/**
 * The price of one unit at `now`. A sale includes its start and excludes its end; without a start or end it is open on
 * that side. A sale price that is not below the regular price is ignored.
 */
export function currentPrice(priced: Priced, now: number): CurrentPrice {
  const { priceMinor, salePriceMinor } = priced
  if (salePriceMinor === null || salePriceMinor >= priceMinor || !isWithin(priced, now)) {
    return { unitPriceMinor: priceMinor, originalMinor: null }
  }
  return { unitPriceMinor: salePriceMinor, originalMinor: priceMinor }
}

/** The next time after `now` at which the price may change; null when it does not change. */
export function nextPriceChange({ salePriceMinor, saleStartsAt, saleEndsAt }: Priced, now: number): number | null {
  if (salePriceMinor === null) return null
  const ahead = [saleStartsAt, saleEndsAt].filter((at): at is number => at !== null && at > now)
  return ahead.length === 0 ? null : Math.min(...ahead)
}

function isWithin({ saleStartsAt, saleEndsAt }: Priced, now: number): boolean {
  return (saleStartsAt === null || saleStartsAt <= now) && (saleEndsAt === null || now < saleEndsAt)
}

type Query = { percentBps: number; amountMinor: number; minimumMinor: number; products: string; categories: string }

const belowMinimum = rawStatement<Query, { slug: string }>(`
  SELECT slug FROM (
    SELECT p.slug, coalesce(p.sale_price_minor, p.price_minor)
           - (coalesce(p.sale_price_minor, p.price_minor) * @percentBps + 5000) / 10000 - @amountMinor AS left_minor
      FROM products p
     WHERE p.published = 1
       AND ((@products = '[]' AND @categories = '[]')
         OR p.id IN (SELECT value FROM json_each(@products))
         OR p.id IN (SELECT product_id FROM product_categories
                      WHERE category_id IN (SELECT value FROM json_each(@categories))))
  ) WHERE left_minor > 0 AND left_minor < @minimumMinor ORDER BY slug LIMIT 6`)

/**
 * Slugs of published products whose price with this coupon, bought alone, is above zero but below Stripe's minimum charge.
 * At most six.
 */
export function productsBelowMinimum(db: Db, coupon: CouponRow, currency: string): string[] {
  const { productIds, categoryIds } = couponScope(db, coupon.id)
  const rows = belowMinimum(db).all({
    percentBps: coupon.percentBps ?? 0,
    amountMinor: coupon.amountMinor ?? 0,
    minimumMinor: minimumChargeMinor(currency),
    products: JSON.stringify(productIds),
    categories: JSON.stringify(categoryIds)
  })
  return rows.map(({ slug }) => slug)
}
