import { z } from 'zod'
import { toMajor } from '../../platform/money.ts'
import { affiliateResults, conversionPercent } from '../../shop/referrals/stats.ts'
import type { AffiliateResult } from '../../shop/referrals/stats.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDays } from './days.ts'
import { amount, defineReport, limitOption, money, moneySums } from './report.ts'
import type { Column } from './report.ts'

const columns: readonly Column<AffiliateResult>[] = [
  { key: 'code', kind: 'text', title: 'Code', value: ({ code }) => code },
  { key: 'clicks', kind: 'count', title: 'Clicks', total: 'sum', isFigure: true, value: ({ clicks }) => clicks },
  { key: 'orders', kind: 'count', title: 'Orders', total: 'sum', isFigure: true, value: ({ orders }) => orders },
  {
    key: 'conversionPercent',
    kind: 'percent',
    title: 'Conversion',
    value: conversionPercent,
    total: (rows) => conversionPercent(countsOf(rows)),
    isFigure: true
  },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  {
    key: 'commission',
    ...money,
    title: 'Commission',
    isFigure: true,
    value: amount((row) => row.amountMinor)
  }
]

/**
 * What the links of the affiliates led to in some days, the highest commission first: clicks, orders and commissions as
 * in the affiliates' own statistics. The head has the sums of all.
 */
export const affiliatesReport = defineReport({
  name: 'affiliates',
  title: 'Affiliates',
  about: 'clicks, orders, conversion and commission of each affiliate',
  example: 'report affiliates --from 2026-01-01',
  period: shopDays,
  options: [limitOption],
  input: z.object({ limit: z.number() }),
  columns,
  totals: { label: 'All affiliates' },
  bar: ({ orders }) => orders,
  read: ({ shop: { db }, period: days, options: { limit } }) => {
    const rows = affiliateResults(db, { ...days, currency: setting(db, 'shop.currency') })
    return {
      head: { totals: totalsOf(rows) },
      rows,
      limit,
      charts: [
        {
          title: 'Orders by affiliate',
          kind: 'bars',
          bars: rows
            .slice(0, Math.min(limit, 20))
            .map(({ code, orders }) => ({ label: code, value: orders, text: String(orders) }))
        }
      ],
      notes: ['An order counts on the day on which it was placed, while its commission is accepted.']
    }
  }
})

function countsOf(rows: readonly AffiliateResult[]): Pick<AffiliateResult, 'clicks' | 'orders'> {
  return {
    clicks: rows.reduce((sum, { clicks }) => sum + clicks, 0),
    orders: rows.reduce((sum, { orders }) => sum + orders, 0)
  }
}

function totalsOf(rows: readonly AffiliateResult[]) {
  const counts = countsOf(rows)
  const sums = moneySums(rows.map(({ amountMinor: minor, currency }) => ({ minor, currency })))
  const commissions = sums
    .filter(({ minor }) => minor > 0)
    .map(({ currency, minor }) => ({ currency, amount: toMajor(minor, currency) }))
  return { ...counts, conversionPercent: conversionPercent(counts), commissions }
}
