import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { minimumChargeMinor } from '../../platform/money.ts'
import { couponScope } from './coupons.ts'
import type { CouponRow } from './rows.ts'

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
