import type { Shape, Values } from './params.ts'
import type { HiddenOf, Kind, Objects } from './objects.ts'
import { noSuch } from './errors.ts'
import type { ErrorBody } from './errors.ts'
import type { Stored, Store } from './store.ts'

/** One request's (or timer's) view of the sandbox, inside its transaction. */
export type Context = {
  readonly store: Store
  /** Epoch milliseconds; Stripe's own timestamps are `now`, in seconds. */
  readonly nowMs: number
  readonly now: number
  readonly publicUrl: string
  readonly apiVersion: string
  /** What an event says of the request that caused it; null when Stripe acted by itself. */
  readonly request: { readonly id: string; readonly idempotency_key: string | null } | null
  /** Names the events of this transaction, whose webhooks go out together. */
  readonly batch: string
  readonly webhookUrl: string
  /** The types that the webhook endpoint subscribed to; undefined is all. */
  readonly webhookEvents: readonly string[] | undefined
  /** False lets amounts below Stripe's minimum through. */
  readonly minimumAmounts: boolean
}

/** An answer: an object, or the error of a request whose effects (a failed charge) stay. */
export type Answer = { status: number; body: unknown }

export type Route = {
  /** `payment_intents.confirm`, the name that a fault is aimed at. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `/v1/payment_intents/:id/confirm` */
  readonly path: string
  readonly shape: Shape
  readonly handle: (context: Context, params: Record<string, unknown>, id: string) => Answer
}

/** A route whose handler gets its parameters typed by the shape; its answer is 200 unless it makes one itself. */
export function route<S extends Shape>(
  name: string,
  target: `${Route['method']} ${string}`,
  shape: S,
  handle: (context: Context, params: Values<S>, id: string) => object
): Route {
  const [method, path] = target.split(' ') as [Route['method'], string]
  return {
    name,
    method,
    path,
    shape,
    handle: (context, params, id) => {
      const result = handle(context, params as Values<S>, id)
      return result instanceof Declined ? { status: 402, body: { error: result.error } } : { status: 200, body: result }
    }
  }
}

/** The answer to a payment that the bank refused: an error, and yet everything it did stays done. */
export class Declined {
  readonly error: ErrorBody
  constructor(error: ErrorBody) {
    this.error = error
  }
}

const kindLabels: Partial<Record<Kind, string>> = { payment_method: 'PaymentMethod', 'checkout.session': 'checkout session' }

/** The object of an id, or Stripe's resource_missing: 404 for an id of the path, 400 for one in `param`. */
export function getStored<K extends Kind>(context: Context, kind: K, id: string, param?: string): Stored<K> {
  const found = context.store.find(kind, id)
  if (!found) throw noSuch(kindLabels[kind] ?? kind, id, param ?? 'id', param === undefined ? 404 : 400)
  return found
}

export function save<K extends Kind>(context: Context, kind: K, object: Objects[K], hidden?: HiddenOf<K>): Objects[K] {
  context.store.put(kind, object, hidden)
  return object
}
