import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import type { Context } from '../http/context.ts'
import { takeWebhookFault } from '../http/faults.ts'
import { renderEvent } from './render-event.ts'
import type { Store } from '../store/object-store.ts'
import { subscribedEndpoints } from './webhook-endpoints.ts'
import type { DeliveryTarget } from './webhook-endpoints.ts'

/** Sends one signed webhook to an endpoint's URL. A status of 2xx means delivered. */
export type Deliver = (rawBody: string, headers: Record<string, string>, url: string) => Promise<{ status: number }>
type Row = { seq: number; event_id: string; endpoint_id: string; attempts: number }

/** A webhook that is not answered in this time has failed. */
const sendTimeoutMs = 20_000
/** The status of a delivery whose endpoint does not take webhooks any more. */
const gone = -1
/** How long a process may hold deliveries; those of a process that died are sent again after this. */
const leaseMs = 60_000
/** Stripe retries for three days, with growing delays (docs.stripe.com/webhooks#retries). */
const retryAfterMs = [5_000, 30_000, 120_000, 600_000, 3_600_000, 3 * 3_600_000, 12 * 3_600_000, 48 * 3_600_000]

/** Queues an event's webhook for each endpoint that subscribes to its type. A fault can delay, duplicate or lose it. */
export function queueDelivery(context: Context, event: Stripe.Event): void {
  const endpoints = subscribedEndpoints(context, event.type)
  if (endpoints.length === 0) return
  const fault = takeWebhookFault(context.store, event.type)
  const add = (state: 'waiting' | 'lost', batch: string): void => {
    const dueAt = context.nowMs + (fault?.delayMs ?? 0)
    const insert = 'INSERT INTO deliveries (event_id, endpoint_id, batch, state, due_at) VALUES (?, ?, ?, ?, ?)'
    for (const { id } of endpoints) context.store.prepare(insert).run(event.id, id, batch, state, dueAt)
  }
  add(fault?.fault === 'lost' ? 'lost' : 'waiting', context.batch)
  if (fault?.fault === 'twice') add('waiting', `${context.batch} again`)
}

/** The `Stripe-Signature` header (docs.stripe.com/webhooks/signature). */
function signatureHeader(rawBody: string, secret: string, nowMs: number): string {
  const timestamp = Math.floor(nowMs / 1000)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${rawBody}`).digest('hex')
  return `t=${timestamp},v1=${signature}`
}

/** What sending webhooks needs; `onFailure` receives the message of a webhook that could not be sent. */
export type Sender = {
  store: Store
  deliver: Deliver
  /** Where an endpoint's webhooks go; undefined once the endpoint is disabled or deleted. */
  findEndpoint: (id: string) => DeliveryTarget | undefined
  now: () => number
  onFailure: (message: string) => void
}

/**
 * Sends the webhooks that are due at `nowMs`, the events of one transaction in order. Must not run inside a
 * transaction, because the receiver sends requests back. Two processes never send the same delivery at the same time.
 * Returns the number answered with 2xx.
 */
export async function deliverDue(sender: Sender, nowMs: number): Promise<number> {
  const next = sender.store.prepare<{ batch: string }>(`
    SELECT batch FROM deliveries WHERE state IN ('waiting', 'sending') AND due_at <= ? ORDER BY due_at, seq LIMIT 1`)
  let delivered = 0
  for (let row = next.get(nowMs); row; row = next.get(nowMs)) {
    delivered += await sendClaimed(sender, claim(sender.store, row.batch, nowMs))
  }
  return delivered
}

/** Sends the events of one transaction, and waits for those that another process is sending. */
export async function deliverBatch(sender: Sender, batch: string): Promise<void> {
  await sendClaimed(sender, claim(sender.store, batch, sender.now()))
  const sending = sender.store.prepare(`SELECT 1 FROM deliveries WHERE batch = ? AND state = 'sending' LIMIT 1`)
  await until(() => sending.get(batch) === undefined, sendTimeoutMs)
}

/** Waits until any process has sent a transaction's events that were due at `nowMs`; false after `waitMs`. */
export async function awaitDelivery(store: Store, batch: string, nowMs: number, waitMs: number): Promise<boolean> {
  const open = store.prepare(
    `SELECT 1 FROM deliveries WHERE batch = ? AND (state = 'sending' OR (state = 'waiting' AND due_at <= ?)) LIMIT 1`
  )
  return until(() => open.get(batch, nowMs) === undefined, waitMs)
}

/** Waits for webhooks that this or another process is sending; false after 5 seconds. */
export async function awaitSending(store: Store): Promise<boolean> {
  const sending = store.prepare(`SELECT 1 FROM deliveries WHERE state = 'sending' LIMIT 1`)
  return until(() => sending.get() === undefined, 5_000)
}

async function until(isDone: () => boolean, waitMs: number): Promise<boolean> {
  for (let waited = 0; !isDone(); waited += 20) {
    if (waited >= waitMs) return false
    await sleep(20)
  }
  return true
}

function claim(store: Store, batch: string, nowMs: number): Row[] {
  const claimed = store.prepare<Row>(`
    UPDATE deliveries SET state = 'sending', due_at = ?, attempts = attempts + 1
    WHERE batch = ? AND state IN ('waiting', 'sending') AND due_at <= ?
    RETURNING seq, event_id, endpoint_id, attempts`)
  return claimed.all(nowMs + leaseMs, batch, nowMs).sort((a, b) => a.seq - b.seq)
}

async function sendClaimed(sender: Sender, rows: readonly Row[]): Promise<number> {
  let delivered = 0
  for (const row of rows) {
    const endpoint = sender.findEndpoint(row.endpoint_id)
    const status = endpoint === undefined ? gone : await send(sender, row, endpoint)
    if (isDelivered(status)) delivered += 1
    recordResult(sender, row, status)
  }
  return delivered
}

async function send(sender: Sender, row: Row, { url, secret, version }: DeliveryTarget): Promise<number> {
  const { store, deliver, now, onFailure } = sender
  const event = store.find('event', row.event_id)?.object
  if (event === undefined) throw new Error(`The sandbox has a delivery of event ${row.event_id}, which is missing.`)
  const body = JSON.stringify(renderEvent(store, event, version))
  const late = new AbortController()
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Stripe/1.0 (sandbox)',
    'stripe-signature': signatureHeader(body, secret, now())
  }
  try {
    const timeout = sleep(sendTimeoutMs, { status: 0 }, { signal: late.signal, ref: false })
    timeout.catch(() => undefined)
    return (await Promise.race([deliver(body, headers, url), timeout])).status
  } catch (error) {
    onFailure(error instanceof Error ? error.message : 'The webhook was not sent: the error has no message.')
    return 0
  } finally {
    late.abort()
  }
}

function recordResult({ store, now }: Sender, row: Row, status: number): void {
  const wait = status === gone ? undefined : retryAfterMs[row.attempts - 1]
  const state = isDelivered(status) ? 'delivered' : wait === undefined ? 'given_up' : 'waiting'
  store.write(() => {
    store
      .prepare('UPDATE deliveries SET state = ?, due_at = ?, last_status = ? WHERE seq = ?')
      .run(state, now() + (wait ?? 0), status, row.seq)
    const open = store
      .prepare<{
        count: number
      }>(`SELECT count(DISTINCT endpoint_id) AS count FROM deliveries WHERE event_id = ? AND state <> 'delivered'`)
      .get(row.event_id)
    const event = store.find('event', row.event_id)
    if (event && open) store.put('event', { ...event.object, pending_webhooks: open.count })
  })
}

function isDelivered(status: number): boolean {
  return status >= 200 && status < 300
}
