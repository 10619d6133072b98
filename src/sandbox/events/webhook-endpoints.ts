import type Stripe from 'stripe'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badState, noSuch } from '../http/errors.ts'
import { newId, randomBase62 } from '../store/ids.ts'
import { listAnswer, listPage, pageShape } from '../http/lists.ts'
import { flag, list, mergeMetadata, metadata, required, text, url } from '../http/params.ts'
import type { Values } from '../http/params.ts'

/** Where one endpoint's webhooks go: the URL, the secret that signs them, and the API version that renders them. */
export type DeliveryTarget = { url: string; secret: string; version: string }

/** Stripe's limit in each mode (docs.stripe.com/webhooks). */
const mostEndpoints = 16

type Terms = Pick<Stripe.WebhookEndpoint, 'id' | 'url' | 'enabled_events' | 'api_version' | 'created'>

/** An enabled endpoint. */
export function newEndpoint(
  terms: Terms,
  more: Partial<Pick<Stripe.WebhookEndpoint, 'description' | 'metadata'>> = {}
): Stripe.WebhookEndpoint {
  const { id, url, enabled_events, api_version, created } = terms
  return {
    id,
    object: 'webhook_endpoint',
    api_version,
    application: null,
    created,
    description: more.description ?? null,
    enabled_events,
    livemode: false,
    metadata: more.metadata ?? {},
    status: 'enabled',
    url
  }
}

/** The enabled endpoints that get events of a type. */
export function subscribedEndpoints(context: Context, type: string): Stripe.WebhookEndpoint[] {
  const all = [...(context.firstEndpoint === null ? [] : [context.firstEndpoint]), ...stored(context).reverse()]
  return all.filter(
    ({ status, enabled_events }) =>
      status === 'enabled' && enabled_events.some((enabled) => enabled === '*' || enabled === type)
  )
}

/** Where an endpoint's webhooks go; undefined for one that is disabled or deleted. `firstSecret` is the first endpoint's. */
export function findTarget(context: Context, id: string, firstSecret: string): DeliveryTarget | undefined {
  const { firstEndpoint, store, versions } = context
  if (firstEndpoint?.id === id) return { url: firstEndpoint.url, secret: firstSecret, version: versions.endpoint }
  const found = store.find('webhook_endpoint', id)
  if (found === undefined || found.hidden.deleted || found.object.status !== 'enabled') return undefined
  const { url, api_version } = found.object
  return { url, secret: found.hidden.secret, version: api_version ?? versions.account }
}

function stored({ store }: Context): Stripe.WebhookEndpoint[] {
  return store
    .list('webhook_endpoint')
    .objects.filter(({ id }) => store.find('webhook_endpoint', id)?.hidden.deleted === false)
}

const events = list(text({ max: 100 }), { max: 300 })
const changeShape = { description: text(), disabled: flag(), enabled_events: events, metadata: metadata(), url: url() }
const createShape = {
  api_version: text({ max: 40 }),
  connect: flag(),
  description: text(),
  enabled_events: required(events),
  metadata: metadata(),
  url: required(url())
}

function createEndpoint(context: Context, params: Values<typeof createShape>): Stripe.WebhookEndpoint {
  if (stored(context).length >= mostEndpoints)
    throw badState(`You have reached the maximum of ${mostEndpoints} test webhook endpoints.`)
  const { url, enabled_events, api_version = null, description, metadata: sent } = params
  const terms = { id: newId('we'), url, enabled_events, api_version, created: context.now }
  const endpoint = newEndpoint(terms, { description: description ?? null, metadata: mergeMetadata({}, sent) })
  const secret = `whsec_${randomBase62(32)}`
  save(context, 'webhook_endpoint', endpoint, { secret, deleted: false })
  return { ...endpoint, secret }
}

function getEndpoint(context: Context, id: string): Stripe.WebhookEndpoint {
  const { object, hidden } = getStored(context, 'webhook_endpoint', id)
  if (hidden.deleted) throw noSuch('webhook endpoint', id, 'id', 404)
  return object
}

function updateEndpoint(context: Context, params: Values<typeof changeShape>, id: string): Stripe.WebhookEndpoint {
  const endpoint = getEndpoint(context, id)
  const { description, disabled, enabled_events, metadata: sent, url } = params
  return save(context, 'webhook_endpoint', {
    ...endpoint,
    description: description ?? endpoint.description,
    enabled_events: enabled_events ?? endpoint.enabled_events,
    metadata: mergeMetadata(endpoint.metadata, sent),
    status: disabled === undefined ? endpoint.status : disabled ? 'disabled' : 'enabled',
    url: url ?? endpoint.url
  })
}

/** A deleted endpoint stays stored, because webhooks that are waiting refer to it. */
function deleteEndpoint(context: Context, _params: object, id: string): Stripe.DeletedWebhookEndpoint {
  const { hidden } = getStored(context, 'webhook_endpoint', id)
  save(context, 'webhook_endpoint', getEndpoint(context, id), { ...hidden, deleted: true })
  return { id, object: 'webhook_endpoint', deleted: true }
}

function listEndpoints(context: Context, params: Values<typeof pageShape>): object {
  const page = listPage(context, 'webhook_endpoint', params, '/v1/webhook_endpoints')
  const known = new Set(stored(context).map(({ id }) => id))
  const first = context.firstEndpoint === null || page.has_more ? [] : [context.firstEndpoint]
  return listAnswer([...page.data.filter(({ id }) => known.has(id)), ...first], page.url, page.has_more)
}

const path = '/v1/webhook_endpoints'

export const webhookEndpointRoutes: readonly Route[] = [
  route('webhook_endpoints.create', `POST ${path}`, createShape, createEndpoint),
  route('webhook_endpoints.list', `GET ${path}`, pageShape, listEndpoints),
  route('webhook_endpoints.retrieve', `GET ${path}/:id`, {}, (context, _params, id) => getEndpoint(context, id)),
  route('webhook_endpoints.update', `POST ${path}/:id`, changeShape, updateEndpoint),
  route('webhook_endpoints.delete', `DELETE ${path}/:id`, {}, deleteEndpoint)
]
