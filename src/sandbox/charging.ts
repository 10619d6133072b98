import type Stripe from 'stripe'
import { createCharge, recordCharge } from './charges.ts'
import { Declined, save } from './context.ts'
import type { Context } from './context.ts'
import { openDispute } from './disputes.ts'
import { withDocs } from './errors.ts'
import type { ErrorBody } from './errors.ts'
import { emit } from './events.ts'
import type { Method } from './payment-methods.ts'
import { methodOf } from './payment-methods.ts'
import { idOf } from './ids.ts'
import type { Decline } from './test-cards.ts'
import { setTimer } from './timers.ts'

/** How long a payment stays `processing`. */
const settlingMs = 5_000

const forcedDecline: Decline = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.'
}

export type Attempt = {
  returnUrl: string | null
  /** Declines a payment that requires authentication, with this decline code, instead of setting a next action. */
  refuseChallenge?: 'authentication_required' | 'authentication_not_handled'
}
/** The intent after an attempt, and the error answer if the attempt was declined. */
export type Paid = { intent: Stripe.PaymentIntent; declined?: Declined }

/**
 * Confirms an intent with a payment method. The intent becomes `succeeded`, `processing`, `requires_action`, or
 * `requires_payment_method` after a decline. Stores it and emits its events.
 */
export function attemptPayment(context: Context, intent: Stripe.PaymentIntent, method: Method, attempt: Attempt): Paid {
  if (!method.card.challenge) return takePayment(context, intent, method)
  if (attempt.refuseChallenge) {
    return failPayment(context, intent, method, {
      code: 'authentication_required',
      decline_code: attempt.refuseChallenge,
      message: 'Your card was declined. This transaction requires authentication.'
    })
  }
  const waiting: Stripe.PaymentIntent = {
    ...intent,
    status: 'requires_action',
    payment_method: method.object.id,
    last_payment_error: null,
    next_action: nextAction(context, intent.id, attempt.returnUrl)
  }
  save(context, 'payment_intent', waiting)
  emit(context, 'payment_intent.requires_action', waiting)
  return { intent: waiting }
}

/** Applies the result of 3-D Secure authentication: charges the card, or fails the payment without a charge. */
export function answerChallenge(context: Context, intent: Stripe.PaymentIntent, approved: boolean): Paid {
  const method = methodOf(context, idOf(intent.payment_method) ?? '')
  if (approved) return takePayment(context, intent, method)
  return failUncharged(context, intent, {
    type: 'invalid_request_error',
    code: 'payment_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication. Try again, or with another PaymentMethod.',
    payment_method: method.object
  })
}

/** Charges a saved card without 3-D Secure, because the customer authenticated when saving it; `forced` overrides the card. */
export function chargeOffSession(
  context: Context,
  intent: Stripe.PaymentIntent,
  method: Method,
  forced?: 'paid' | 'failed'
): Paid {
  if (forced === 'failed') return failPayment(context, intent, method, forcedDecline)
  if (forced !== 'paid') return takePayment(context, intent, withoutDelay(method))
  return succeed(context, intent, createCharge(context, intent, withoutDelay(method)), method)
}

/** Settles a `processing` payment: it succeeds or fails according to its card's `settlesAs`. Any other status is unchanged. */
export function settlePayment(context: Context, intent: Stripe.PaymentIntent): Paid {
  const stored = context.store.find('charge', idOf(intent.latest_charge) ?? '')
  const method = methodOf(context, idOf(intent.payment_method) ?? '')
  if (!stored || intent.status !== 'processing') return { intent }
  if (stored.hidden.settlesAs === 'succeeded') {
    const charge: Stripe.Charge = {
      ...stored.object,
      status: 'succeeded',
      paid: true,
      captured: true,
      amount_captured: intent.amount,
      balance_transaction: recordCharge(context, stored.object)
    }
    save(context, 'charge', charge)
    return succeed(context, intent, charge, method)
  }
  const decline = { code: 'card_declined', decline_code: 'generic_decline', message: 'The payment failed.' }
  const charge: Stripe.Charge = {
    ...stored.object,
    status: 'failed',
    failure_code: decline.code,
    failure_message: decline.message
  }
  save(context, 'charge', charge)
  emit(context, 'charge.failed', charge)
  return failUncharged(context, intent, {
    type: 'card_error',
    ...decline,
    charge: charge.id,
    payment_method: method.object
  })
}

function takePayment(context: Context, intent: Stripe.PaymentIntent, method: Method): Paid {
  if (method.card.decline) return failPayment(context, intent, method, method.card.decline)
  const charge = createCharge(context, intent, method)
  if (charge.status === 'succeeded') return succeed(context, intent, charge, method)
  const processing: Stripe.PaymentIntent = {
    ...intent,
    status: 'processing',
    payment_method: method.object.id,
    latest_charge: charge.id,
    next_action: null,
    last_payment_error: null
  }
  save(context, 'payment_intent', processing)
  emit(context, 'charge.pending', charge)
  emit(context, 'payment_intent.processing', processing)
  setTimer(context, intent.id, 'settle_payment', context.nowMs + settlingMs)
  return { intent: processing }
}

function succeed(context: Context, intent: Stripe.PaymentIntent, charge: Stripe.Charge, method: Method): Paid {
  const succeeded: Stripe.PaymentIntent = {
    ...intent,
    status: 'succeeded',
    amount_received: intent.amount,
    payment_method: method.object.id,
    latest_charge: charge.id,
    next_action: null,
    last_payment_error: null
  }
  save(context, 'payment_intent', succeeded)
  emit(context, 'charge.succeeded', charge)
  emit(context, 'payment_intent.succeeded', succeeded)
  if (method.card.dispute) openDispute(context, charge, method.card.dispute)
  return { intent: succeeded }
}

function failPayment(context: Context, intent: Stripe.PaymentIntent, method: Method, decline: Decline): Paid {
  const { blocked: _, ...fields } = decline
  const charge = createCharge(context, intent, method, decline)
  emit(context, 'charge.failed', charge)
  const withCharge = { ...intent, latest_charge: charge.id }
  return failUncharged(context, withCharge, {
    type: 'card_error',
    ...fields,
    charge: charge.id,
    payment_method: method.object
  })
}

function failUncharged(context: Context, intent: Stripe.PaymentIntent, error: ErrorBody): Paid {
  const full = withDocs(error)
  const failed: Stripe.PaymentIntent = {
    ...intent,
    status: 'requires_payment_method',
    payment_method: null,
    next_action: null,
    last_payment_error: full
  }
  save(context, 'payment_intent', failed)
  emit(context, 'payment_intent.payment_failed', failed)
  return { intent: failed, declined: new Declined({ ...full, payment_intent: failed }) }
}

function nextAction(context: Context, intentId: string, returnUrl: string | null): Stripe.PaymentIntent.NextAction {
  const page = `${context.publicUrl}/sandbox/3ds/${intentId}`
  if (returnUrl === null) {
    return { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: page } }
  }
  return { type: 'redirect_to_url', redirect_to_url: { return_url: returnUrl, url: page } }
}

function withoutDelay(method: Method): Method {
  const { settlesAs: _, ...card } = method.card
  return { ...method, card }
}
