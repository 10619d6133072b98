import { toDay } from '../../../platform/iso-time.ts'
import { formatMoney, toMinor } from '../../../platform/money.ts'
import type { ReportPage } from '../report.ts'
import { describeDifference } from './daily.ts'
import type { Total } from './export.ts'
import type { PaymentsReport } from './report.ts'
import type { Period, PaymentRow } from './row.ts'

const dayMs = 86_400_000

/** The comparison with Stripe for people. The notes have the sums and each difference. */
export function paymentsPage({ rows, foreign }: PaymentsReport, totals: readonly Total[], period: Period): ReportPage {
  const days = new Set(rows.map(({ at }) => toDay(at)))
  const different = rows.flatMap((row) => row.differences.map((kind) => `- ${describeDifference(kind, row)}`))
  return {
    title: 'Payments',
    subtitle: `${toDay(period.from)} to ${toDay(period.to - 1)} (UTC)`,
    figures: totals.flatMap(({ currency, amount, refunded, fee, net }) => [
      { label: `Charged, ${currency}`, value: moneyOf(amount, currency) },
      { label: `Refunded, ${currency}`, value: moneyOf(refunded, currency) },
      { label: `Fees, ${currency}`, value: moneyOf(fee, currency) },
      { label: `Net, ${currency}`, value: moneyOf(net, currency) }
    ]),
    charts: totals.flatMap(({ currency }) =>
      days.size < 2 ? [] : [{ title: `Charged by day, ${currency}`, kind: 'columns', bars: barsOf(rows, currency) }]
    ),
    columns: [
      { name: 'Charged' },
      { name: 'Order', isNumber: true },
      { name: 'Amount', isNumber: true },
      { name: 'Refunded', isNumber: true },
      { name: 'Fee', isNumber: true },
      { name: 'Net', isNumber: true },
      { name: 'Paid out' },
      { name: 'Check' }
    ],
    rows: rows.map((row) => ({ cells: cellsOf(row) })),
    notes: [
      ...totals.map(sumOf),
      ...(rows.length === 0 ? ['No charges of this shop in these days.'] : []),
      ...(foreign === 0 ? [] : [`${foreign} charges of other software on this Stripe account are left out.`]),
      different.length === 0 ? 'The shop and Stripe agree.' : 'The shop and Stripe differ:',
      ...different
    ]
  }
}

/** Every day from the first charge to the last one. */
function barsOf(rows: readonly PaymentRow[], currency: string): ReportPage['charts'][number]['bars'] {
  const sums = new Map<number, number>()
  for (const row of rows) {
    const day = Math.floor(row.at / dayMs)
    const minor = row.currency === currency ? (row.stripe?.moved.chargedMinor ?? 0) : 0
    sums.set(day, (sums.get(day) ?? 0) + minor)
  }
  const first = Math.min(...sums.keys())
  return Array.from({ length: Math.max(...sums.keys()) - first + 1 }, (_, index) => {
    const value = sums.get(first + index) ?? 0
    return { label: toDay((first + index) * dayMs), value, text: formatMoney(value, currency) }
  })
}

function cellsOf({ at, currency, stripe, shop, differences }: PaymentRow): string[] {
  const money = (minor: number | undefined, unit = currency): string =>
    minor === undefined ? '-' : formatMoney(minor, unit)
  return [
    toDay(at),
    shop === null ? '-' : String(shop.orderId),
    money(stripe?.amountMinor),
    money(stripe?.refundedMinor),
    money(stripe?.feeMinor, stripe?.balanceCurrency),
    money(stripe?.netMinor, stripe?.balanceCurrency),
    stripe?.payout ? toDay(stripe.payout.arrivesAt) : '-',
    differences.length === 0 ? '' : 'differs'
  ]
}

function sumOf({ currency, amount, refunded, disputed, fee, net }: Total): string {
  const money = (major: number): string => moneyOf(major, currency)
  return `Total: ${money(amount)} charged, ${money(refunded)} refunded, ${disputed === 0 ? '' : `${money(disputed)} taken by disputes, `}${money(fee)} fees, ${money(net)} net.`
}

function moneyOf(major: number, currency: string): string {
  return `${major < 0 ? '-' : ''}${formatMoney(toMinor(Math.abs(major).toFixed(3), currency), currency)}`
}
