import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import { findAttemptByObject, findAttemptByToken, isSurplus, getAttempt } from './attempts.ts'
import { applyDispute, disputeOf } from './disputes.ts'
import type { Effect, GatewayEvent } from './gateway-state.ts'
import { applyRefunds, refundsOf } from './gateway-refunds.ts'
import { idOf, ownership, lookUp, unlessMissing } from './gateway-state.ts'
import { warnOfLostOrder } from './unexpected-payment.ts'
import type { AttemptRow } from './rows.ts'
import { applyGatewayState } from './settle.ts'
import {
  endSubscriptionOf,
  invoiceEffect,
  subscriptionEffect,
  assertFirstPaymentSettled,
  findOwnInvoice,
  hasStarted,
  isPaidRenewal,
  recordRenewal
} from './subscriptions.ts'
import { warn } from './warnings.ts'
import type { UnitOfWork } from './warnings.ts'

type Handler = (shop: ShopContext, stripe: Stripe, objectId: string) => Promise<Effect | undefined>

/** By the beginning of an event's type, which determines the event's object and how to fetch it. */
const handlers: readonly (readonly [prefix: string, handler: Handler])[] = [
  ['checkout.session.', sessionEffect],
  ['payment_intent.', intentEffect],
  ['refund.', refundEffect],
  ['charge.refund.', refundEffect],
  ['charge.refunded', chargeEffect],
  ['charge.dispute.', disputeEffect],
  ['customer.subscription.', subscriptionEffect],
  ['invoice.', invoiceEffect]
]

/** Fetches what an event is about and returns what it changes; undefined for an event that does not concern this shop. */
export async function effectOf(shop: ShopContext, stripe: Stripe, event: GatewayEvent): Promise<Effect | undefined> {
  const handler = handlers.find(([prefix]) => event.type.startsWith(prefix))?.[1]
  if (handler === undefined || event.objectId === null) return undefined
  if (event.livemode !== shop.cards?.livemode) return otherMode(event)
  return handler(shop, stripe, event.objectId)
}

function otherMode({ id, type, livemode }: GatewayEvent): Effect {
  const [theirs, ours] = livemode ? ['live', 'test'] : ['test', 'live']
  const message = `Event ${id} (${type}) is from Stripe's ${theirs} mode, but this shop uses a ${ours} key. It was ignored.`
  return (unit) => {
    warn(unit, { orderId: null, kind: 'mismatch', objectId: id, message })
    return 'ignored'
  }
}

async function sessionEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const known = findAttemptByObject(shop.db, id)
  if (known !== undefined) return settleEffect(stripe, known)
  const session = await unlessMissing(stripe.checkout.sessions.retrieve(id))
  return session && unknownObject(shop, stripe, session, 'checkout_session')
}

async function intentEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const known = findAttemptByObject(shop.db, id)
  if (known !== undefined) return settleEffect(stripe, known)
  const intent = await unlessMissing(stripe.paymentIntents.retrieve(id))
  return intent && unknownObject(shop, stripe, intent, 'payment_intent')
}

/**
 * An object whose id the shop has not stored: its event may be quicker than the answer that contains the id, or it
 * belongs to other software on the same Stripe account and is ignored.
 */
async function unknownObject(
  shop: ShopContext,
  stripe: Stripe,
  object: Stripe.Checkout.Session | Stripe.PaymentIntent,
  kind: AttemptRow['kind']
): Promise<Effect | undefined> {
  const owner = ownership(shop, object.metadata)
  if (owner === null) return undefined
  const attempt = findAttemptByToken(shop.db, owner.token)
  if (attempt === undefined) return lostOrder(object, owner.orderId)
  // The state of a page's intent is not the state of the page, which has its own events.
  return attempt.objectId !== null || attempt.kind === kind
    ? settleEffect(stripe, { ...attempt, objectId: attempt.objectId ?? object.id })
    : () => 'ignored'
}

/**
 * A payment that this shop started but does not know: its database was restored from before the order. A page and its
 * intent are one charge, named by the intent; what is not paid does not matter.
 */
function lostOrder(object: Stripe.Checkout.Session | Stripe.PaymentIntent, orderId: string): Effect | undefined {
  const isPaid = object.object === 'payment_intent' ? object.status === 'succeeded' : object.payment_status === 'paid'
  const objectId = object.object === 'payment_intent' ? object.id : (idOf(object.payment_intent) ?? object.id)
  if (!isPaid) return undefined
  return (unit) => {
    warnOfLostOrder(unit, objectId, orderId)
    return 'ignored'
  }
}

async function settleEffect(stripe: Stripe, attempt: AttemptRow): Promise<Effect> {
  // A renewal's payment is recorded from its invoice, once and completely.
  if (attempt.kind === 'invoice') return () => 'ignored'
  const state = await lookUp(stripe, attempt)
  if (state === undefined) return () => 'ignored'
  return (unit) => (applyGatewayState(unit, attempt.id, state).verdict === 'mismatch' ? 'ignored' : 'applied')
}

async function refundEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const refund = await unlessMissing(stripe.refunds.retrieve(id))
  return refund && refundsEffect(shop, stripe, idOf(refund.payment_intent))
}

async function chargeEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const charge = await unlessMissing(stripe.charges.retrieve(id))
  return charge && refundsEffect(shop, stripe, idOf(charge.payment_intent))
}

/** All refunds of the payment, so that it does not matter which of their events arrives, or in what order. */
async function refundsEffect(shop: ShopContext, stripe: Stripe, intentId: string | null): Promise<Effect | undefined> {
  const payment = await findPayment(shop, stripe, intentId)
  if (payment === undefined) return undefined
  const found = await refundsOf(stripe, payment.intentId)
  const returnedMinor = found.reduce((sum, { status, amountMinor }) => sum + (status === 'done' ? amountMinor : 0), 0)
  const isWhole = returnedMinor >= payment.attempt.amountMinor
  if (isWhole && isSurplus(shop.db, payment.attempt)) await endSubscriptionOf(stripe, payment.attempt)
  return (unit) => applyRefunds(unit, payment.record(unit), found)
}

async function disputeEffect(shop: ShopContext, stripe: Stripe, id: string): Promise<Effect | undefined> {
  const object = await unlessMissing(stripe.disputes.retrieve(id))
  const payment: Payment | undefined = object && (await findPayment(shop, stripe, idOf(object.payment_intent)))
  if (object === undefined || payment === undefined) return undefined
  const dispute = disputeOf(object)
  const isLost = dispute.status === 'lost' && dispute.amountMinor >= payment.attempt.amountMinor
  if (isLost && isSurplus(shop.db, payment.attempt)) await endSubscriptionOf(stripe, payment.attempt)
  return (unit) => applyDispute(unit, payment.record(unit), dispute)
}

/** The payment that a refund or a dispute is about. */
export type Payment = {
  intentId: string
  attempt: AttemptRow
  /** Records the payment first when its own event never arrived; returns the attempt that the order rests on. */
  record: (unit: UnitOfWork) => AttemptRow
}

/**
 * Finds what a PaymentIntent paid: an attempt of this shop, by its id or its metadata, or an invoice of a subscription,
 * whose intent carries no metadata of ours (intent → invoice payment → invoice → subscription → order).
 *
 * @throws when the payment is ours but not settled yet; the event is delivered or listed again later
 */
export async function findPayment(
  shop: ShopContext,
  stripe: Stripe,
  intentId: string | null
): Promise<Payment | undefined> {
  if (intentId === null) return undefined
  const known = findAttemptByObject(shop.db, intentId)
  if (known !== undefined) return paymentOf(stripe, known, intentId)
  const intent = await unlessMissing(stripe.paymentIntents.retrieve(intentId))
  if (intent === undefined) return undefined
  const owner = ownership(shop, intent.metadata)
  const attempt = owner === null ? undefined : findAttemptByToken(shop.db, owner.token)
  return attempt === undefined ? findInvoicePayment(shop, stripe, intentId) : paymentOf(stripe, attempt, intentId)
}

async function paymentOf(stripe: Stripe, attempt: AttemptRow, intentId: string): Promise<Payment> {
  if (attempt.outcome === 'paid') return { intentId, attempt, record: ({ tx }) => getAttempt(tx, attempt.id) }
  const objectId = attempt.objectId ?? (attempt.kind === 'payment_intent' ? intentId : null)
  const state = await lookUp(stripe, { ...attempt, objectId })
  if (state === undefined) throw new Error(`the payment of order ${attempt.orderId} has not been settled yet`)
  return { intentId, attempt, record: (unit) => applyGatewayState(unit, attempt.id, state).attempt }
}

async function findInvoicePayment(shop: ShopContext, stripe: Stripe, intentId: string): Promise<Payment | undefined> {
  const payment = { type: 'payment_intent', payment_intent: intentId } as const
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1 })
  const invoiceId = idOf(data[0]?.invoice)
  const own = invoiceId === null ? undefined : await findOwnInvoice(shop, stripe, invoiceId)
  if (own === undefined) return undefined
  if (!isPaidRenewal(own)) return paymentOf(stripe, own.attempt, intentId)
  assertFirstPaymentSettled(own)
  // The renewals of a second, surplus subscription are no orders of this shop.
  if (!hasStarted(shop, own)) return undefined
  // The renewal's own attempt does not exist yet; the first order's attempt replaces it until the transaction records it.
  const attempt = {
    ...own.attempt,
    amountMinor: own.invoice.amount_paid,
    kind: 'invoice' as const,
    objectId: own.invoice.id
  }
  return { intentId, attempt, record: (unit) => recordRenewal(unit, own) }
}
