/** Who a buyer is: somebody else, or the affiliate in one of their disguises. */
export type Buyer = 'honest' | 'own email' | 'plus' | 'same person' | 'same card' | 'no email'

type Line = {
  quantity: number
  totalMinor: bigint
  /** Null for a discounted line. */
  unitMinor: bigint | null
  /** The commission rate of its product; null for the affiliate's or the shop's. */
  rateBps: bigint | null
}

export type Refund = {
  key: string
  amountMinor: bigint
  goodsMinor: bigint
  shippingMinor: bigint
  /** How many units of each line. */
  taken: number[]
  isDispute: boolean
  isFailed: boolean
}

export type Referral = {
  affiliateId: number
  createdAt: number
  /** Of each line. */
  rates: bigint[]
  /** What the shop pays for an order and for the orders of a month at most, when the order was placed; null without a cap. */
  orderCap: bigint | null
  monthCap: bigint | null
  /** What the cap of its month left when it was accepted. */
  leftOfMonth: bigint | null
  state: 'pending' | 'accepted' | 'rejected'
  /** Why it is rejected: for the state of its order, or for good. */
  why: 'order' | 'self' | 'operator' | null
  acceptedAt: number | null
  isAcceptedByHand: boolean
  /** What payouts have paid for it. */
  settledMinor: bigint
}

export type Status = 'pending' | 'failed' | 'cancelled' | 'paid' | 'disputed' | 'refunded' | 'half refunded'

export type OrderFields = {
  id: number
  createdAt: number
  affiliateId: number | null
  person: number
  buyer: Buyer
  lines: Line[]
  goodsMinor: bigint
  shippingMinor: bigint
  /** Whether its refunds name lines, or amounts. */
  byLines: boolean
  isRenewal: boolean
  attemptId: number | null
  status: Status
  disputeId: string | null
  /** Whether a refund failed, and nobody has decided about the money. */
  isRefundOpen: boolean
  refunds: Refund[]
  referral: Referral | null
}

/** An order as the ledger knows it. `half refunded`: refunded, and a part of the money came back. */
export class KnownOrder {
  id = 0
  createdAt = 0
  affiliateId: number | null = null
  person = 0
  buyer: Buyer = 'honest'
  lines: Line[] = []
  goodsMinor = 0n
  shippingMinor = 0n
  byLines = false
  isRenewal = false
  attemptId: number | null = null
  status: Status = 'pending'
  disputeId: string | null = null
  isRefundOpen = false
  refunds: Refund[] = []
  referral: Referral | null = null

  constructor(fields: Partial<OrderFields>) {
    Object.assign(this, fields)
  }

  get done(): Refund[] {
    return this.refunds.filter(({ isFailed }) => !isFailed)
  }
  get leftMinor(): bigint {
    return this.goodsMinor + this.shippingMinor - sumOf(this.done, ({ amountMinor }) => amountMinor)
  }
  get goodsLeftMinor(): bigint {
    return this.goodsMinor - sumOf(this.done, ({ goodsMinor }) => goodsMinor)
  }
  get shippingLeftMinor(): bigint {
    return this.shippingMinor - sumOf(this.done, ({ shippingMinor }) => shippingMinor)
  }
  /** What was given back of each line; an amount is shared among what is left of them. */
  get returned(): bigint[] {
    const named = this.lines.map((_, line) =>
      sumOf(this.done, ({ taken, goodsMinor }) => ((taken[line] ?? 0) > 0 ? goodsMinor : 0n))
    )
    const amounts = this.done.filter(({ taken }) => taken.length === 0)
    const left = this.lines.map(({ totalMinor }, line) => totalMinor - (named[line] ?? 0n))
    const shares = shareOf(
      sumOf(amounts, ({ goodsMinor }) => goodsMinor),
      left
    )
    return named.map((minor, line) => minor + (shares[line] ?? 0n))
  }
  takenOf(line: number): number {
    return this.done.reduce((sum, { taken }) => sum + (taken[line] ?? 0), 0)
  }
  /** Whether it must earn nothing. */
  get isFraud(): boolean {
    return this.buyer !== 'honest' && this.referral?.isAcceptedByHand !== true
  }
}

export function sumOf<T>(rows: readonly T[], of: (row: T) => bigint): bigint {
  return rows.reduce((sum, row) => sum + of(row), 0n)
}

/** Shares a sum by weights: what is left over goes to the largest remainders, and of equal ones to the first. */
export function shareOf(sumMinor: bigint, weights: readonly bigint[]): bigint[] {
  const total = sumOf(weights, (weight) => weight)
  if (total === 0n) return weights.map(() => 0n)
  const parts = weights.map((weight, index) => {
    return { index, share: (sumMinor * weight) / total, rest: (sumMinor * weight) % total }
  })
  const left = Number(sumMinor - sumOf(parts, ({ share }) => share))
  for (const part of parts.toSorted((a, b) => Number(b.rest - a.rest) || a.index - b.index).slice(0, left))
    part.share += 1n
  return parts.map(({ share }) => share)
}
