import type Stripe from 'stripe'
import { answerChallenge, attemptPayment } from '../payments/charging.ts'
import { afterPayment, completeSession, expireSession } from './checkout-completion.ts'
import { save } from '../http/context.ts'
import type { Context } from '../http/context.ts'
import { StripeRefusal } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import { newIntent } from '../payments/intent-object.ts'
import { idOf } from '../store/ids.ts'
import { isEmail } from '../http/params.ts'
import { useMethod } from '../payments/payment-methods.ts'
import { customerDetails } from './checkout-sessions.ts'
import type { Hidden } from '../store/objects.ts'
import type { Stored } from '../store/object-store.ts'

/** The result of submitting a hosted page; `url` is where the browser goes next. */
export type PageOutcome =
  | { kind: 'not_found' }
  | { kind: 'expired' }
  | { kind: 'email_needed'; sessionId: string }
  | { kind: 'declined'; message: string; sessionId: string | null; url?: string }
  | { kind: 'challenge'; url: string }
  | { kind: 'complete'; url: string }

type Session = Stored<'checkout.session'>

/** Attempts to pay a session with a test payment method, as the page's Pay button does. Never charges a paid session again. */
export function payCheckout(
  context: Context,
  id: string,
  paid: { paymentMethod: string; email: string | null }
): PageOutcome {
  const stored = context.store.find('checkout.session', id)
  if (!stored) return { kind: 'not_found' }
  if (stored.object.status === 'complete') return { kind: 'complete', url: successUrl(stored.object) }
  if (stored.object.status === 'expired' || stored.object.expires_at <= context.now) {
    expireSession(context, id)
    return { kind: 'expired' }
  }
  const session = withEmail(context, stored, paid.email)
  if (!session) return { kind: 'email_needed', sessionId: id }
  if (session.object.amount_total === 0) return completeFree(context, session, paid.paymentMethod)
  return attempt(context, session, paid.paymentMethod)
}

/** Applies the bank page's Approve or Refuse button to an intent that requires authentication. */
export function answerBankPage(context: Context, intentId: string, approved: boolean): PageOutcome {
  const stored = context.store.find('payment_intent', intentId)
  if (!stored) return { kind: 'not_found' }
  const { object: intent, hidden } = stored
  if (intent.status === 'canceled') return { kind: 'expired' }
  if (intent.status !== 'requires_action')
    return { kind: 'complete', url: returnUrl(intent, hidden) ?? context.publicUrl }
  const paid = answerChallenge(context, intent, approved)
  afterPayment(context, paid.intent)
  const url = returnUrl(paid.intent, hidden) ?? context.publicUrl
  if (!paid.declined) return { kind: 'complete', url }
  return { kind: 'declined', message: paid.declined.error.message, sessionId: hidden.sessionId, url }
}

/** The session's success URL with `{CHECKOUT_SESSION_ID}` replaced (docs.stripe.com/payments/checkout/custom-success-page). */
export function successUrl(session: Stripe.Checkout.Session): string {
  return (session.success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', session.id)
}

/** Completes a session with a total of 0. A subscription that always collects a card stores it for its later invoices. */
function completeFree(context: Context, { object, hidden }: Session, paymentMethod: string): PageOutcome {
  if (object.mode === 'subscription' && object.payment_method_collection === 'always') {
    const methodId = useMethod(context, paymentMethod).object.id
    save(context, 'checkout.session', object, { ...hidden, methodId })
  }
  return { kind: 'complete', url: successUrl(completeSession(context, object.id, 'no_payment_required')) }
}

function attempt(context: Context, session: Session, paymentMethod: string): PageOutcome {
  const { id } = session.object
  const intent = intentOf(context, session)
  let method
  try {
    method = useMethod(context, paymentMethod)
  } catch (error) {
    if (error instanceof StripeRefusal) return { kind: 'declined', message: error.message, sessionId: id }
    throw error
  }
  const url = successUrl(session.object)
  save(context, 'payment_intent', intent, { sessionId: id, returnUrl: url })
  const paid = attemptPayment(context, intent, method, { returnUrl: url })
  afterPayment(context, paid.intent)
  if (paid.declined) return { kind: 'declined', message: paid.declined.error.message, sessionId: id }
  const bank = paid.intent.next_action?.redirect_to_url?.url
  return bank ? { kind: 'challenge', url: bank } : { kind: 'complete', url }
}

/** The session's intent, created at the first attempt, as Stripe does. */
function intentOf(context: Context, { object: session, hidden }: Session): Stripe.PaymentIntent {
  const known = hidden.intentId === null ? undefined : context.store.find('payment_intent', hidden.intentId)?.object
  if (known) return known
  const intent = newIntent(context, {
    ...hidden.intent,
    amount: session.amount_total ?? 0,
    currency: session.currency ?? '',
    customer: idOf(session.customer),
    capture_method: 'automatic_async'
  })
  save(context, 'payment_intent', intent, { sessionId: session.id, returnUrl: null })
  const named = session.mode === 'payment' ? { ...session, payment_intent: intent.id } : session
  save(context, 'checkout.session', named, { ...hidden, intentId: intent.id })
  emit(context, 'payment_intent.created', intent)
  return intent
}

function withEmail(context: Context, stored: Session, email: string | null): Session | undefined {
  const { object, hidden } = stored
  if (object.customer_details?.email) return stored
  if (email === null || !isEmail(email) || email.length > 254) return undefined
  const named = save(context, 'checkout.session', { ...object, customer_details: customerDetails(email) })
  return { object: named, hidden }
}

/**
 * Stripe appends the result to the return URL of a confirmed intent, but not to a session's. The shop must not trust it:
 * a browser can change it.
 */
function returnUrl(intent: Stripe.PaymentIntent, plan: Hidden['payment_intent']): string | undefined {
  if (plan.returnUrl === null || plan.sessionId !== null) return plan.returnUrl ?? undefined
  const url = new URL(plan.returnUrl)
  url.searchParams.set('payment_intent', intent.id)
  url.searchParams.set('payment_intent_client_secret', intent.client_secret ?? '')
  const status = intent.status === 'succeeded' ? 'succeeded' : intent.status === 'processing' ? 'pending' : 'failed'
  url.searchParams.set('redirect_status', status)
  return url.href
}
