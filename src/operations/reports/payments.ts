import { z } from 'zod'
import { addDays, countDays } from '../../platform/days.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import type { ShopContext } from '../../shop/context.ts'
import { shopDay } from '../../shop/settings/shop-days.ts'
import { instants } from './days.ts'
import { comparePayments } from './payments/compare.ts'
import type { PaymentRow } from './payments/compare.ts'
import { describeDifference } from './payments/differences.ts'
import { amount, defineReport } from './report.ts'
import type { Bar, Chart, Column, Money } from './report.ts'

type StripeSide = NonNullable<PaymentRow['stripe']>

/** An amount of what Stripe says, in the currency of the balance. */
function balanced(minorOf: (side: StripeSide) => number) {
  return ({ stripe }: PaymentRow): Money | undefined =>
    stripe === null ? undefined : { minor: minorOf(stripe), currency: stripe.balanceCurrency }
}

const columns: readonly Column<PaymentRow>[] = [
  { key: 'chargedAt', kind: 'time', title: 'Charged', value: ({ at }) => at },
  { key: 'charge', kind: 'text', value: ({ chargeId }) => chargeId },
  { key: 'paymentIntent', kind: 'text', value: ({ intentId }) => intentId },
  { key: 'shop.orderId', csv: 'order', kind: 'count', title: 'Order', value: ({ shop }) => shop?.orderId },
  { key: 'shop.renewalOf', kind: 'count', value: ({ shop }) => shop?.renewalOf },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'stripe.amount', kind: 'money', title: 'Amount', value: amount(({ stripe }) => stripe?.amountMinor) },
  { key: 'stripe.refunded', kind: 'money', title: 'Refunded', value: amount(({ stripe }) => stripe?.refundedMinor) },
  { key: 'stripe.disputeLost', kind: 'money', value: amount(({ stripe }) => stripe?.disputeLostMinor) },
  { key: 'stripe.balanceCurrency', kind: 'text', value: ({ stripe }) => stripe?.balanceCurrency },
  { key: 'stripe.fee', kind: 'money', title: 'Fee', value: balanced(({ feeMinor }) => feeMinor) },
  { key: 'stripe.net', kind: 'money', title: 'Net', value: balanced(({ netMinor }) => netMinor) },
  { key: 'stripe.payout.id', csv: 'payout', kind: 'text', value: ({ stripe }) => stripe?.payout?.id },
  {
    key: 'stripe.payout.arrivesAt',
    csv: 'payout_arrives_at',
    kind: 'time',
    title: 'Paid out',
    value: ({ stripe }) => stripe?.payout?.arrivesAt
  },
  { key: 'shop.status', csv: 'shop_status', kind: 'text', value: ({ shop }) => shop?.status },
  { key: 'shop.paid', csv: null, kind: 'yesNo', value: ({ shop }) => shop?.isPaid },
  { key: 'shop.amount', csv: 'shop_amount', kind: 'money', value: amount(({ shop }) => shop?.amountMinor) },
  { key: 'shop.refunded', csv: 'shop_refunded', kind: 'money', value: amount(({ shop }) => shop?.refundedMinor) },
  {
    key: 'differences',
    kind: 'words',
    title: 'Check',
    value: ({ differences }) => differences,
    text: ({ differences }) => (differences.length === 0 ? '' : 'differs')
  }
]

/** What Stripe charged, kept and paid out beside the shop's orders. The notes have the sums and each difference. */
export const paymentsReport = defineReport({
  name: 'payments',
  title: 'Payments',
  about: "compare what Stripe charged, kept and paid out with the shop's orders, charge by charge",
  example: 'report payments --from 2026-01-01 --to 2026-01-31 --csv january.csv',
  period: instants,
  input: z.object({}),
  columns,
  read: async ({
    shop,
    period,
    onStep
  }: {
    shop: ShopContext
    period: { from: number; to: number }
    onStep: (text: string) => void
  }) => {
    const { rows, foreign } = await comparePayments(shop, period, onStep)
    const totals = totalsOf(rows)
    return {
      head: { foreign, differences: countDifferences(rows), totals: totals.map(inMajor) },
      rows,
      figures: totals.flatMap(({ currency, amount, refunded, fee, net }) => [
        { label: `Charged, ${currency}`, value: formatMoney(amount, currency) },
        { label: `Refunded, ${currency}`, value: formatMoney(refunded, currency) },
        { label: `Fees, ${currency}`, value: formatMoney(fee, currency) },
        { label: `Net, ${currency}`, value: formatMoney(net, currency) }
      ]),
      charts: chartsOf(shop.db, rows, totals),
      notes: notesOf(shop.db, rows, totals, foreign)
    }
  }
})

/** In minor units. */
type Total = { currency: string; amount: number; refunded: number; disputed: number; fee: number; net: number }

/**
 * Sums of what moved within the report's days, by currency of the charge; fees and net amounts in the balance's currency
 * count there. In one currency, `net` is `amount` without the other three.
 */
function totalsOf(rows: readonly PaymentRow[]): Total[] {
  const sums = new Map<string, Total>()
  const sumOf = (currency: string): Total => {
    const sum = sums.get(currency) ?? { currency, amount: 0, refunded: 0, disputed: 0, fee: 0, net: 0 }
    sums.set(currency, sum)
    return sum
  }
  for (const { currency, stripe } of rows) {
    if (stripe === null) continue
    const charged = sumOf(currency)
    charged.amount += stripe.moved.chargedMinor
    charged.refunded += stripe.moved.refundedMinor
    charged.disputed += stripe.moved.disputedMinor
    const balance = sumOf(stripe.balanceCurrency)
    balance.fee += stripe.feeMinor
    balance.net += stripe.netMinor
  }
  return [...sums.values()]
}

function inMajor({ currency, amount, refunded, disputed, fee, net }: Total): Total {
  const major = (minor: number): number => toMajor(minor, currency)
  return {
    currency,
    amount: major(amount),
    refunded: major(refunded),
    disputed: major(disputed),
    fee: major(fee),
    net: major(net)
  }
}

function countDifferences(rows: readonly PaymentRow[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const kind of rows.flatMap(({ differences }) => differences)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Object.fromEntries(counts)
}

function chartsOf(db: Db, rows: readonly PaymentRow[], totals: readonly Total[]): Chart[] {
  const dated = rows.map((row) => ({ ...row, day: shopDay(db, row.at) }))
  if (new Set(dated.map(({ day }) => day)).size < 2) return []
  return totals.map(({ currency }) => ({
    title: `Charged by day, ${currency}`,
    kind: 'columns',
    bars: barsOf(dated, currency)
  }))
}

/** Every day from the first charge to the last one. `rows` are the oldest first. */
function barsOf(rows: readonly (PaymentRow & { day: string })[], currency: string): Bar[] {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const minor = row.currency === currency ? (row.stripe?.moved.chargedMinor ?? 0) : 0
    sums.set(row.day, (sums.get(row.day) ?? 0) + minor)
  }
  const [from = '', to = ''] = [rows[0]?.day, rows.at(-1)?.day]
  return Array.from({ length: countDays({ from, to }) }, (_, index) => {
    const day = addDays(from, index)
    const value = sums.get(day) ?? 0
    return { label: day, value, text: formatMoney(value, currency) }
  })
}

function notesOf(db: Db, rows: readonly PaymentRow[], totals: readonly Total[], foreign: number): string[] {
  const different = rows.flatMap((row) => row.differences.map((kind) => `- ${describeDifference(db, kind, row)}`))
  return [
    ...totals.map(sumOf),
    ...(rows.length === 0 ? ['No charges of this shop in these days.'] : []),
    ...(foreign === 0 ? [] : [`${foreign} charges of other software on this Stripe account are left out.`]),
    different.length === 0 ? 'The shop and Stripe agree.' : 'The shop and Stripe differ:',
    ...different
  ]
}

function sumOf({ currency, amount, refunded, disputed, fee, net }: Total): string {
  const money = (minor: number): string => formatMoney(minor, currency)
  const taken = disputed === 0 ? '' : `${money(disputed)} taken by disputes, `
  return `Total: ${money(amount)} charged, ${money(refunded)} refunded, ${taken}${money(fee)} fees, ${money(net)} net.`
}
