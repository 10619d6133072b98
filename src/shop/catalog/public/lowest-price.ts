import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { statement } from '../../../platform/db/database.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { currentPrice, pricesOf } from '../sellable.ts'
import type { Priced } from '../sellable.ts'
import type { ProductRow, VariationRow } from '../rows.ts'
import { priceHistory } from '../schema.ts'

const dayMs = 24 * 60 * 60_000
/** A sale that begins more than this ago has no lowest price before it any more. */
const keptMs = 400 * dayMs
/** Prices that stood for less are steps of one change, such as of the period before the prices. */
const stepMs = 1000

/** A price that stood from one time to another. */
type Stood = { from: number; to: number; minor: number }

const historyOf = statement((orm) =>
  orm
    .select()
    .from(priceHistory)
    .where(
      and(
        eq(priceHistory.productId, sql.placeholder('productId')),
        sql`${priceHistory.variationId} IS ${sql.placeholder('variationId')}`
      )
    )
    .orderBy(desc(priceHistory.until), desc(priceHistory.id))
    .limit(1000)
    .prepare()
)

/**
 * The lowest price of the 30 days before the price at `now` began, in minor units. A reduction that the shop announces must
 * name it (directive 98/6/EC art. 6a).
 *
 * @returns null outside a sale, and for a product that had no other price before
 */
export function lowestBefore(db: Db, product: ProductRow, variation: VariationRow | null, now: number): number | null {
  const priced = pricesOf(product, variation)
  const { unitPriceMinor, originalMinor } = currentPrice(priced, now)
  if (originalMinor === null) return null
  const rows = historyOf(db).all({ productId: product.id, variationId: variation?.id ?? null })
  const before = [...rows.map(({ until }) => until), product.createdAt]
  const stood = [{ ...priced, until: now }, ...rows].flatMap((prices, index) =>
    standing(prices, before[index] ?? product.createdAt, Math.min(prices.until, now))
  )
  const lasted = stood.filter(({ from, to }, index) => index === 0 || to - from >= stepMs)
  const other = lasted.findIndex(({ minor }) => minor !== unitPriceMinor)
  const [start, earlier] = [lasted[other - 1]?.from ?? now, other === -1 ? [] : lasted.slice(other)]
  const within = earlier.filter(({ to }) => to > start - 30 * dayMs).map(({ minor }) => minor)
  return within.length === 0 ? null : Math.min(...within)
}

/** The prices from one time to another, the latest first: before, during and after a sale. */
function standing(prices: Priced, from: number, to: number): Stood[] {
  const { saleStartsAt, saleEndsAt } = prices
  const cuts = [saleStartsAt, saleEndsAt].filter((at): at is number => at !== null && at > from && at < to)
  const times = [from, ...cuts.toSorted((a, b) => a - b), to]
  return times
    .slice(0, -1)
    .map((at, index) => ({ from: at, to: times[index + 1] ?? to, minor: currentPrice(prices, at).unitPriceMinor }))
    .toReversed()
}

/** Deletes prices of long ago; returns how many. */
export function purgePrices(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(priceHistory)
    .where(lt(priceHistory.until, now - keptMs))
    .limit(limit)
    .run().changes
}
