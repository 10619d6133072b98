import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { minimumChargeMinor } from '../../platform/money.ts'
import { couponScope } from './coupons.ts'
import type { CouponRow } from './rows.ts'

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
