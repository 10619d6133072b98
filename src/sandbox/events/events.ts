import type Stripe from 'stripe'
import { route, getStored } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { newId } from '../store/ids.ts'
import type { Filter } from '../store/object-store.ts'
import { listPage, pageShape } from '../http/lists.ts'
import { flag, list, text } from '../http/params.ts'
import { queueDelivery } from './deliveries.ts'
import { renderEvent } from './render-event.ts'
import { subscribedEndpoints } from './webhook-endpoints.ts'

/** Stores an event with the object's current state and queues its webhook. `previous` holds the previous values of an update. */
export function emit(context: Context, type: Stripe.Event.Type, object: object, previous?: object): void {
  const event = {
    id: newId('evt', 24),
    object: 'event',
    api_version: context.apiVersion,
    created: context.now,
    data: { object, ...(previous ? { previous_attributes: previous } : {}) },
    livemode: false,
    pending_webhooks: subscribedEndpoints(context, type).length,
    request: context.request ?? { id: null, idempotency_key: null },
    type
  } as unknown as Stripe.Event
  context.store.put('event', event)
  queueDelivery(context, event)
}

const listShape = {
  ...pageShape,
  delivery_success: flag(),
  type: text({ max: 100 }),
  types: list(text({ max: 100 }), { max: 20 })
}

/** `false` lists the events that a webhook endpoint has not received, whether it is still tried or given up. */
function deliveryFilters(isDelivered: boolean | undefined): Filter[] {
  if (isDelivered === undefined) return []
  return [isDelivered ? { field: 'pending_webhooks', value: 0 } : { field: 'pending_webhooks', value: 0, test: '>' }]
}

export const eventRoutes: readonly Route[] = [
  route('events.retrieve', 'GET /v1/events/:id', {}, (context, _params, id) =>
    renderEvent(context.store, getStored(context, 'event', id).object, context.versions.account)
  ),
  route('events.list', 'GET /v1/events', listShape, (context, params) => {
    const types = params.types ?? (params.type === undefined ? undefined : [params.type])
    const byType = types ? [{ field: 'type', value: types, test: 'in' as const }] : []
    const byDelivery = deliveryFilters(params.delivery_success)
    const page = listPage(context, 'event', params, '/v1/events', [...byType, ...byDelivery])
    return { ...page, data: page.data.map((event) => renderEvent(context.store, event, context.versions.account)) }
  })
]
