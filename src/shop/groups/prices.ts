import { eq, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { chargeStepMinor } from '../../platform/money.ts'
import { changed } from '../catalog/manage/reprice.ts'
import { isVoucher } from '../catalog/product-types.ts'
import type { ProductRow, VariationRow } from '../catalog/rows.ts'
import { publicPrices } from '../catalog/sellable.ts'
import type { CurrentPrice } from '../catalog/sellable.ts'
import { setting } from '../settings/settings.ts'
import type { GroupRow } from './groups.ts'
import { groupsOf } from './members.ts'
import { groupPrices } from './schema.ts'

const listed = statement((orm) =>
  orm
    .select()
    .from(groupPrices)
    .where(eq(groupPrices.productId, sql.placeholder('productId')))
    .prepare()
)

/** What one unit costs a buyer, and the group whose price that is; null for the price of everyone. */
export type BuyerPrice = CurrentPrice & { group: GroupRow | null }

export type BuyerPrices = (product: ProductRow, variation: VariationRow | null) => BuyerPrice

/**
 * The prices of a buyer at `now`: the one function that prices an offer for a buyer, whatever the way of buying. A unit costs
 * the lowest of the price of everyone, a sale included, and the prices of the buyer's groups. The price of a group is that
 * on its price list, else its percentage off the regular price: percentages and sales do not add up. A gift card costs
 * everyone what is on it.
 *
 * @param userId null for a guest
 */
export function buyerPrices(db: Db, userId: number | null, now: number): BuyerPrices {
  return pricesOfGroups(db, groupsOf(db, userId, now), now)
}

/** As `buyerPrices`, for a buyer in these groups. */
export function pricesOfGroups(db: Db, groups: readonly GroupRow[], now: number): BuyerPrices {
  const ofEveryone = publicPrices(now)
  const stepMinor = groups.length === 0 ? 1 : chargeStepMinor(setting(db, 'shop.currency'))
  return (product, variation) => {
    let lowest: BuyerPrice = { ...ofEveryone(product, variation), group: null }
    if (groups.length === 0 || isVoucher(product.type)) return lowest
    const rows = listed(db).all({ productId: product.id })
    for (const group of groups) {
      const unitPriceMinor =
        listPrice(rows, group, variation) ?? reduced((variation ?? product).priceMinor, group.percentBps, stepMinor)
      // The price of a group is not announced as a reduction, so it has no price to strike out.
      if (unitPriceMinor < lowest.unitPriceMinor) lowest = { unitPriceMinor, originalMinor: null, group }
    }
    return lowest
  }
}

/** The price of a variation on a price list, else that of its product. */
function listPrice(
  rows: readonly (typeof groupPrices.$inferSelect)[],
  { id }: GroupRow,
  variation: VariationRow | null
): number | undefined {
  const own = rows.filter(({ groupId }) => groupId === id)
  const exact = own.find(({ variationId }) => variationId === (variation?.id ?? null))
  return (exact ?? own.find(({ variationId }) => variationId === null))?.priceMinor
}

/** A price without a percentage of it. Only 100 % make it free. */
function reduced(minor: number, percentBps: number | null, stepMinor: number): number {
  if (percentBps === null) return minor
  return percentBps === 10_000 ? 0 : changed(minor, { percentBps: -percentBps, stepMinor })
}
