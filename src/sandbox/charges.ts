import type Stripe from 'stripe'
import { recordMovement } from './balance.ts'
import { getStored, route, save } from './context.ts'
import type { Context, Route } from './context.ts'
import { idOf, newId } from './ids.ts'
import { filtersOf, listPage, pageShape } from './lists.ts'
import { text } from './params.ts'
import type { Method } from './payment-methods.ts'
import type { Decline } from './test-cards.ts'

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
