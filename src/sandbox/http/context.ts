import type Stripe from 'stripe'
import type { RawMap } from './form-encoding.ts'
import { readShape } from './params.ts'
import type { Shape, Values } from './params.ts'
import type { HiddenOf, Kind, Objects } from '../store/objects.ts'
import { noSuch } from './errors.ts'
import type { ErrorBody } from './errors.ts'
import type { Stored, Store } from '../store/object-store.ts'

/** The API versions that events are rendered at, as `2024-06-20`. */
export type EventVersions = { account: string; endpoint: string }

/** What one request or timer works with, inside its transaction. */
export type Context = {
  readonly store: Store
  /** Epoch milliseconds. */
  readonly nowMs: number
  /** Epoch seconds, as in Stripe's timestamps. */
  readonly now: number
  readonly publicUrl: string
  readonly apiVersion: string
  /** The versions at which events are listed (the account's) and sent (the webhook endpoint's). */
  readonly versions: EventVersions
  /** The `request` field of the events that this request causes; null for events without a request, such as a timer's. */
  readonly request: { readonly id: string; readonly idempotency_key: string | null } | null
  /** Groups the events of this transaction, whose webhooks are sent together. */
  readonly batch: string
  /** The webhook endpoint that the account has from the start; null for an account that has none. */
  readonly firstEndpoint: Stripe.WebhookEndpoint | null
  /** False allows amounts below Stripe's minimum. */
  readonly minimumAmounts: boolean
}

/** The answer to a request whose effects are committed: an object, or the error of a declined payment. */
export type Answer = { status: number; body: unknown }

export type Route = {
  /** The name that a fault targets, such as `payment_intents.confirm`. */
  readonly name: string
  readonly method: string
  /** `/v1/payment_intents/:id/confirm` */
  readonly path: string
  /** @throws StripeRefusal for parameters or a state that Stripe refuses */
  readonly handle: (context: Context, form: RawMap, id: string) => Answer
}

/** Declares a route. The handler gets parameters typed by `shape`; its result is answered with 200, a Declined with 402. */
export function route<S extends Shape>(
  name: string,
  target: `${'GET' | 'POST' | 'DELETE'} /${string}`,
  shape: S,
  handle: (context: Context, params: Values<S>, id: string) => object
): Route {
  const [method = '', path = ''] = target.split(' ')
  return {
    name,
    method,
    path,
    handle: (context, form, id) => {
      const result = handle(context, readShape(shape, form), id)
      return result instanceof Declined ? { status: 402, body: { error: result.error } } : { status: 200, body: result }
    }
  }
}

/** The result of a declined payment: an error for the client, but its effects (a failed charge) are committed. */
export class Declined {
  readonly error: ErrorBody
  constructor(error: ErrorBody) {
    this.error = error
  }
}

const kindLabels: Partial<Record<Kind, string>> = {
  payment_method: 'PaymentMethod',
  'checkout.session': 'checkout session'
}

/**
 * The object with an id, and its hidden fields.
 *
 * @throws StripeRefusal resource_missing, with status 404 for an id in the path and 400 for an id in `param`
 */
export function getStored<K extends Kind>(context: Context, kind: K, id: string, param?: string): Stored<K> {
  const found = context.store.find(kind, id)
  if (!found) throw noSuch(kindLabels[kind] ?? kind, id, param ?? 'id', param === undefined ? 404 : 400)
  return found
}

/** Inserts or replaces an object and returns it. Without `hidden`, the stored hidden fields are kept. */
export function save<K extends Kind>(context: Context, kind: K, object: Objects[K], hidden?: HiddenOf<K>): Objects[K] {
  context.store.put(kind, object, hidden)
  return object
}
