import type Stripe from 'stripe'
import type { ShopContext } from '../../../shop/context.ts'
import { findAttemptByObject, findAttemptByToken } from '../../../shop/payments/attempts.ts'
import { idOf, ownership } from '../../../shop/payments/gateway-state.ts'
import type { AttemptRow } from '../../../shop/payments/rows.ts'

/** The part of time that a report is about, in epoch milliseconds; `to` is not included. */
export type Period = { from: number; to: number }

/**
 * What the balance moved for a charge within the report's days, in minor units of the charge's currency: `chargedMinor` is 0
 * for a charge of earlier days, and a refund that failed or a dispute that was won in these days counts negatively.
 */
export type Moved = { chargedMinor: number; refundedMinor: number; disputedMinor: number }

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

/**
 * Whose charge it is: the attempt that it paid; a payment of this shop that it does not know, with the attempt that
 * started the subscription for a renewal; or `foreign`, of other software that uses the account.
 */
export type Owner = { attempt: AttemptRow } | { attempt: null; first: AttemptRow | null } | 'foreign'

/** Finds a charge's payment attempt by its PaymentIntent, its metadata, or the invoice that it paid. */
export async function findOwner(shop: ShopContext, stripe: Stripe, charge: Stripe.Charge): Promise<Owner> {
  const intentId = idOf(charge.payment_intent)
  const known = intentId === null ? undefined : findAttemptByObject(shop.db, intentId)
  if (known !== undefined) return { attempt: known }
  const owner = ownership(shop, charge.metadata)
  const attempt = owner === null ? undefined : findAttemptByToken(shop.db, owner.token)
  if (attempt !== undefined) return { attempt }
  if (owner !== null) return { attempt: null, first: null }
  // The charge of a subscription's invoice has no metadata.
  const mayBeRenewal = intentId !== null && Object.keys(charge.metadata).length === 0
  return mayBeRenewal ? findRenewal(shop, stripe, intentId) : 'foreign'
}

async function findRenewal(shop: ShopContext, stripe: Stripe, intentId: string): Promise<Owner> {
  const payment = { type: 'payment_intent', payment_intent: intentId } as const
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1, expand: ['data.invoice'] })
  const invoice = data[0]?.invoice
  if (invoice === undefined || typeof invoice === 'string' || invoice.deleted) return 'foreign'
  const attempt = findAttemptByObject(shop.db, invoice.id)
  if (attempt !== undefined) return { attempt }
  const owner = ownership(shop, invoice.parent?.subscription_details?.metadata)
  const first = owner === null ? undefined : findAttemptByToken(shop.db, owner.token)
  // The first invoice is the payment of the order that started the subscription.
  if (first !== undefined && invoice.billing_reason === 'subscription_create') return { attempt: first }
  if (first !== undefined) return { attempt: null, first }
  return owner === null ? 'foreign' : { attempt: null, first: null }
}
