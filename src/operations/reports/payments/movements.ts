import type Stripe from 'stripe'
import { idOf } from '../../../shop/payments/gateway-state.ts'
import type { Moved, Period } from './row.ts'

/** A charge, and how it, its refunds and its disputes moved the balance within a period. */
export type ChargeMovements = {
  charge: Stripe.Charge
  feeMinor: number
  netMinor: number
  moved: Moved
  /** Null when only a refund or a dispute moved the balance within the period. */
  chargeTransaction: string | null
  balanceCurrency: string
}

type Sum = Omit<ChargeMovements, 'charge'> & { charge: Stripe.Charge | null }

const rangeOf = ({ from, to }: Period) => ({ gte: Math.floor(from / 1000), lt: Math.ceil(to / 1000) })

/** Reads every charge that moved the account's balance within a period, page by page. */
export async function readMovements(
  stripe: Stripe,
  period: Period,
  onStep: (text: string) => void
): Promise<ChargeMovements[]> {
  const sums = new Map<string, Sum>()
  let count = 0
  const list = stripe.balanceTransactions.list({ created: rangeOf(period), limit: 100, expand: ['data.source'] })
  for await (const transaction of list) {
    count += 1
    if (count % 100 === 1) onStep(`reading balance transactions: ${count}`)
    add(sums, transaction)
  }
  const movements: ChargeMovements[] = []
  for (const [id, { charge, ...sum }] of sums)
    // The charge of a refund or dispute may be older than the period.
    movements.push({ ...sum, charge: charge ?? (await stripe.charges.retrieve(id)) })
  return movements
}

function add(sums: Map<string, Sum>, transaction: Stripe.BalanceTransaction): void {
  const source = readSource(transaction.source)
  if (source === null) return
  const balanceCurrency = transaction.currency.toUpperCase()
  const sum = sums.get(source.chargeId) ?? {
    charge: null,
    feeMinor: 0,
    netMinor: 0,
    moved: { chargedMinor: 0, refundedMinor: 0, disputedMinor: 0 },
    chargeTransaction: null,
    balanceCurrency
  }
  const isOut = transaction.amount < 0
  const movedMinor = isOut === (source.kind === 'chargedMinor') ? -source.amountMinor : source.amountMinor
  sums.set(source.chargeId, {
    ...sum,
    charge: source.charge ?? sum.charge,
    chargeTransaction: source.charge === null ? sum.chargeTransaction : transaction.id,
    feeMinor: sum.feeMinor + transaction.fee,
    netMinor: sum.netMinor + transaction.net,
    moved: { ...sum.moved, [source.kind]: sum.moved[source.kind] + movedMinor }
  })
}

/** The charge that a movement belongs to; null for payouts, fees and other movements. */
function readSource(
  source: Stripe.BalanceTransaction['source']
): { chargeId: string; charge: Stripe.Charge | null; kind: keyof Moved; amountMinor: number } | null {
  if (source === null || typeof source === 'string') return null
  if (source.object === 'charge')
    return { chargeId: source.id, charge: source, kind: 'chargedMinor', amountMinor: source.amount }
  if (source.object !== 'refund' && source.object !== 'dispute') return null
  const chargeId = idOf(source.charge)
  const kind = source.object === 'refund' ? 'refundedMinor' : 'disputedMinor'
  return chargeId === null ? null : { chargeId, charge: null, kind, amountMinor: source.amount }
}

export type PayoutOf = ReadonlyMap<string, { id: string; arrivesAt: number }>

/** Stripe pays out within days, at the latest once a month. */
const latestPayoutMs = 40 * 24 * 60 * 60_000

/** Which payout contains which balance transaction. Stripe tells it of automatic payouts only. */
export async function readPayouts(
  stripe: Stripe,
  { from, to }: Period,
  onStep: (text: string) => void
): Promise<PayoutOf> {
  const payoutOf = new Map<string, { id: string; arrivesAt: number }>()
  const created = rangeOf({ from, to: to + latestPayoutMs })
  for await (const { id, automatic, arrival_date } of stripe.payouts.list({ created, limit: 100 })) {
    if (!automatic) continue
    onStep(`reading payout ${id}`)
    for await (const transaction of stripe.balanceTransactions.list({ payout: id, limit: 100 }))
      payoutOf.set(transaction.id, { id, arrivesAt: arrival_date * 1000 })
  }
  return payoutOf
}

/** What banks took back of a charge by disputes that the shop lost, in minor units. */
export async function readLostDisputes(stripe: Stripe, { id, disputed }: Stripe.Charge): Promise<number> {
  if (!disputed) return 0
  const { data } = await stripe.disputes.list({ charge: id, limit: 100 })
  return data.reduce((sum, { status, amount }) => sum + (status === 'lost' ? amount : 0), 0)
}
