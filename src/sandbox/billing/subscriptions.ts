import type Stripe from 'stripe'
import { beginAtAnchor, endAt, endSubscription, scheduleRenewal, update } from './billing.ts'
import { getStored, route } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter, badState } from '../http/errors.ts'
import { listPage, pageShape } from '../http/lists.ts'
import {
  choice,
  emptyable,
  flag,
  integer,
  list,
  mergeMetadata,
  metadata,
  required,
  shape,
  text
} from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { useMethod } from '../payments/payment-methods.ts'

const reasons = shape({ comment: emptyable(text({ max: 5000 })), feedback: emptyable(text({ max: 50 })) })
const updateShape = {
  cancel_at: emptyable(integer({ min: 1 })),
  cancel_at_period_end: flag(),
  cancellation_details: reasons,
  default_payment_method: text({ max: 255 }),
  description: emptyable(text({ max: 500 })),
  metadata: metadata()
}
/** The sandbox begins a subscription without a checkout only at a later date, as one that another shop sold does. */
const createShape = {
  billing_cycle_anchor: required(integer({ min: 1 })),
  cancel_at: integer({ min: 1 }),
  customer: required(text({ max: 255 })),
  default_payment_method: required(text({ max: 255 })),
  description: text({ max: 500 }),
  items: required(list(shape({ price: required(text({ max: 255 })), quantity: integer({ min: 1 }) }), { max: 20 })),
  metadata: metadata(),
  off_session: flag(),
  proration_behavior: required(choice('none'))
}
const cancelShape = { cancellation_details: reasons, invoice_now: flag(), prorate: flag() }

const statuses = [
  'active',
  'all',
  'canceled',
  'ended',
  'incomplete',
  'incomplete_expired',
  'past_due',
  'paused',
  'trialing',
  'unpaid'
] as const

function createSubscription(context: Context, params: Values<typeof createShape>): Stripe.Subscription {
  const anchor = params.billing_cycle_anchor
  if (anchor <= context.now)
    throw badParameter('billing_cycle_anchor must be a future timestamp.', { param: 'billing_cycle_anchor' })
  const prices = params.items.map(({ price, quantity = 1 }, index) => ({
    price: getStored(context, 'price', price, `items[${index}][price]`).object,
    quantity
  }))
  const begun = beginAtAnchor(context, anchor, prices, {
    customer: getStored(context, 'customer', params.customer, 'customer').object.id,
    paymentMethod: useMethod(context, params.default_payment_method).object.id,
    description: params.description ?? null,
    metadata: mergeMetadata({}, params.metadata)
  })
  if (params.cancel_at === undefined) return begun
  const ending = update(context, begun, endAt(context, params.cancel_at))
  scheduleRenewal(context, ending)
  return ending
}

function updateSubscription(context: Context, params: Values<typeof updateShape>, id: string): Stripe.Subscription {
  const { object } = getStored(context, 'subscription', id)
  refuseEnded(object)
  const atEnd = params.cancel_at_period_end
  const method = params.default_payment_method
  const updated = update(context, object, {
    metadata: mergeMetadata(object.metadata, params.metadata),
    ...(params.description === undefined ? {} : { description: params.description }),
    ...(method === undefined ? {} : { default_payment_method: useMethod(context, method).object.id }),
    ...(atEnd === undefined ? {} : endOfPeriod(context, object, atEnd)),
    ...(params.cancel_at === undefined ? {} : endAt(context, params.cancel_at))
  })
  scheduleRenewal(context, updated)
  return updated
}

function endOfPeriod(context: Context, subscription: Stripe.Subscription, ends: boolean): Partial<Stripe.Subscription> {
  return {
    cancel_at_period_end: ends,
    cancel_at: ends ? (subscription.items.data[0]?.current_period_end ?? null) : null,
    canceled_at: ends ? context.now : null
  }
}

function cancelSubscription(context: Context, _params: object, id: string): Stripe.Subscription {
  const { object } = getStored(context, 'subscription', id)
  refuseEnded(object)
  return endSubscription(context, object)
}

function refuseEnded(subscription: Stripe.Subscription): void {
  if (!['canceled', 'incomplete_expired'].includes(subscription.status)) return
  throw badState('A canceled subscription can only update its cancellation_details and metadata.', { param: 'id' })
}

const listShape = { ...pageShape, customer: text({ max: 255 }), status: choice(...statuses) }

function listSubscriptions(context: Context, params: Values<typeof listShape>): object {
  const { status } = params
  const shown =
    status === 'ended'
      ? ['canceled', 'incomplete_expired']
      : status === undefined
        ? statuses.filter((each) => each !== 'canceled')
        : [status]
  return listPage(context, 'subscription', params, '/v1/subscriptions', [
    ...(params.customer === undefined ? [] : [{ field: 'customer', value: params.customer }]),
    ...(status === 'all' ? [] : [{ field: 'status', value: shown, test: 'in' as const }])
  ])
}

export const subscriptionRoutes: readonly Route[] = [
  route(
    'subscriptions.retrieve',
    'GET /v1/subscriptions/:id',
    {},
    (context, _params, id) => getStored(context, 'subscription', id).object
  ),
  route('subscriptions.create', 'POST /v1/subscriptions', createShape, createSubscription),
  route('subscriptions.list', 'GET /v1/subscriptions', listShape, listSubscriptions),
  route('subscriptions.update', 'POST /v1/subscriptions/:id', updateShape, updateSubscription),
  route('subscriptions.cancel', 'DELETE /v1/subscriptions/:id', cancelShape, cancelSubscription)
]
