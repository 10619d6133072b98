import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { countDays } from '../../platform/days.ts'
import { recentDays } from './days.ts'
import type { Days } from './days.ts'
import { unitsSold } from './products.ts'
import type { UnitsSold } from './products.ts'
import { defineReport } from './report.ts'
import type { Bar, Column } from './report.ts'

/** A stock that the shop counts: a product's, or one variation's. `sku` is the variation's, or the product's. */
type Counted = {
  productId: number
  variationId: number | null
  slug: string
  sku: string | null
  name: string
  stock: number
}

const countedStocks = rawStatement<[], Counted>(`
  SELECT id AS productId, NULL AS variationId, slug, sku, name, stock FROM products
  WHERE stock IS NOT NULL AND published
    AND (NOT EXISTS (SELECT 1 FROM variations WHERE product_id = products.id AND available)
      OR EXISTS (SELECT 1 FROM variations WHERE product_id = products.id AND available AND variations.stock IS NULL))
  UNION ALL
  SELECT p.id, v.id, p.slug, v.sku, p.name || ', ' || v.name, v.stock
  FROM variations v JOIN products p ON p.id = v.product_id
  WHERE v.stock IS NOT NULL AND v.available AND p.published`)

const states = { sold_out: 'sold out', low: 'low', ok: 'ok' } as const
type State = keyof typeof states
type Line = Counted & { state: State; sold: number; daysLeft: number | null }

/** A stock that lasts for fewer days at the pace of the period is low. */
const fewDays = 14

const columns: readonly Column<Line>[] = [
  { key: 'slug', kind: 'text', title: 'Slug', value: ({ slug }) => slug },
  { key: 'sku', kind: 'text', title: 'SKU', value: ({ sku }) => sku },
  { key: 'name', kind: 'text', title: 'Name', isDetail: true, value: ({ name }) => name },
  { key: 'state', kind: 'text', title: 'State', value: ({ state }) => state, text: ({ state }) => states[state] },
  { key: 'stock', kind: 'count', title: 'Stock', value: ({ stock }) => stock },
  { key: 'sold', kind: 'count', title: 'Sold', value: ({ sold }) => sold },
  { key: 'daysLeft', kind: 'count', title: 'Days left', value: ({ daysLeft }) => daysLeft }
]

/**
 * The stocks of published products, those that end first at the top. `sold` are the units that were paid in the days,
 * and `daysLeft` is how long the stock lasts at that pace; null if none were sold. A stock is low with at most `--low`
 * units, or if it lasts for fewer than 14 days.
 */
export const stockReport = defineReport({
  name: 'stock',
  title: 'Stock',
  about: 'what is sold out or low, and how long it lasts',
  example: 'report stock --low 10',
  period: recentDays,
  options: [
    { name: 'low', flags: '--low <n>', about: 'stock that counts as low', count: 5 },
    { name: 'all', flags: '--all', about: 'also list what has enough stock' }
  ],
  input: z.object({ low: z.number(), all: z.boolean().default(false) }),
  columns,
  read: ({ shop: { db }, period: days, periodText, options: { low, all } }) => {
    const lines = linesOf(db, days, low)
    const rows = all ? lines : lines.filter(({ state }) => state !== 'ok')
    const count = (state: State): number => lines.filter((line) => line.state === state).length
    return {
      subtitle: `what was sold from ${periodText}`,
      head: { low, counts: { soldOut: count('sold_out'), low: count('low'), ok: count('ok') } },
      rows,
      figures: [
        { label: 'Sold out', value: String(count('sold_out')) },
        { label: 'Low', value: String(count('low')) },
        { label: 'Enough', value: String(count('ok')) }
      ],
      charts: [{ title: 'Units left', kind: 'bars', bars: rows.slice(0, 20).map(toBar) }],
      notes: [
        `Low is at most ${low} units, or less than ${fewDays} days at the pace of these days.`,
        ...(rows.length < lines.length ? [`${count('ok')} products have enough. Pass --all to list them.`] : [])
      ]
    }
  }
})

function toBar({ name, stock, daysLeft }: Line): Bar {
  const days = daysLeft === null ? '' : daysLeft === 1 ? ', 1 day' : `, ${daysLeft} days`
  return { label: name, value: stock, text: `${stock} left${days}` }
}

function linesOf(db: Db, days: Days, low: number): Line[] {
  const stocks = countedStocks(db).all()
  const sold = soldFrom(stocks, unitsSold(db, days))
  const length = countDays(days)
  const urgency = ({ stock, daysLeft }: Line): number => (stock === 0 ? -1 : (daysLeft ?? Infinity))
  return stocks
    .map((counted): Line => {
      const units = sold.get(keyOf(counted)) ?? 0
      const daysLeft = units === 0 ? null : Math.floor((counted.stock * length) / units)
      const isLow = counted.stock <= low || (daysLeft !== null && daysLeft < fewDays)
      return { ...counted, state: counted.stock === 0 ? 'sold_out' : isLow ? 'low' : 'ok', sold: units, daysLeft }
    })
    .toSorted((a, b) => compare(urgency(a), urgency(b)) || a.stock - b.stock || (a.slug < b.slug ? -1 : 1))
}

const compare = (a: number, b: number): number => (a === b ? 0 : a - b)

const keyOf = ({ productId, variationId }: Pick<Counted, 'productId' | 'variationId'>): string =>
  `${productId}/${variationId ?? ''}`

/** A variation without a stock of its own takes from its product's. */
function soldFrom(stocks: readonly Counted[], rows: readonly UnitsSold[]): ReadonlyMap<string, number> {
  const counted = new Set(stocks.map(keyOf))
  const sold = new Map<string, number>()
  for (const row of rows) {
    const own = keyOf(row)
    const key = counted.has(own) ? own : keyOf({ productId: row.productId, variationId: null })
    sold.set(key, (sold.get(key) ?? 0) + row.units - row.refundedUnits)
  }
  return sold
}
