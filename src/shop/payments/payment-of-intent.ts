import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import { findAttemptByObject, findAttemptByToken, getAttempt } from './attempts.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import { idOf } from './gateway-state.ts'
import { lookUp, unlessMissing } from './look-up.ts'
import { ownership } from './metadata.ts'
import { assertFirstPaymentSettled, findOwnInvoice, hasStarted } from './own-subscription.ts'
import { isPaidRenewal, recordRenewal } from './renewals.ts'
import type { AttemptRow } from './rows.ts'
import { applyGatewayState } from './settle.ts'

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
