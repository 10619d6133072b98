import type Stripe from 'stripe'
import { Declined, save, getStored, route } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { openDispute } from './disputes.ts'
import { withDocs } from '../http/errors.ts'
import type { ErrorBody } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import type { Method } from './payment-methods.ts'
import { methodOf } from './payment-methods.ts'
import { idOf, newId } from '../store/ids.ts'
import type { Decline } from './test-cards.ts'
import { setTimer } from '../timers.ts'
import { recordMovement } from './balance.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { text } from '../http/params.ts'

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

/** Stores a charge for an intent: failed with a `decline`, pending for a card that settles later, else succeeded. */
export function createCharge(
  context: Context,
  intent: Stripe.PaymentIntent,
  method: Method,
  decline?: Decline
): Stripe.Charge {
  const { card } = method
  const pending = !decline && card.settlesAs !== undefined
  const paid = !decline && !pending
  const id = newId('ch')
  const charge = {
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: paid ? intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: paid ? recordCharge(context, { ...intent, id }) : null,
    billing_details: method.object.billing_details,
    calculated_statement_descriptor: 'SANDBOX',
    captured: paid,
    created: context.now,
    currency: intent.currency,
    customer: idOf(intent.customer),
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: decline?.code ?? null,
    failure_message: decline?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcomeOf(decline, card.elevatedRisk === true),
    paid,
    payment_intent: intent.id,
    payment_method: method.object.id,
    payment_method_details: detailsOf(method),
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: intent.statement_descriptor,
    statement_descriptor_suffix: intent.statement_descriptor_suffix,
    status: decline ? 'failed' : pending ? 'pending' : 'succeeded',
    transfer_data: null,
    transfer_group: null
  } satisfies Stripe.Charge
  return save(context, 'charge', charge, pending ? { settlesAs: card.settlesAs ?? 'succeeded' } : undefined)
}

/** Records a successful charge in the balance, and returns the transaction's id. */
export function recordCharge(
  context: Context,
  { id, amount, currency }: Pick<Stripe.Charge, 'id' | 'amount' | 'currency'>
): string {
  return recordMovement(context, { type: 'charge', amount, currency, source: id })
}

function outcomeOf(decline: Decline | undefined, elevated: boolean): Stripe.Charge.Outcome {
  const blocked = decline?.blocked === true
  return {
    advice_code: decline?.advice_code ?? null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: blocked ? 'not_sent_to_network' : decline ? 'declined_by_network' : 'approved_by_network',
    reason: blocked ? 'highest_risk_level' : (decline?.decline_code ?? decline?.code ?? null),
    risk_level: blocked ? 'highest' : elevated ? 'elevated' : 'normal',
    risk_score: blocked ? 92 : elevated ? 70 : 20,
    seller_message: decline ? 'The payment did not go through.' : 'Payment complete.',
    type: blocked ? 'blocked' : decline ? 'issuer_declined' : 'authorized'
  }
}

function detailsOf({ object, card }: Method): Stripe.Charge.PaymentMethodDetails {
  const { brand = card.brand, country = card.country, exp_month = 12, exp_year = 2030 } = object.card ?? {}
  return {
    card: {
      amount_authorized: null,
      authorization_code: null,
      brand,
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
      country,
      electronic_commerce_indicator: null,
      exp_month,
      exp_year,
      fingerprint: object.card?.fingerprint ?? null,
      funding: card.funding,
      installments: null,
      last4: card.last4,
      mandate: null,
      network: brand,
      network_transaction_id: null,
      regulated_status: 'unregulated',
      three_d_secure: null,
      transaction_link_id: null,
      wallet: null
    },
    type: 'card'
  }
}

const listShape = { ...pageShape, payment_intent: text({ max: 255 }), customer: text({ max: 255 }) }

export const chargeRoutes: readonly Route[] = [
  route(
    'charges.retrieve',
    'GET /v1/charges/:id',
    {},
    (context, _params, id) => getStored(context, 'charge', id).object
  ),
  route('charges.list', 'GET /v1/charges', listShape, (context, params) =>
    listPage(context, 'charge', params, '/v1/charges', filtersOf(params, 'payment_intent', 'customer'))
  )
]
