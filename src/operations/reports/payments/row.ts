/** How the shop and Stripe differ about a payment. Each kind is also a kind of payment warning. */
export const differenceKinds = [
  'charge_not_in_shop',
  'charge_not_at_stripe',
  'amount_differs',
  'refund_not_in_shop',
  'refund_not_at_stripe',
  'paid_twice'
] as const

export type Difference = (typeof differenceKinds)[number]

/**
 * What the balance moved for a charge within the report's days, in minor units of the charge's currency: `chargedMinor` is 0
 * for a charge of earlier days, and a refund that failed or a dispute that was won in these days counts negatively.
 */
export type Moved = { chargedMinor: number; refundedMinor: number; disputedMinor: number }

/** What Stripe says about a charge, in minor units. `fee` and `net` are in the balance's currency. */
export type StripeSide = {
  amountMinor: number
  refundedMinor: number
  /** What banks took back by lost disputes. */
  disputeLostMinor: number
  /** The sums of the charge's movements within the report's days. */
  feeMinor: number
  netMinor: number
  moved: Moved
  balanceCurrency: string
  /** Null until an automatic payout contains the charge. */
  payout: { id: string; arrivesAt: number } | null
}

/** What the shop says about the same payment; `amountMinor` is null for a renewal that it does not know. */
export type ShopSide = {
  orderId: number
  renewalOf: number | null
  status: string
  isPaid: boolean
  amountMinor: number | null
  refundedMinor: number
}

/** One payment; `at` is the time of the charge, or of the payment in the shop for one that Stripe does not have. */
export type PaymentRow = {
  chargeId: string | null
  intentId: string | null
  at: number
  currency: string
  stripe: StripeSide | null
  shop: ShopSide | null
  differences: Difference[]
}

/** The part of time that a report is about, in epoch milliseconds; `to` is not included. */
export type Period = { from: number; to: number }
