import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { Days, Unit } from './days.ts'
import { moneyText, toAmounts } from './report.ts'
import type { Report } from './report.ts'
import { salesOf, totalSales } from './sales.ts'
import type { SalesRow, Sums } from './sales.ts'

export const salesColumns = [
  'from',
  'to',
  'currency',
  'orders',
  'goods',
  'discount',
  'shipping',
  'tax',
  'total',
  'refunded',
  'net'
] as const

/** The sales of some days by day, week or month. `net` is the total minus what was refunded in the same time. */
export function reportSales(db: Db, days: Days, unit: Unit): Report {
  const rows = salesOf(db, days, unit)
  const totals = totalSales(rows)
  const timeZone = setting(db, 'shop.timeZone')
  const sumOf = (of: (sums: Sums) => number): string =>
    moneyText(
      totals.map((sums) => ({ currency: sums.currency, minor: of(sums) })),
      '-'
    )
  const orders = totals.reduce((sum, total) => sum + total.orders, 0)
  return {
    head: { ...days, timeZone, by: unit, totals: totals.map(({ currency, ...sums }) => view(currency, sums)) },
    rows: rows.map(({ from, to, currency, ...sums }) => ({ from, to, ...view(currency, sums) })),
    page: {
      title: 'Sales',
      subtitle: `${days.from} to ${days.to} (${timeZone}), by ${unit}`,
      figures: [
        { label: 'Orders', value: String(orders) },
        { label: 'Total', value: sumOf(({ totalMinor }) => totalMinor) },
        { label: 'Refunded', value: sumOf(({ refundedMinor }) => refundedMinor) },
        { label: 'Net', value: sumOf(netOf) }
      ],
      charts: totals.map(({ currency }) => ({
        title: `Total by ${unit}, ${currency}`,
        kind: 'columns',
        bars: rows
          .filter((row) => row.currency === currency)
          .map((row) => ({
            label: labelOf(row, unit),
            value: row.totalMinor,
            text: formatMoney(row.totalMinor, currency)
          }))
      })),
      columns: [
        { name: { day: 'Day', week: 'From', month: 'Month' }[unit] },
        { name: 'Orders', isNumber: true },
        { name: 'Goods', isNumber: true, isDetail: true },
        { name: 'Discounts', isNumber: true, isDetail: true },
        { name: 'Shipping', isNumber: true, isDetail: true },
        { name: 'Tax', isNumber: true, isDetail: true },
        { name: 'Total', isNumber: true },
        { name: 'Refunded', isNumber: true },
        { name: 'Net', isNumber: true }
      ],
      rows: [
        ...rows.map((row) => ({ cells: cellsOf(labelOf(row, unit), row.currency, row), bar: row.totalMinor })),
        ...totals.map((sums) => ({ cells: cellsOf('Total', sums.currency, sums) }))
      ],
      notes: [
        'An order counts on the day on which it was paid, a refund on the day of its credit note. Goods are after discounts.'
      ]
    }
  }
}

const netOf = ({ totalMinor, refundedMinor }: Sums): number => totalMinor - refundedMinor

function labelOf({ from }: SalesRow, unit: Unit): string {
  return unit === 'month' ? from.slice(0, 'YYYY-MM'.length) : from
}

function view(currency: string, { orders, ...minor }: Sums) {
  const netMinor = minor.totalMinor - minor.refundedMinor
  return { currency, orders, ...toAmounts({ ...minor, netMinor }, currency) }
}

function cellsOf(label: string, currency: string, sums: Sums): string[] {
  const { goodsMinor, discountMinor, shippingMinor, taxMinor, totalMinor, refundedMinor } = sums
  const amounts = [goodsMinor, discountMinor, shippingMinor, taxMinor, totalMinor, refundedMinor, netOf(sums)]
  return [label, String(sums.orders), ...amounts.map((minor) => formatMoney(minor, currency))]
}
