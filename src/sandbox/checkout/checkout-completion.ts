import type Stripe from 'stripe'
import { settleFirstInvoice, startSubscription } from '../billing/billing.ts'
import { getStored, save } from '../http/context.ts'
import type { Context } from '../http/context.ts'
import { redeemCoupon } from '../billing/prices.ts'
import { customerOf } from '../payments/customers.ts'
import { emit } from '../events/events.ts'
import type { SessionPlan } from '../store/objects.ts'
import { clearTimer } from '../timers.ts'

/**
 * Expires an open session and cancels its intent, so that it can no longer be paid; emits `checkout.session.expired`.
 * A session that is not open is returned unchanged.
 *
 * @throws StripeRefusal resource_missing
 */
export function expireSession(context: Context, id: string): Stripe.Checkout.Session {
  const { object, hidden } = getStored(context, 'checkout.session', id)
  if (object.status !== 'open') return object
  const expired = save(context, 'checkout.session', { ...object, status: 'expired', url: null })
  clearTimer(context, id, 'expire_session')
  cancelIntent(context, hidden.intentId)
  emit(context, 'checkout.session.expired', expired)
  return expired
}

/**
 * Completes a session whose payment succeeded (`paid`), is processing (`unpaid`) or was not required. Creates its
 * subscription or customer, redeems its coupon, and emits `checkout.session.completed`.
 */
export function completeSession(
  context: Context,
  id: string,
  payment: 'paid' | 'unpaid' | 'no_payment_required'
): Stripe.Checkout.Session {
  const { object, hidden } = getStored(context, 'checkout.session', id)
  const intent = hidden.intentId === null ? null : getStored(context, 'payment_intent', hidden.intentId).object
  const complete = save(context, 'checkout.session', {
    ...withBuyer(context, object, hidden, intent),
    status: 'complete',
    payment_status: payment,
    url: null
  })
  clearTimer(context, id, 'expire_session')
  if (hidden.couponId !== null) redeemCoupon(context, hidden.couponId)
  emit(context, 'checkout.session.completed', complete)
  return complete
}

/**
 * Updates the Checkout Session of an intent whose state changed: completes an open one, and reports the result of a
 * delayed payment for a completed one. Does nothing for an intent without a session.
 */
export function afterPayment(context: Context, intent: Stripe.PaymentIntent): void {
  const { sessionId } = getStored(context, 'payment_intent', intent.id).hidden
  const session = sessionId === null ? undefined : context.store.find('checkout.session', sessionId)?.object
  if (!session) return
  if (session.status === 'open') {
    if (intent.status === 'succeeded') completeSession(context, session.id, 'paid')
    else if (intent.status === 'processing') completeSession(context, session.id, 'unpaid')
    return
  }
  if (session.payment_status !== 'unpaid' || session.status !== 'complete') return
  if (session.mode === 'subscription') settleFirstInvoice(context, session, intent)
  if (intent.status === 'succeeded') {
    const paid = save(context, 'checkout.session', { ...session, payment_status: 'paid' })
    emit(context, 'checkout.session.async_payment_succeeded', paid)
  } else if (intent.status === 'requires_payment_method') {
    emit(context, 'checkout.session.async_payment_failed', session)
  }
}

/** The session with the subscription or the customer that its completion creates. */
function withBuyer(
  context: Context,
  session: Stripe.Checkout.Session,
  plan: SessionPlan,
  intent: Stripe.PaymentIntent | null
): Stripe.Checkout.Session {
  if (session.mode === 'subscription') return startSubscription(context, session, plan, intent)
  return session.customer_creation === 'always' ? { ...session, customer: customerOf(context, session) } : session
}

function cancelIntent(context: Context, id: string | null): void {
  const intent = id === null ? undefined : context.store.find('payment_intent', id)?.object
  if (!intent || !intent.status.startsWith('requires_')) return
  const canceled = save(context, 'payment_intent', {
    ...intent,
    status: 'canceled',
    canceled_at: context.now,
    cancellation_reason: 'automatic',
    next_action: null
  })
  emit(context, 'payment_intent.canceled', canceled)
}
