import type { Answer } from './context.ts'
import { StripeRefusal, badParameter } from './errors.ts'
import { isSameForm } from './form.ts'
import type { Store } from './store.ts'

/** As long as Stripe keeps a key at least. */
const retentionMs = 24 * 3_600_000

/** `params` is the form as it was sent. */
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
 * What a key was answered with before: the same again, Stripe's refusal when the request differs or still runs, or
 * undefined for a key that is free (docs.stripe.com/api/idempotent_requests).
 */
export function findReplay(store: Store, request: KeyedRequest): Replay | undefined {
  const { key, endpoint, params, nowMs } = request
  if (key.length > 255) throw badParameter('An idempotency key has at most 255 characters.', {})
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

/** Marks a key as being executed until a moment, past which a process that died in between no longer blocks it. */
export function markRunning(store: Store, request: KeyedRequest, untilMs: number): void {
  put(store, request, untilMs, null)
}

export function storeAnswer(store: Store, request: KeyedRequest, answer: Answer): void {
  put(store, request, 0, answer)
}

/** Frees a key whose request was refused before it began. */
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
