import type Stripe from 'stripe'
import { checkAmount, currency } from '../store/amounts.ts'
import { attemptPayment } from './charging.ts'
import type { Attempt } from './charging.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter, badState } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import { newIntent } from './intent-object.ts'
import { afterPayment } from '../checkout/checkout-completion.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import {
  choice,
  email,
  emptyable,
  flag,
  integer,
  list,
  mergeMetadata,
  metadata,
  required,
  shape,
  text,
  url
} from '../http/params.ts'
import type { Values } from '../http/params.ts'
import {
  methodFromConfirmationToken,
  methodFromData,
  methodOf,
  paymentMethodData,
  useMethod
} from './payment-methods.ts'
import type { Method } from './payment-methods.ts'
import { shipping, shippingObject } from '../checkout/shipping.ts'

const payer = {
  payment_method: text({ max: 255 }),
  payment_method_data: shape(paymentMethodData),
  confirmation_token: text({ max: 255 }),
  receipt_email: emptyable(email()),
  setup_future_usage: emptyable(choice('off_session', 'on_session')),
  shipping: emptyable(shipping)
}
const confirming = {
  return_url: url(),
  off_session: flag(),
  error_on_requires_action: flag(),
  use_stripe_sdk: flag()
}
const described = {
  customer: text({ max: 255 }),
  description: emptyable(text({ max: 1000 })),
  metadata: metadata(),
  statement_descriptor: emptyable(text({ max: 22 })),
  statement_descriptor_suffix: emptyable(text({ max: 22 })),
  payment_method_types: list(choice('card'))
}
const createShape = {
  ...payer,
  ...confirming,
  ...described,
  amount: required(integer({ min: 1 })),
  currency: required(currency()),
  confirm: flag(),
  payment_method_configuration: text({ max: 255 }),
  automatic_payment_methods: shape({ enabled: required(flag()), allow_redirects: choice('always', 'never') }),
  capture_method: choice('automatic', 'automatic_async'),
  confirmation_method: choice('automatic', 'manual')
}
const updateShape = { ...payer, ...described, amount: integer({ min: 1 }), currency: currency() }
const confirmShape = { ...payer, ...confirming }

type Payer = Values<typeof payer>

function createIntent(context: Context, params: Values<typeof createShape>): object {
  checkAmount(context, params.amount, params.currency, 'amount')
  if (params.return_url !== undefined && !params.confirm) {
    throw badParameter('You may only specify return_url when you confirm the PaymentIntent.', { param: 'return_url' })
  }
  if (params.customer !== undefined) getStored(context, 'customer', params.customer, 'customer')
  const automatic =
    params.automatic_payment_methods ??
    (params.payment_method_types ? null : { enabled: true, allow_redirects: undefined })
  const intent = newIntent(context, {
    amount: params.amount,
    currency: params.currency,
    customer: params.customer ?? null,
    description: params.description ?? null,
    metadata: mergeMetadata({}, params.metadata),
    receipt_email: params.receipt_email ?? null,
    setup_future_usage: params.setup_future_usage ?? null,
    statement_descriptor: params.statement_descriptor ?? null,
    statement_descriptor_suffix: params.statement_descriptor_suffix ?? null,
    automatic_payment_methods: automatic && {
      enabled: automatic.enabled,
      allow_redirects: automatic.allow_redirects ?? 'always'
    },
    capture_method: params.capture_method ?? 'automatic_async',
    confirmation_method: params.confirmation_method ?? 'automatic'
  })
  const method = methodSent(context, params, intent)
  const stored = save(context, 'payment_intent', withPayer(intent, params, method), {
    sessionId: null,
    returnUrl: null
  })
  emit(context, 'payment_intent.created', stored)
  return params.confirm ? confirm(context, stored, params, method) : stored
}

function confirmIntent(context: Context, params: Values<typeof confirmShape>, id: string): object {
  const { object: intent } = getStored(context, 'payment_intent', id, 'intent')
  refuseUnless(intent, ['requires_payment_method', 'requires_confirmation', 'requires_action'], 'confirm')
  const method = methodSent(context, params, intent)
  return confirm(context, withPayer(intent, params, method), params, method)
}

function confirm(
  context: Context,
  intent: Stripe.PaymentIntent,
  params: Values<typeof confirming>,
  sent: Method | undefined
): object {
  const method =
    sent ?? (typeof intent.payment_method === 'string' ? methodOf(context, intent.payment_method) : undefined)
  if (!method) {
    throw badState('You cannot confirm this PaymentIntent because it is missing a payment method.', {
      code: 'payment_intent_unexpected_state',
      payment_intent: intent
    })
  }
  const automatic = intent.automatic_payment_methods
  if (
    params.return_url === undefined &&
    !params.use_stripe_sdk &&
    automatic?.enabled &&
    automatic.allow_redirects !== 'never'
  ) {
    throw badState(
      'This PaymentIntent may redirect the customer. Confirm it with a `return_url`, or create it with ' +
        '`automatic_payment_methods[allow_redirects]` set to `never`.'
    )
  }
  const attempt: Attempt = {
    returnUrl: params.return_url ?? null,
    ...(params.off_session ? { refuseChallenge: 'authentication_required' as const } : {}),
    ...(params.error_on_requires_action ? { refuseChallenge: 'authentication_not_handled' as const } : {})
  }
  save(context, 'payment_intent', intent, { ...planOf(context, intent.id), returnUrl: attempt.returnUrl })
  const paid = attemptPayment(context, intent, method, attempt)
  afterPayment(context, paid.intent)
  return paid.declined ?? paid.intent
}

function updateIntent(context: Context, params: Values<typeof updateShape>, id: string): Stripe.PaymentIntent {
  const { object: intent } = getStored(context, 'payment_intent', id, 'intent')
  refuseUnless(intent, ['requires_payment_method', 'requires_confirmation', 'requires_action'], 'update')
  const changed = { ...intent, amount: params.amount ?? intent.amount, currency: params.currency ?? intent.currency }
  checkAmount(context, changed.amount, changed.currency, 'amount')
  const method = methodSent(context, params, intent)
  return save(context, 'payment_intent', {
    ...withPayer(changed, params, method),
    description: params.description === undefined ? intent.description : params.description,
    metadata: mergeMetadata(intent.metadata, params.metadata),
    customer: params.customer ?? intent.customer
  })
}

const cancelShape = { cancellation_reason: choice('duplicate', 'fraudulent', 'requested_by_customer', 'abandoned') }

function cancelIntent(context: Context, params: Values<typeof cancelShape>, id: string): Stripe.PaymentIntent {
  const { object: intent, hidden } = getStored(context, 'payment_intent', id, 'intent')
  refuseUnless(
    intent,
    ['requires_payment_method', 'requires_capture', 'requires_confirmation', 'requires_action'],
    'cancel'
  )
  if (hidden.sessionId !== null) {
    throw badState('You cannot cancel the PaymentIntent of a Checkout Session; expire the Checkout Session instead.')
  }
  const canceled = save(context, 'payment_intent', {
    ...intent,
    status: 'canceled',
    canceled_at: context.now,
    cancellation_reason: params.cancellation_reason ?? null,
    next_action: null
  })
  emit(context, 'payment_intent.canceled', canceled)
  return canceled
}

function methodSent(context: Context, params: Payer, intent: Stripe.PaymentIntent): Method | undefined {
  const sent = [params.payment_method, params.payment_method_data, params.confirmation_token].filter(
    (value) => value !== undefined
  )
  if (sent.length > 1) {
    throw badParameter(
      'You may only specify one of these parameters: payment_method, payment_method_data, confirmation_token.',
      {
        code: 'parameters_exclusive',
        param: 'payment_method'
      }
    )
  }
  if (params.payment_method !== undefined) return useMethod(context, params.payment_method)
  if (params.payment_method_data) return methodFromData(context, params.payment_method_data)
  if (params.confirmation_token !== undefined)
    return methodFromConfirmationToken(context, params.confirmation_token, intent.id)
  return undefined
}

function withPayer(intent: Stripe.PaymentIntent, params: Payer, method: Method | undefined): Stripe.PaymentIntent {
  const { receipt_email, setup_future_usage, shipping: sent } = params
  return {
    ...intent,
    ...(receipt_email === undefined ? {} : { receipt_email }),
    ...(setup_future_usage === undefined ? {} : { setup_future_usage }),
    ...(sent ? { shipping: shippingObject(sent) } : {}),
    ...(method ? { payment_method: method.object.id } : {}),
    ...(method && intent.status === 'requires_payment_method' ? { status: 'requires_confirmation' } : {})
  }
}

function refuseUnless(intent: Stripe.PaymentIntent, allowed: readonly string[], verb: string): void {
  if (allowed.includes(intent.status)) return
  const message =
    intent.status === 'succeeded' && verb === 'confirm'
      ? 'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.'
      : `You cannot ${verb} this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of ` +
        `the following statuses may do so: ${allowed.join(', ')}.`
  throw badState(message, { code: 'payment_intent_unexpected_state', payment_intent: intent })
}

function planOf(context: Context, id: string): { sessionId: string | null; returnUrl: string | null } {
  return getStored(context, 'payment_intent', id).hidden
}

const listShape = { ...pageShape, customer: text({ max: 255 }) }

export const paymentIntentRoutes: readonly Route[] = [
  route('payment_intents.create', 'POST /v1/payment_intents', createShape, createIntent),
  route(
    'payment_intents.retrieve',
    'GET /v1/payment_intents/:id',
    { client_secret: text() },
    (context, _params, id) => getStored(context, 'payment_intent', id, 'intent').object
  ),
  route('payment_intents.update', 'POST /v1/payment_intents/:id', updateShape, updateIntent),
  route('payment_intents.confirm', 'POST /v1/payment_intents/:id/confirm', confirmShape, confirmIntent),
  route('payment_intents.cancel', 'POST /v1/payment_intents/:id/cancel', cancelShape, cancelIntent),
  route('payment_intents.list', 'GET /v1/payment_intents', listShape, (context, params) =>
    listPage(context, 'payment_intent', params, '/v1/payment_intents', filtersOf(params, 'customer'))
  )
]
