import { AppError } from '../../errors.ts'
import type { Store } from '../store/object-store.ts'
import type { ApiOutcome, ErrorBody } from './errors.ts'
import type { Answer } from './context.ts'

export const webhookFaults = ['late', 'twice', 'out_of_order', 'lost'] as const
export const apiFaults = [
  'timeout',
  'reset',
  'truncated',
  'stalled',
  'html',
  'slow',
  'kill',
  '500',
  '503',
  '429',
  '409',
  '402',
  '401'
] as const
export type WebhookFault = (typeof webhookFaults)[number]
export type ApiFault = (typeof apiFaults)[number]

/**
 * When a fault applies to a request.
 *
 * - `before`: the request is not executed.
 * - `after`: the request is executed and its real answer is stored under its idempotency key, but the client gets the
 *   fault.
 * - `kept`: the request is executed, and the fault is stored under its key, as Stripe stores even its own 500 answers
 *   (docs.stripe.com/api/idempotent_requests).
 */
export type Moment = 'before' | 'after' | 'kept'

export type FaultRequest = {
  /** A route's name (`payment_intents.confirm`, `payment_intents.*`, `*`), or `webhook:` and an event type or `*`. */
  target: string
  fault: ApiFault | WebhookFault
  moment?: Moment
  /** How many matching requests pass first; default 0. */
  skip?: number
  /** How many requests it then affects; default 1, -1 for all. stripe-node sends a request up to three times. */
  times?: number
  delayMs?: number
}
export type Fault = Required<FaultRequest> & { id: number }

type Row = {
  id: number
  target: string
  fault: Fault['fault']
  moment: Moment
  skip: number
  remaining: number
  delay_ms: number
}

const defaultDelayMs: Partial<Record<Fault['fault'], number>> = { late: 30_000, out_of_order: 1_500, slow: 1_000 }

/**
 * Adds a fault for every process that shares the file. It stays until it is used up or cleared.
 *
 * @throws AppError USAGE for a fault or target that does not exist
 */
export function addFault(store: Store, request: FaultRequest, routeNames: readonly string[]): Fault {
  const forWebhook = request.target.startsWith('webhook:')
  const known: readonly string[] = forWebhook ? webhookFaults : apiFaults
  if (!known.includes(request.fault)) {
    const target = forWebhook ? 'a webhook' : 'a request'
    throw new AppError('USAGE', `The fault of ${target} must be one of ${known.join(', ')}.`)
  }
  if (!forWebhook && !routeNames.some((name) => matches(request.target, name))) {
    throw new AppError('USAGE', `The target must be *, webhook:* or one of ${routeNames.join(', ')}.`)
  }
  const { target, fault, moment = 'before', skip = 0, times = 1, delayMs = defaultDelayMs[fault] ?? 0 } = request
  const added = store
    .prepare('INSERT INTO faults (target, fault, moment, skip, remaining, delay_ms) VALUES (?, ?, ?, ?, ?, ?)')
    .run(target, fault, moment, skip, times, delayMs)
  return { id: Number(added.lastInsertRowid), target, fault, moment, skip, times, delayMs }
}

/** The faults that are left, oldest first. */
export function listFaults(store: Store): Fault[] {
  return store.prepare<Row>('SELECT * FROM faults ORDER BY id').all().map(faultFrom)
}

/** Removes all faults. */
export function clearFaults(store: Store): void {
  store.prepare('DELETE FROM faults').run()
}

/** The fault for a webhook of this event type, if there is one; counts it as used. */
export function takeWebhookFault(store: Store, eventType: string): Fault | undefined {
  return take(store, `webhook:${eventType}`)
}

/** The fault for a request to this route, if there is one; counts it as used. */
export function takeApiFault(store: Store, routeName: string): Fault | undefined {
  return take(store, routeName)
}

/** The oldest matching fault, used once. If it still skips requests, its skip count goes down instead. */
function take(store: Store, name: string): Fault | undefined {
  const any = store.prepare<Row>('SELECT * FROM faults WHERE remaining <> 0 ORDER BY id')
  if (!any.get()) return undefined
  return store.write(() => {
    const row = any.all().find(({ target }) => matches(target, name))
    if (!row) return undefined
    if (row.skip > 0) {
      store.prepare('UPDATE faults SET skip = skip - 1 WHERE id = ?').run(row.id)
      return undefined
    }
    if (row.remaining === 1) store.prepare('DELETE FROM faults WHERE id = ?').run(row.id)
    else if (row.remaining > 1) store.prepare('UPDATE faults SET remaining = remaining - 1 WHERE id = ?').run(row.id)
    return faultFrom(row)
  })
}

function matches(target: string, name: string): boolean {
  const isWebhook = name.startsWith('webhook:')
  if (target === '*') return !isWebhook
  if (target.endsWith('*')) return name.startsWith(target.slice(0, -1))
  return target === name
}

function faultFrom(row: Row): Fault {
  const { id, target, fault, moment, skip, remaining, delay_ms } = row
  return { id, target, fault, moment, skip, times: remaining, delayMs: delay_ms }
}

const errors: Readonly<Record<string, ErrorBody>> = {
  '401': { type: 'invalid_request_error', message: 'Invalid API Key provided.' },
  '402': {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'generic_decline',
    message: 'Your card was declined.'
  },
  '409': {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this idempotent key.'
  },
  '429': { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests hit the API too quickly.' },
  '500': { type: 'api_error', message: 'An unknown error occurred.' },
  '503': { type: 'api_error', message: 'The service is temporarily unavailable.' }
}

/** The outcome of a request with a fault. `answer` is the real answer; undefined if the request was not executed. */
export function applyFault<T>(
  fault: Fault,
  answer: Answer | undefined,
  respond: (answer: Answer) => T,
  kill: () => void
): T | ApiOutcome {
  const error = errors[fault.fault]
  if (error) return respond({ status: Number(fault.fault), body: { error } })
  const body = JSON.stringify(answer?.body ?? { id: 'unfinished' }, null, 2)
  const json = {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  }
  switch (fault.fault) {
    case 'truncated':
    case 'stalled':
      return { kind: fault.fault, ...json, body: body.slice(0, body.length >> 1) }
    case 'html':
      return {
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<!doctype html><title>Gateway</title>'
      }
    case 'timeout':
      return { kind: 'timeout' }
    case 'kill':
      kill()
      return { kind: 'reset' }
    default:
      return { kind: 'reset' }
  }
}
