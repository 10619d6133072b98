import type { Db } from '../../platform/db/database.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import { affiliateResults, conversionPercent } from '../../shop/referrals/stats.ts'
import type { AffiliateResult } from '../../shop/referrals/stats.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { Days } from './days.ts'
import { moneyText } from './report.ts'
import type { Report } from './report.ts'

export const affiliateColumns = ['code', 'clicks', 'orders', 'conversionPercent', 'currency', 'commission'] as const

/**
 * What the links of the affiliates led to in some days, the highest commission first: clicks, orders and commissions as
 * in the affiliates' own statistics, which count days in UTC. The head has the sums of all.
 */
export function reportAffiliates(db: Db, days: Days, limit: number): Report {
  const found = affiliateResults(db, { ...days, currency: setting(db, 'shop.currency') })
  const shown = found.slice(0, limit)
  const { commissions, ...counts } = totalsOf(found)
  const totals = { ...counts, conversionPercent: conversionPercent(counts) }
  const earned = moneyText(commissions, '-')
  const left = found.length - shown.length
  return {
    head: {
      ...days,
      timeZone: 'UTC',
      totals: {
        ...totals,
        commissions: commissions.map(({ currency, minor }) => ({ currency, amount: toMajor(minor, currency) }))
      }
    },
    rows: shown.map(toRow),
    page: {
      title: 'Affiliates',
      subtitle: `${days.from} to ${days.to} (UTC)`,
      figures: [
        { label: 'Clicks', value: String(totals.clicks) },
        { label: 'Orders', value: String(totals.orders) },
        { label: 'Conversion', value: `${totals.conversionPercent} %` },
        { label: 'Commission', value: earned }
      ],
      charts: [
        {
          title: 'Orders by affiliate',
          kind: 'bars',
          bars: shown.slice(0, 20).map(({ code, orders }) => ({ label: code, value: orders, text: String(orders) }))
        }
      ],
      columns: [
        { name: 'Code' },
        { name: 'Clicks', isNumber: true },
        { name: 'Orders', isNumber: true },
        { name: 'Conversion', isNumber: true },
        { name: 'Commission', isNumber: true }
      ],
      rows: [
        ...shown.map((row) => ({
          cells: cellsOf(row.code, row, formatMoney(row.amountMinor, row.currency)),
          bar: row.orders
        })),
        { cells: cellsOf('All affiliates', totals, earned) }
      ],
      notes: [
        'An order counts on the day (UTC) on which it was placed, while its commission is accepted.',
        ...(left > 0 ? [`${left} more rows are not shown. Pass --limit for a longer list.`] : [])
      ]
    }
  }
}

type Counts = Pick<AffiliateResult, 'clicks' | 'orders'>

function toRow({ code, clicks, orders, currency, amountMinor }: AffiliateResult) {
  const commission = toMajor(amountMinor, currency)
  return { code, clicks, orders, conversionPercent: conversionPercent({ clicks, orders }), currency, commission }
}

function cellsOf(name: string, counts: Counts, commission: string): string[] {
  return [name, String(counts.clicks), String(counts.orders), `${conversionPercent(counts)} %`, commission]
}

function totalsOf(found: readonly AffiliateResult[]): Counts & { commissions: { currency: string; minor: number }[] } {
  const sums = new Map<string, number>()
  for (const { currency, amountMinor } of found) sums.set(currency, (sums.get(currency) ?? 0) + amountMinor)
  return {
    clicks: found.reduce((sum, { clicks }) => sum + clicks, 0),
    orders: found.reduce((sum, { orders }) => sum + orders, 0),
    commissions: [...sums].filter(([, minor]) => minor > 0).map(([currency, minor]) => ({ currency, minor }))
  }
}
