import type Stripe from 'stripe'
import { endAt, endSubscription, scheduleRenewal, update } from './billing.ts'
import { getStored, route } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badState } from '../http/errors.ts'
import { listPage, pageShape } from '../http/lists.ts'
import { choice, emptyable, flag, integer, mergeMetadata, metadata, shape, text } from '../http/params.ts'
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
  route('subscriptions.list', 'GET /v1/subscriptions', listShape, listSubscriptions),
  route('subscriptions.update', 'POST /v1/subscriptions/:id', updateShape, updateSubscription),
  route('subscriptions.cancel', 'DELETE /v1/subscriptions/:id', cancelShape, cancelSubscription)
]
