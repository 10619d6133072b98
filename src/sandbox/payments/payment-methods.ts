import type Stripe from 'stripe'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter, badState, noSuch } from '../http/errors.ts'
import { newId } from '../store/ids.ts'
import { choice, email, emptyable, metadata, required, shape, text, url } from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { cardNamed, findTestCard } from './test-cards.ts'
import type { TestCard } from './test-cards.ts'

const address = shape({
  city: emptyable(text()),
  country: emptyable(text({ max: 2 })),
  line1: emptyable(text()),
  line2: emptyable(text()),
  postal_code: emptyable(text()),
  state: emptyable(text())
})
const billingDetails = shape({
  address: emptyable(address),
  email: emptyable(email()),
  name: emptyable(text()),
  phone: emptyable(text({ max: 40 }))
})
export const paymentMethodData = {
  type: required(choice('card')),
  card: shape({ token: required(text({ max: 255 })) }),
  billing_details: billingDetails,
  metadata: metadata(),
  allow_redisplay: choice('always', 'limited', 'unspecified')
}
type MethodData = Values<typeof paymentMethodData>
/** A stored payment method and the test card behind it. */
export type Method = { object: Stripe.PaymentMethod; card: TestCard }

/**
 * A stored payment method, or a new one for a test name such as `pm_card_visa`.
 *
 * @throws StripeRefusal resource_missing
 */
export function useMethod(context: Context, id: string): Method {
  const test = id.startsWith('pm_') ? findTestCard(id) : undefined
  if (test) return createMethod(context, test.name)
  const stored = context.store.find('payment_method', id)
  if (!stored) throw noSuch('PaymentMethod', id, 'payment_method')
  return { object: stored.object, card: cardOf(stored.hidden.card) }
}

/**
 * Creates a payment method from a token such as `tok_visa`.
 *
 * @throws StripeRefusal parameter_missing, resource_missing
 */
export function methodFromData(context: Context, data: MethodData): Method {
  const token = data.card?.token
  if (token === undefined)
    throw badParameter('Missing required param: payment_method_data[card].', {
      code: 'parameter_missing',
      param: 'card'
    })
  const test = token.startsWith('tok_') ? findTestCard(token) : undefined
  // Names the parameter that a bad payment method names, so that the shop reports both in the same way.
  if (!test) throw noSuch('token', token, 'payment_method')
  return createMethod(context, test.name, data)
}

/**
 * Creates a payment method from a confirmation token: one created by the test helper, or `ctoken_` and a test card's
 * name. Binds a created token to the intent.
 *
 * @throws StripeRefusal resource_missing, or payment_intent_confirmation_token_invalid for a token used by another intent
 */
export function methodFromConfirmationToken(context: Context, id: string, intentId: string): Method {
  const stored = context.store.find('confirmation_token', id)
  if (!stored) {
    const name = /^ctoken_(?:card_)?(\w{1,100})$/.exec(id)?.[1]
    if (name === undefined || !cardNamed(name)) throw noSuch('confirmation token', id, 'payment_method')
    return createMethod(context, name)
  }
  if (stored.hidden.usedBy !== null && stored.hidden.usedBy !== intentId) {
    throw badState('This ConfirmationToken has already been used.', {
      code: 'payment_intent_confirmation_token_invalid',
      param: 'confirmation_token'
    })
  }
  save(
    context,
    'confirmation_token',
    { ...stored.object, payment_intent: intentId },
    { ...stored.hidden, usedBy: intentId }
  )
  return createMethod(context, stored.hidden.card)
}

/**
 * A stored payment method and its test card.
 *
 * @throws StripeRefusal resource_missing
 */
export function methodOf(context: Context, id: string): Method {
  const stored = getStored(context, 'payment_method', id, 'payment_method')
  return { object: stored.object, card: cardOf(stored.hidden.card) }
}

function createMethod(context: Context, name: string, data?: MethodData): Method {
  const card = cardOf(name)
  const sent = data?.billing_details
  const object = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: data?.allow_redisplay ?? 'unspecified',
    billing_details: {
      address: {
        city: sent?.address?.city ?? null,
        country: sent?.address?.country ?? null,
        line1: sent?.address?.line1 ?? null,
        line2: sent?.address?.line2 ?? null,
        postal_code: sent?.address?.postal_code ?? null,
        state: sent?.address?.state ?? null
      },
      email: sent?.email ?? null,
      name: sent?.name ?? null,
      phone: sent?.phone ?? null,
      tax_id: null
    },
    card: cardDetails(context, card),
    created: context.now,
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: data?.metadata ?? {},
    type: 'card'
  } satisfies Stripe.PaymentMethod
  return { object: save(context, 'payment_method', object, { card: name }), card }
}

function cardDetails(context: Context, card: TestCard): Stripe.PaymentMethod.Card {
  return {
    brand: card.brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'unchecked' },
    country: card.country,
    display_brand: card.brand,
    exp_month: 12,
    exp_year: new Date(context.nowMs).getUTCFullYear() + 2,
    fingerprint: `sandbox${card.last4}`,
    funding: card.funding,
    generated_from: null,
    last4: card.last4,
    networks: { available: [card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null
  }
}

function cardOf(name: string): TestCard {
  const card = cardNamed(name)
  if (!card) throw new TypeError('A stored payment method has an unknown test card.')
  return card
}

const testTokenShape = {
  payment_method: text({ max: 255 }),
  payment_method_data: shape(paymentMethodData),
  return_url: url(),
  setup_future_usage: choice('off_session', 'on_session')
}

function createConfirmationToken(context: Context, params: Values<typeof testTokenShape>): Stripe.ConfirmationToken {
  const { payment_method: id, payment_method_data: data } = params
  const test = findTestCard(id ?? data?.card?.token ?? '')
  if (!test) throw noSuch('PaymentMethod', id ?? '', 'payment_method')
  const object = {
    id: newId('ctoken'),
    object: 'confirmation_token',
    created: context.now,
    expires_at: context.now + 12 * 3600,
    livemode: false,
    metadata: {},
    payment_intent: null,
    payment_method_options: null,
    payment_method_preview: null,
    return_url: params.return_url ?? null,
    setup_future_usage: params.setup_future_usage ?? null,
    setup_intent: null,
    shipping: null,
    use_stripe_sdk: false
  } satisfies Stripe.ConfirmationToken
  return save(context, 'confirmation_token', object, { card: test.name, usedBy: null })
}

export const paymentMethodRoutes: readonly Route[] = [
  route(
    'payment_methods.create',
    'POST /v1/payment_methods',
    paymentMethodData,
    (context, params) => methodFromData(context, params).object
  ),
  route('payment_methods.retrieve', 'GET /v1/payment_methods/:id', {}, (context, _params, id) =>
    findTestCard(id) ? useMethod(context, id).object : getStored(context, 'payment_method', id).object
  ),
  route(
    'confirmation_tokens.create',
    'POST /v1/test_helpers/confirmation_tokens',
    testTokenShape,
    createConfirmationToken
  ),
  route(
    'confirmation_tokens.retrieve',
    'GET /v1/confirmation_tokens/:id',
    {},
    (context, _params, id) => getStored(context, 'confirmation_token', id).object
  )
]
