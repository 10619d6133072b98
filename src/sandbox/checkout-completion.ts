import type Stripe from 'stripe'
import { settleFirstInvoice, startSubscription } from './billing.ts'
import { getStored, save } from './context.ts'
import type { Context } from './context.ts'
import { redeemCoupon } from './coupons.ts'
import { customerOf } from './customers.ts'
import { emit } from './events.ts'
import type { SessionPlan } from './objects.ts'
import { clearTimer } from './timers.ts'

/** An open session whose time is up, or whose owner ends it: nothing can be paid by it any more. */
export function expireSession(context: Context, id: string): Stripe.Checkout.Session {
  const { object, hidden } = getStored(context, 'checkout.session', id)
  if (object.status !== 'open') return object
  const expired = save(context, 'checkout.session', { ...object, status: 'expired', url: null })
  clearTimer(context, id, 'expire_session')
  cancelIntent(context, hidden.intentId)
  emit(context, 'checkout.session.expired', expired)
  return expired
}

/** Closes a session after its payment succeeded, is on its way, or was not needed. */
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

/** What an intent's new state means for the Checkout Session above it; nothing for an intent without one. */
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

/** The session with what its completion makes: a subscription, a customer, or neither. */
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
