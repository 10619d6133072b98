import { and, eq, gt, gte, inArray, lt } from 'drizzle-orm'
import type Stripe from 'stripe'
import { AppError } from '../../../errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { CardGateway, ShopContext } from '../../../shop/context.ts'
import { getOrder } from '../../../shop/orders/find.ts'
import { isSurplus } from '../../../shop/payments/attempts.ts'
import { readGatewayError, readyGateway } from '../../../shop/payments/gateway.ts'
import { unlessMissing } from '../../../shop/payments/gateway-state.ts'
import type { AttemptRow } from '../../../shop/payments/rows.ts'
import { paymentAttempts, refunds } from '../../../shop/payments/schema.ts'
import { findOwner, readLostDisputes, readMovements, readPayouts } from './stripe-side.ts'
import type { ChargeMovements, Moved, Owner, PayoutOf, Period } from './stripe-side.ts'

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

/** What Stripe says about a charge, in minor units. `fee` and `net` are in the balance's currency. */
type StripeSide = {
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
type ShopSide = {
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

type ComparedPayments = {
  /** Oldest first. */
  rows: PaymentRow[]
  /** How many charges of other software on the account are left out. */
  foreign: number
}

type Owned = { movements: ChargeMovements; owner: Exclude<Owner, 'foreign'> }

/**
 * Compares, charge by charge, what Stripe says about a period with what the shop says: amounts, refunds and disputes as
 * they are now, fees and net amounts as the balance moved within the period. A payment of the last minutes may still be on
 * its way to the shop.
 *
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED; DEPENDENCY_UNAVAILABLE when Stripe does not answer or the key may not
 *   read the balance
 */
export async function comparePayments(
  shop: ShopContext,
  period: Period,
  onStep: (text: string) => void = () => undefined
): Promise<ComparedPayments> {
  const stripe = await readyGateway(shop).client()
  try {
    return await compareAll(shop, stripe, period, onStep)
  } catch (error) {
    if (error instanceof AppError) throw error
    const { message, code, type } = readGatewayError(error).error
    if (type === '') throw error
    const reason = message || code || type
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      `Stripe did not answer: ${reason}. A restricted key needs the right to read balance transactions, payouts, charges and disputes.`
    )
  }
}

async function compareAll(
  shop: ShopContext,
  stripe: Stripe,
  period: Period,
  onStep: (text: string) => void
): Promise<ComparedPayments> {
  const moved = await readMovements(stripe, period, onStep)
  const owned: Owned[] = []
  for (const movements of moved) {
    if (owned.length % 100 === 1) onStep(`comparing charges: ${owned.length} of ${moved.length}`)
    const owner = await findOwner(shop, stripe, movements.charge)
    if (owner !== 'foreign') owned.push({ movements, owner })
  }
  const payoutOf: PayoutOf = owned.length === 0 ? new Map() : await readPayouts(stripe, period, onStep)
  const atStripe: PaymentRow[] = []
  for (const each of owned) atStripe.push(await toRow(shop, stripe, each, payoutOf))
  const matched = new Set(owned.flatMap(({ owner }) => (owner.attempt === null ? [] : [owner.attempt.id])))
  onStep('looking for payments that Stripe does not have')
  const rows = [...atStripe, ...(await unmatched(shop, stripe, period, matched))]
  const orderOf = ({ shop: side }: PaymentRow): number => side?.orderId ?? Number.POSITIVE_INFINITY
  rows.sort((one, other) => one.at - other.at || orderOf(one) - orderOf(other))
  return { rows, foreign: moved.length - owned.length }
}

async function toRow(
  { db }: ShopContext,
  stripe: Stripe,
  { movements, owner }: Owned,
  payoutOf: PayoutOf
): Promise<PaymentRow> {
  const { charge, chargeTransaction, feeMinor, netMinor, moved, balanceCurrency } = movements
  const side: StripeSide = {
    amountMinor: charge.amount,
    refundedMinor: charge.amount_refunded,
    disputeLostMinor: await readLostDisputes(stripe, charge),
    feeMinor,
    netMinor,
    moved,
    balanceCurrency,
    payout: payoutOf.get(chargeTransaction ?? '') ?? null
  }
  const payment = owner.attempt === null ? null : readShopSide(db, owner.attempt)
  const unknown = owner.attempt === null && owner.first !== null ? readUnknownRenewal(db, owner.first) : null
  const currency = charge.currency.toUpperCase()
  return {
    chargeId: charge.id,
    intentId: typeof charge.payment_intent === 'string' ? charge.payment_intent : null,
    at: charge.created * 1000,
    currency,
    stripe: side,
    shop: payment?.side ?? unknown,
    differences: compareSides(side, currency, payment)
  }
}

/** The payments of the shop within the period that no movement of the balance belongs to. */
async function unmatched(
  shop: ShopContext,
  stripe: Stripe,
  period: Period,
  matched: ReadonlySet<number>
): Promise<PaymentRow[]> {
  const attempts = paidAttempts(shop.db, readyGateway(shop), period).filter(({ id }) => !matched.has(id))
  const rows: PaymentRow[] = []
  for (const attempt of attempts) {
    // A charge of just before the period, which the shop noticed within it, belongs to the period before.
    if (await wasCharged(stripe, attempt)) continue
    const { side } = readShopSide(shop.db, attempt)
    rows.push({
      chargeId: null,
      intentId: attempt.paymentIntentId,
      at: attempt.settledAt ?? attempt.updatedAt,
      currency: attempt.currency,
      stripe: null,
      shop: side,
      differences: ['charge_not_at_stripe']
    })
  }
  return rows
}

async function wasCharged(stripe: Stripe, { paymentIntentId }: AttemptRow): Promise<boolean> {
  if (paymentIntentId === null) return false
  const intent = await unlessMissing(stripe.paymentIntents.retrieve(paymentIntentId))
  return intent?.status === 'succeeded'
}

/** What the shop says about a payment, and what a comparison needs besides. */
type ShopPayment = { side: ShopSide; currency: string; requestedMinor: number; isSurplus: boolean }

/** What the shop says about an attempt. */
function readShopSide(db: Db, attempt: AttemptRow): ShopPayment {
  const { renewalOf, status } = getOrder(db, attempt.orderId)
  const rows = db.orm
    .select()
    .from(refunds)
    .where(eq(refunds.orderId, attempt.orderId))
    .all()
    .filter(({ attemptId }) => attemptId === attempt.id)
  const sum = (state: string): number =>
    rows.reduce((total, row) => total + (row.state === state ? row.amountMinor : 0), 0)
  return {
    side: {
      orderId: attempt.orderId,
      renewalOf,
      status,
      isPaid: attempt.outcome === 'paid',
      amountMinor: attempt.amountMinor,
      refundedMinor: sum('done')
    },
    currency: attempt.currency,
    requestedMinor: sum('requested'),
    isSurplus: isSurplus(db, attempt)
  }
}

/** What the shop says about a renewal that it does not know: the order that started the subscription. */
function readUnknownRenewal(db: Db, { orderId }: AttemptRow): ShopSide {
  const { status } = getOrder(db, orderId)
  return { orderId, renewalOf: null, status, isPaid: false, amountMinor: null, refundedMinor: 0 }
}

/** How Stripe's word about a charge differs from the shop's; refunds compare with lost disputes, which the shop records as refunds. */
function compareSides(
  { amountMinor, refundedMinor, disputeLostMinor }: StripeSide,
  currency: string,
  payment: ShopPayment | null
): Difference[] {
  if (payment === null) return ['charge_not_in_shop']
  const { side, requestedMinor } = payment
  const returnedMinor = refundedMinor + disputeLostMinor
  // A payment that did not match its order went back as a whole, and the shop knows: nothing is left to compare.
  if (!side.isPaid && returnedMinor === amountMinor && side.refundedMinor === amountMinor) return []
  const differs = amountMinor !== side.amountMinor || currency !== payment.currency
  const isStanding = payment.isSurplus && returnedMinor < amountMinor
  const found: (readonly [Difference, boolean])[] = [
    ['charge_not_in_shop', !side.isPaid],
    ['amount_differs', differs],
    ['refund_not_in_shop', returnedMinor > side.refundedMinor + requestedMinor],
    ['refund_not_at_stripe', returnedMinor < side.refundedMinor],
    ['paid_twice', isStanding]
  ]
  return found.filter(([, applies]) => applies).map(([difference]) => difference)
}

/** The card payments that the shop recorded within a period, in the gateway and mode that it uses. */
function paidAttempts(db: Db, { name, livemode }: CardGateway, { from, to }: Period): AttemptRow[] {
  return db.orm
    .select()
    .from(paymentAttempts)
    .where(
      and(
        eq(paymentAttempts.outcome, 'paid'),
        eq(paymentAttempts.gateway, name),
        eq(paymentAttempts.livemode, livemode),
        inArray(paymentAttempts.kind, ['checkout_session', 'payment_intent', 'invoice']),
        gt(paymentAttempts.amountMinor, 0),
        gte(paymentAttempts.settledAt, from),
        lt(paymentAttempts.settledAt, to)
      )
    )
    .all()
}
