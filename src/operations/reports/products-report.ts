import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { Days } from './days.ts'
import { moneyText } from './report.ts'
import type { Report } from './report.ts'
import { unitsSold } from './units-sold.ts'
import type { UnitsSold } from './units-sold.ts'

export const productColumns = ['slug', 'name', 'currency', 'units', 'refundedUnits', 'total'] as const

type Sold = Omit<UnitsSold, 'variationId'>
type Named = Sold & { slug: string; name: string }

const namesOf = rawStatement<[ids: string], { id: number; slug: string; name: string }>(
  'SELECT id, slug, name FROM products WHERE id IN (SELECT value FROM json_each(?))'
)

/** What sold best in some days: the `limit` products with the highest totals, and the sums of all. */
export function reportProducts(db: Db, days: Days, limit: number): Report {
  const sold = byProduct(unitsSold(db, days))
  const best = sold.slice(0, limit)
  const names = new Map(
    namesOf(db)
      .all(JSON.stringify(best.map(({ productId }) => productId)))
      .map((row) => [row.id, row])
  )
  const rows = best.map((row): Named => ({ slug: '', name: '', ...names.get(row.productId), ...row }))
  const totals = totalsOf(sold)
  const timeZone = setting(db, 'shop.timeZone')
  const left = sold.length - rows.length
  return {
    head: {
      ...days,
      timeZone,
      products: sold.length,
      totals: totals.map(({ currency, units, refundedUnits, totalMinor }) => ({
        currency,
        units,
        refundedUnits,
        total: toMajor(totalMinor, currency)
      }))
    },
    rows: rows.map(({ slug, name, currency, units, refundedUnits, totalMinor }) => ({
      slug,
      name,
      currency,
      units,
      refundedUnits,
      total: toMajor(totalMinor, currency)
    })),
    page: {
      title: 'Products',
      subtitle: `${days.from} to ${days.to} (${timeZone})`,
      figures: [
        { label: 'Products sold', value: String(sold.length) },
        { label: 'Units', value: String(totals.reduce((sum, { units }) => sum + units, 0)) },
        {
          label: 'Total',
          value: moneyText(
            totals.map(({ currency, totalMinor: minor }) => ({ currency, minor })),
            '-'
          )
        }
      ],
      charts: totals.map(({ currency }) => ({
        title: `Best sellers, ${currency}`,
        kind: 'bars',
        bars: rows
          .filter((row) => row.currency === currency)
          .slice(0, 20)
          .map(({ name, totalMinor }) => ({ label: name, value: totalMinor, text: formatMoney(totalMinor, currency) }))
      })),
      columns: [
        { name: 'Slug' },
        { name: 'Name', isDetail: true },
        { name: 'Units', isNumber: true },
        { name: 'Refunded', isNumber: true },
        { name: 'Total', isNumber: true }
      ],
      rows: [
        ...rows.map((row) => ({ cells: cellsOf(row), bar: row.totalMinor })),
        ...totals.map((total) => ({ cells: cellsOf({ slug: 'All products', name: '', ...total }) }))
      ],
      notes: [
        'Totals are after discounts, without shipping, and with the units that were refunded later.',
        ...(left > 0 ? [`${left} more products were sold. Pass --limit for a longer list.`] : [])
      ]
    }
  }
}

function cellsOf({ slug, name, currency, units, refundedUnits, totalMinor }: Omit<Named, 'productId'>): string[] {
  return [slug, name, String(units), String(refundedUnits), formatMoney(totalMinor, currency)]
}

function byProduct(sold: readonly UnitsSold[]): Sold[] {
  const products = Map.groupBy(sold, ({ productId, currency }) => `${productId} ${currency}`)
  return [...products.values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : others.reduce<Sold>(sumOf, first)))
    .toSorted((a, b) => b.totalMinor - a.totalMinor || b.units - a.units || a.productId - b.productId)
}

function totalsOf(sold: readonly Sold[]): Omit<Sold, 'productId'>[] {
  return [...Map.groupBy(sold, ({ currency }) => currency).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : others.reduce<Sold>(sumOf, first)
  )
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
