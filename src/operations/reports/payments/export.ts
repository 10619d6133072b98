import { toCsv } from '../../../platform/csv.ts'
import { toIso } from '../../../platform/iso-time.ts'
import { toDecimalText, toMajor } from '../../../platform/money.ts'
import type { PaymentRow } from './row.ts'

const columns = [
  'charged_at',
  'charge',
  'payment_intent',
  'order',
  'renewal_of',
  'currency',
  'amount',
  'refunded',
  'dispute_lost',
  'balance_currency',
  'fee',
  'net',
  'payout',
  'payout_arrives_at',
  'shop_status',
  'shop_amount',
  'shop_refunded',
  'differences'
]

/** The rows as CSV, one line each. Amounts are in major units. */
export function paymentsCsv(rows: readonly PaymentRow[]): string {
  return toCsv(columns, rows.map(toLine))
}

function toLine({
  chargeId,
  intentId,
  at,
  currency,
  stripe,
  shop,
  differences
}: PaymentRow): (string | number | null)[] {
  const money = (minor: number | null | undefined, unit = currency): string | null =>
    minor === null || minor === undefined ? null : toDecimalText(minor, unit)
  const balance = stripe?.balanceCurrency ?? currency
  return [
    toIso(at),
    chargeId,
    intentId,
    shop?.orderId ?? null,
    shop?.renewalOf ?? null,
    currency,
    money(stripe?.amountMinor),
    money(stripe?.refundedMinor),
    money(stripe?.disputeLostMinor),
    stripe?.balanceCurrency ?? null,
    money(stripe?.feeMinor, balance),
    money(stripe?.netMinor, balance),
    stripe?.payout?.id ?? null,
    stripe?.payout ? toIso(stripe.payout.arrivesAt) : null,
    shop?.status ?? null,
    money(shop?.amountMinor),
    money(shop?.refundedMinor),
    differences.join(' ')
  ]
}

/** A row as public JSON; amounts in major units. */
export function toPaymentView({ chargeId, intentId, at, currency, stripe, shop, differences }: PaymentRow): object {
  const major = (minor: number): number => toMajor(minor, currency)
  return {
    charge: chargeId,
    paymentIntent: intentId,
    chargedAt: toIso(at),
    currency,
    stripe: stripe && {
      amount: major(stripe.amountMinor),
      refunded: major(stripe.refundedMinor),
      disputeLost: major(stripe.disputeLostMinor),
      fee: toMajor(stripe.feeMinor, stripe.balanceCurrency),
      net: toMajor(stripe.netMinor, stripe.balanceCurrency),
      balanceCurrency: stripe.balanceCurrency,
      payout: stripe.payout && { id: stripe.payout.id, arrivesAt: toIso(stripe.payout.arrivesAt) }
    },
    shop: shop && {
      orderId: shop.orderId,
      renewalOf: shop.renewalOf,
      status: shop.status,
      paid: shop.isPaid,
      amount: shop.amountMinor === null ? null : major(shop.amountMinor),
      refunded: major(shop.refundedMinor)
    },
    differences
  }
}

export type Total = {
  currency: string
  amount: number
  refunded: number
  disputed: number
  fee: number
  net: number
}

/**
 * Sums of what moved within the report's days, by currency of the charge; fees and net amounts in the balance's currency
 * count there. In one currency, `net` is `amount` without the other three.
 */
export function totalsOf(rows: readonly PaymentRow[]): Total[] {
  const sums = new Map<string, Omit<Total, 'currency'>>()
  const sumOf = (currency: string) => {
    const sum = sums.get(currency) ?? { amount: 0, refunded: 0, disputed: 0, fee: 0, net: 0 }
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
  return [...sums].map(([currency, { amount, refunded, disputed, fee, net }]) => ({
    currency,
    amount: toMajor(amount, currency),
    refunded: toMajor(refunded, currency),
    disputed: toMajor(disputed, currency),
    fee: toMajor(fee, currency),
    net: toMajor(net, currency)
  }))
}
