import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ProductRow } from '../catalog/rows.ts'
import { products } from '../catalog/schema.ts'
import type { ShopContext } from '../context.ts'
import { doubts, feedEntries, feedTerms, refusals } from './items.ts'
import type { Doubt, FeedEntry, Refusal } from './items.ts'

const stepSize = 50

const nextStep = statement((orm) =>
  orm
    .select()
    .from(products)
    .where(and(eq(products.published, true), gt(products.id, sql.placeholder('after'))))
    .orderBy(asc(products.id))
    .limit(stepSize)
    .prepare()
)

/** Every published product with its entries of the feed. Few of them are in memory at a time. */
export function* feedProducts(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  now: number
): Generator<{ product: ProductRow; entries: FeedEntry[] }> {
  const terms = feedTerms(shop)
  for (const product of publishedProducts(shop.db))
    yield { product, entries: feedEntries(shop.db, product, terms, now) }
}

function* publishedProducts(db: Db): Generator<ProductRow> {
  let after = 0
  for (;;) {
    const step = nextStep(db).all({ after })
    yield* step
    const last = step.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/** How many published products market places refuse or doubt, by reason. A product counts once for each reason. */
export type FeedReport = {
  products: number
  /** Products of which the feeds leave out at least one item. */
  refused: number
  refusals: Record<Refusal, number>
  doubts: Record<Doubt, number>
}

/** Counts what market places refuse, over all published products. */
export function feedReport(shop: Pick<ShopContext, 'db' | 'publicUrl'>, now: number): FeedReport {
  const report: FeedReport = { products: 0, refused: 0, refusals: zeros(refusals), doubts: zeros(doubts) }
  for (const { entries } of feedProducts(shop, now)) {
    const reasons = new Set(entries.flatMap((entry) => entry.refusals))
    report.products += 1
    report.refused += reasons.size > 0 ? 1 : 0
    for (const reason of reasons) report.refusals[reason] += 1
    for (const doubt of new Set(entries.flatMap((entry) => entry.doubt ?? []))) report.doubts[doubt] += 1
  }
  return report
}

function zeros<Name extends string>(names: Readonly<Record<Name, string>>): Record<Name, number> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, 0])) as Record<Name, number>
}
