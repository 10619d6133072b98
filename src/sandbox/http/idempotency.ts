import type { Answer } from './context.ts'
import { StripeRefusal, badParameter } from './errors.ts'
import { isSameForm } from './form-encoding.ts'
import type { Store } from '../store/object-store.ts'

/** Stripe removes a key after at least 24 hours (docs.stripe.com/api/idempotent_requests). */
const retentionMs = 24 * 3_600_000

/** A request with an idempotency key; `params` is the encoded form as sent. */
export type KeyedRequest = { key: string; endpoint: string; params: string; requestId: string; nowMs: number }
export type Replay = Answer & { originalRequest: string }
type Row = {
  endpoint: string
  params: string
  running_until: number
  status: number | null
  body: string | null
  request_id: string
}

/**
 * The stored answer of a key; undefined for a key that is free (docs.stripe.com/api/idempotent_requests).
 *
 * @throws StripeRefusal idempotency_error when the key belongs to another request (400) or its request still runs (409)
 */
export function findReplay(store: Store, request: KeyedRequest): Replay | undefined {
  const { key, endpoint, params, nowMs } = request
  if (key.length > 255) throw badParameter('An idempotency key can be up to 255 characters long.', {})
  store.prepare('DELETE FROM idempotency_keys WHERE created_at < ?').run(nowMs - retentionMs)
  const row = store.prepare<Row>('SELECT * FROM idempotency_keys WHERE key = ?').get(key)
  if (!row) return undefined
  if (row.endpoint !== endpoint || !isSameForm(row.params, params)) {
    const what = row.endpoint === endpoint ? 'parameters' : 'endpoint'
    throw new StripeRefusal(
      400,
      {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same ${what} they were first used with.`
      },
      false
    )
  }
  if (row.status !== null)
    return { status: row.status, body: JSON.parse(row.body ?? 'null'), originalRequest: row.request_id }
  if (row.running_until <= nowMs) return undefined
  throw keyInUse()
}

function keyInUse(): StripeRefusal {
  const message = 'There is currently another in-progress request using this idempotent key. Please try again later.'
  return new StripeRefusal(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message }, false)
}

/** Marks a key as in use until `untilMs`, so that a process that dies does not block it after that. */
export function markRunning(store: Store, request: KeyedRequest, untilMs: number): void {
  put(store, request, untilMs, null)
}

/** Stores the answer of a key for its replays. */
export function storeAnswer(store: Store, request: KeyedRequest, answer: Answer): void {
  put(store, request, 0, answer)
}

/** Frees a key that is in use and has no answer. */
export function releaseKey(store: Store, key: string): void {
  store.prepare('DELETE FROM idempotency_keys WHERE key = ? AND status IS NULL').run(key)
}

function put(
  store: Store,
  { key, endpoint, params, requestId, nowMs }: KeyedRequest,
  until: number,
  answer: Answer | null
): void {
  store
    .prepare(
      `INSERT INTO idempotency_keys (key, endpoint, params, created_at, running_until, status, body, request_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET running_until = excluded.running_until, status = excluded.status, body = excluded.body`
    )
    .run(
      key,
      endpoint,
      params,
      nowMs,
      until,
      answer?.status ?? null,
      answer ? JSON.stringify(answer.body) : null,
      requestId
    )
}
