import type { EventRow } from '../events/list-events.ts'
import { dueAt, webhookDeliveries } from './schema.ts'
import { and, asc, count, desc, eq, getTableColumns, inArray, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write, rawStatement, statement, writeWhenFree } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { events } from '../events/schema.ts'

export type DeliveryRow = typeof webhookDeliveries.$inferSelect
export type DeliveryState = DeliveryRow['state']
export const deliveryStates = webhookDeliveries.state.enumValues

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** The delay after each failed attempt, as Standard Webhooks recommends: ten attempts over three days and three hours. */
const retryDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)
]
/** An attempt that a crash interrupted is repeated after this time. It is longer than an attempt can take. */
const leaseMs = minuteMs
const longestDelayMs = Math.max(...retryDelaysMs)
const retentionMs = 30 * dayMs

/** The first of an endpoint's queued deliveries. The conditions are those of the partial index. */
const firstQueued = (isDue: SQL) =>
  statement((orm) =>
    orm
      .select()
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.endpointId, sql.placeholder('endpointId')), sql`state = 'queued'`, isDue))
      .orderBy(dueAt, asc(webhookDeliveries.id))
      .limit(1)
      .prepare()
  )
const nextDue = firstQueued(sql`${dueAt} <= ${sql.placeholder('now')}`)
/** The clock may have been ahead at the last attempt and set back since: do not wait for that time. */
const fromLaterClock = firstQueued(sql`${dueAt} > ${sql.placeholder('longest')}`)

function findDue(db: Db, endpointId: number, now: number): DeliveryRow | undefined {
  return nextDue(db).get({ now, endpointId }) ?? fromLaterClock(db).get({ longest: now + longestDelayMs, endpointId })
}

/** Looks for a due delivery without taking the write lock. */
export function isDeliveryDue(db: Db, endpointId: number, now: number): boolean {
  return findDue(db, endpointId, now) !== undefined
}

/**
 * Takes the endpoint's next due delivery and counts the attempt, before it is made. Another process gets it only when
 * the lease of a minute has ended without a result. Undefined when no delivery is due.
 */
export async function claimDelivery(
  db: Db,
  endpointId: number,
  now: number
): Promise<{ delivery: DeliveryRow; event: EventRow } | undefined> {
  return writeWhenFree(db, (tx) => {
    // Read again under the lock: another process may have taken the row meanwhile.
    const due = findDue(tx, endpointId, now)
    if (due === undefined) return undefined
    const claimed = { attempts: due.attempts + 1, nextAttemptAt: now + leaseMs }
    change(tx, due.id, claimed)
    const event = tx.orm.select().from(events).where(eq(events.id, due.eventId)).get()
    return event === undefined ? undefined : { delivery: { ...due, ...claimed }, event }
  })
}

/** The result of an attempt: the HTTP status, null without a response, and the error, null when it was delivered. */
export type Outcome = { status: number | null; error: string | null }

/**
 * Records the result of an attempt and returns the delivery's new state: `queued` when it is retried, `failed` after the
 * last attempt. A failing endpoint is never disabled.
 */
export async function recordOutcome(
  db: Db,
  delivery: DeliveryRow,
  outcome: Outcome,
  now: number
): Promise<DeliveryState> {
  const delayMs = retryDelaysMs[delivery.attempts - 1]
  const state = outcome.error === null ? 'delivered' : delayMs === undefined ? 'failed' : 'queued'
  await writeWhenFree(db, (tx) =>
    change(tx, delivery.id, {
      lastStatus: outcome.status,
      lastError: outcome.error,
      state,
      ...(state === 'delivered' ? { deliveredAt: now } : {}),
      ...(state === 'queued' ? { nextAttemptAt: now + (delayMs ?? 0) } : {})
    })
  )
  return state
}

function change(tx: Tx, id: number, values: Partial<DeliveryRow>): void {
  tx.orm.update(webhookDeliveries).set(values).where(eq(webhookDeliveries.id, id)).run()
}

/** A delivery with the type of its event. */
export type ListedDelivery = DeliveryRow & { type: string }

/** The newest deliveries, newest first, of one endpoint or all and in one state or all. They are read while they are used. */
export function listDeliveries(
  db: Db,
  filter: { endpointId?: number | undefined; state?: DeliveryState | undefined; limit: number }
): Generator<ListedDelivery, void> {
  const { endpointId, state, limit } = filter
  const next = (last: ListedDelivery | undefined, most: number): ListedDelivery[] =>
    db.orm
      .select({ ...getTableColumns(webhookDeliveries), type: events.type })
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
      .where(
        and(
          endpointId === undefined ? undefined : eq(webhookDeliveries.endpointId, endpointId),
          // The + keeps SQLite from searching by state, and sorting all of them again for each part.
          state === undefined ? undefined : eq(sql`+${webhookDeliveries.state}`, state),
          last && lt(webhookDeliveries.id, last.id)
        )
      )
      .orderBy(desc(webhookDeliveries.id))
      .limit(most)
      .all()
  return inParts(db, next, (rows) => rows, limit)
}

/**
 * Queues deliveries again, whatever their state, with all their attempts; returns how many.
 *
 * @throws AppError NOT_FOUND when one of the ids does not exist
 */
export function replayDeliveries(db: Db, ids: readonly number[], now: number): number {
  return write(db, (tx) => {
    for (const id of ids) {
      const found = tx.orm.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id)).get()
      if (found === undefined) throw new AppError('NOT_FOUND', `Delivery ${id} does not exist.`)
    }
    return requeue(tx, now, [...ids])
  })
}

/** Queues every failed delivery of one endpoint, or of all, again; returns how many. */
export function replayFailed(db: Db, endpointId: number | undefined, now: number): number {
  return write(db, (tx) => {
    const failed = failedDeliveries(tx, endpointId)
    let replayed = 0
    // SQLite limits the number of values in one statement.
    for (let from = 0; from < failed.length; from += 500) replayed += requeue(tx, now, failed.slice(from, from + 500))
    return replayed
  })
}

function failedDeliveries(db: Db, endpointId: number | undefined): number[] {
  const ofEndpoint = endpointId === undefined ? undefined : eq(webhookDeliveries.endpointId, endpointId)
  const condition = and(eq(webhookDeliveries.state, 'failed'), ofEndpoint)
  const rows = db.orm.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(condition).all()
  return rows.map(({ id }) => id)
}

function requeue(tx: Tx, now: number, ids: number[]): number {
  return tx.orm
    .update(webhookDeliveries)
    .set({ state: 'queued', attempts: 0, nextAttemptAt: now, deliveredAt: null })
    .where(inArray(webhookDeliveries.id, ids))
    .run().changes
}

/** The number of an endpoint's deliveries in each state. */
export function deliveryCounts(db: Db, endpointId: number): Record<DeliveryState, number> {
  const rows = db.orm
    .select({ state: webhookDeliveries.state, count: count() })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.endpointId, endpointId))
    .groupBy(webhookDeliveries.state)
    .all()
  const of = (state: DeliveryState): number => rows.find((row) => row.state === state)?.count ?? 0
  return { queued: of('queued'), delivered: of('delivered'), failed: of('failed') }
}

const totals = rawStatement<[{ now: number }], { failed: number; late: number }>(`
  SELECT count(*) FILTER (WHERE state = 'failed' AND created_at > @now - ${7 * dayMs}) AS failed,
         count(*) FILTER (WHERE state = 'queued' AND created_at < @now - ${hourMs}) AS late
  FROM webhook_deliveries WHERE state IN ('queued', 'failed')`)

/** What an operator should look at: deliveries of the last week that failed, and those queued for more than an hour. */
export function undeliveredTotals(db: Db, now: number): { failed: number; late: number } {
  return totals(db).get({ now }) ?? { failed: 0, late: 0 }
}

/** Deletes delivered and failed deliveries 30 days after they were queued, at most `limit` of them; returns how many. */
export function purgeDeliveries(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(webhookDeliveries)
    .where(
      and(inArray(webhookDeliveries.state, ['delivered', 'failed']), lt(webhookDeliveries.createdAt, now - retentionMs))
    )
    .limit(limit)
    .run().changes
}
