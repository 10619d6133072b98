import { and, isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { products } from '../../shop/catalog/schema.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDays, spanOf } from './days.ts'
import type { Days } from './days.ts'
import { amount, chartsByCurrency, defineReport, limitOption, money } from './report.ts'
import type { Column } from './report.ts'

type Sold = Omit<UnitsSold, 'variationId'>
/** `marginMinor`: what the units cost the buyers without tax, minus what they cost the shop; null without a cost price. */
type Named = Sold & { slug: string; name: string; marginMinor: number | null; netMinor: number | null }

const columns: readonly Column<Named>[] = [
  { key: 'slug', kind: 'text', title: 'Slug', value: ({ slug }) => slug },
  { key: 'name', kind: 'text', title: 'Name', isDetail: true, value: ({ name }) => name },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'units', kind: 'count', title: 'Units', total: 'sum', isFigure: true, value: ({ units }) => units },
  {
    key: 'refundedUnits',
    kind: 'count',
    title: 'Refunded',
    total: 'sum',
    value: ({ refundedUnits }) => refundedUnits
  },
  {
    key: 'total',
    ...money,
    title: 'Total',
    isFigure: true,
    value: amount((row) => row.totalMinor)
  },
  {
    key: 'margin',
    kind: 'money',
    title: 'Margin',
    value: amount(({ marginMinor }) => marginMinor)
  },
  {
    key: 'marginPercent',
    kind: 'percent',
    csv: 'margin_percent',
    title: 'Of net',
    value: ({ marginMinor, netMinor }) =>
      marginMinor === null || !netMinor ? null : Math.round((marginMinor / netMinor) * 1000) / 10
  }
]

/** What sold best in some days: the products with the highest totals, and the sums of all. */
export const productsReport = defineReport({
  name: 'products',
  title: 'Products',
  about: 'what sold best',
  example: 'report products --from 2026-01-01 --limit 20',
  period: shopDays,
  options: [limitOption],
  input: z.object({ limit: z.number() }),
  columns,
  totals: { label: 'All products', by: ({ currency }) => currency },
  bar: ({ totalMinor }) => totalMinor,
  read: ({ shop: { db }, period: days, options: { limit } }) => {
    const sold = byProduct(unitsSold(db, days))
    const best = withMargin(db, days, named(db, sold.slice(0, limit)))
    const left = sold.length - best.length
    return {
      head: { products: sold.length },
      rows: best,
      counted: sold.map((row) => ({ ...row, slug: '', name: '', marginMinor: null, netMinor: null })),
      figures: [{ label: 'Products sold', value: String(sold.length) }],
      charts: chartsByCurrency(
        { title: 'Best sellers', kind: 'bars', most: 20 },
        best,
        ({ name: label, totalMinor: minor }) => ({
          label,
          minor
        })
      ),
      notes: [
        'Totals are after discounts, without shipping, and with the units that were refunded later. Gift cards count here when they are sold, and in the sales report not before they are used.',
        ...(best.some(({ marginMinor }) => marginMinor !== null)
          ? [
              'The margin is the total without tax, minus the cost price that the product has today (offers set --cost).'
            ]
          : []),
        ...(left > 0 ? [`${left} more products were sold. Pass --limit for a longer list.`] : [])
      ]
    }
  }
})

function named(db: Db, sold: readonly Sold[]): Omit<Named, 'marginMinor' | 'netMinor'>[] {
  const ids = JSON.stringify(sold.map(({ productId }) => productId))
  const { id, slug, name } = products
  const isSold = sql`${id} IN (SELECT value FROM json_each(${ids}))`
  const found = db.orm.select({ id, slug, name }).from(products).where(isSold).all()
  const names = new Map(found.map((row) => [row.id, row]))
  return sold.map((row) => ({ slug: '', name: '', ...names.get(row.productId), ...row }))
}

type NetSold = { productId: number; currency: string; netMinor: number; costMinor: number }

/** The tax of a line is that of its rate; `tax_row` counts the taxes of its order. */
const netWithin = rawStatement<{ startsAt: number; endsAt: number; imported: 0 | 1; ids: string }, NetSold>(`
  SELECT i.product_id AS productId, o.currency, sum(i.quantity * p.cost_minor) AS costMinor,
    sum(CASE WHEN o.tax_included AND i.tax_row IS NOT NULL THEN
      CAST(round(i.total_minor * 1e6 / (1e6 + coalesce(
        (SELECT t.rate_millionths FROM order_taxes t WHERE t.order_id = o.id AND i.tax_row =
          (SELECT count(*) FROM order_taxes e WHERE e.order_id = o.id AND e.id < t.id)), 0)
      )) AS INTEGER) ELSE i.total_minor END) AS netMinor
  FROM orders o CROSS JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id
  WHERE o.paid_at >= @startsAt AND o.paid_at < @endsAt AND o.imported <= @imported
    AND p.cost_minor IS NOT NULL AND i.product_id IN (SELECT value FROM json_each(@ids))
  GROUP BY i.product_id, o.currency`)

/** Adds the margins of the products that have a cost price; a shop without cost prices reads no line twice. */
function withMargin(db: Db, days: Days, sold: readonly Omit<Named, 'marginMinor' | 'netMinor'>[]): Named[] {
  const { id, costMinor } = products
  const all = JSON.stringify(sold.map(({ productId }) => productId))
  const hasCost = and(sql`${id} IN (SELECT value FROM json_each(${all}))`, isNotNull(costMinor))
  const ids = JSON.stringify(
    db.orm
      .select({ id })
      .from(products)
      .where(hasCost)
      .all()
      .map((row) => row.id)
  )
  const imported = setting(db, 'reports.imported') ? 1 : 0
  const net = ids === '[]' ? [] : netWithin(db).all({ ...spanOf(db, days), imported, ids })
  const byKey = new Map(net.map((row) => [`${row.productId} ${row.currency}`, row]))
  return sold.map((row) => {
    const found = byKey.get(`${row.productId} ${row.currency}`)
    const margin = found === undefined ? null : found.netMinor - found.costMinor
    return { ...row, netMinor: found?.netMinor ?? null, marginMinor: margin }
  })
}

function byProduct(sold: readonly UnitsSold[]): Sold[] {
  const sums = Map.groupBy(sold, ({ productId, currency }) => `${productId} ${currency}`)
  return [...sums.values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : others.reduce<Sold>(sumOf, first)))
    .toSorted((a, b) => b.totalMinor - a.totalMinor || b.units - a.units || a.productId - b.productId)
}

function sumOf({ productId, currency, ...one }: Sold, other: Sold): Sold {
  return {
    productId,
    currency,
    units: one.units + other.units,
    refundedUnits: one.refundedUnits + other.refundedUnits,
    totalMinor: one.totalMinor + other.totalMinor
  }
}

/**
 * What the orders that were paid in some days contain of a product or variation, in units and minor units. `totalMinor`
 * is after discounts. `refundedUnits` are those of orders that were refunded as a whole, whenever that was.
 */
export type UnitsSold = {
  productId: number
  variationId: number | null
  currency: string
  units: number
  refundedUnits: number
  totalMinor: number
}

const unitsWithin = rawStatement<{ startsAt: number; endsAt: number; imported: 0 | 1 }, UnitsSold>(`
  SELECT i.product_id AS productId, i.variation_id AS variationId, o.currency, sum(i.quantity) AS units,
    sum(CASE WHEN o.refunded_minor = o.total_minor AND o.total_minor > 0 THEN i.quantity ELSE 0 END) AS refundedUnits,
    sum(i.total_minor) AS totalMinor
  FROM orders o CROSS JOIN order_items i ON i.order_id = o.id
  WHERE o.paid_at >= @startsAt AND o.paid_at < @endsAt AND o.imported <= @imported
  GROUP BY i.product_id, i.variation_id, o.currency`)

/** SQLite groups by sorting. A sort of few rows stays in the CPU's cache, and many sorts take half as long as a large one. */
const pieces = 64

/** What was sold in some days in the shop's time zone, a row for each product, variation and currency. */
export function unitsSold(db: Db, days: Days): UnitsSold[] {
  const { startsAt, endsAt } = spanOf(db, days)
  const step = Math.ceil((endsAt - startsAt) / pieces)
  const imported = setting(db, 'reports.imported') ? 1 : 0
  const sums = new Map<string, UnitsSold>()
  for (let at = startsAt; at < endsAt; at += step) {
    for (const row of unitsWithin(db).all({ startsAt: at, endsAt: Math.min(at + step, endsAt), imported })) {
      const key = `${row.productId}/${row.variationId ?? ''}/${row.currency}`
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, row)
      else {
        sum.units += row.units
        sum.refundedUnits += row.refundedUnits
        sum.totalMinor += row.totalMinor
      }
    }
  }
  return [...sums.values()]
}
