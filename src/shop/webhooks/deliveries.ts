import type { EventRow } from '../events/list-events.ts'
import { webhookDeliveries } from './schema.ts'
import { and, asc, count, desc, eq, gt, inArray, lt, lte, or, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { rawStatement, statement } from '../../platform/db/statements.ts'
import { events } from '../events/schema.ts'

export type DeliveryRow = typeof webhookDeliveries.$inferSelect
export const deliveryStates = ['queued', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Pauses between tries, as Standard Webhooks proposes them: ten tries over three days and three hours. */
const pausesMs = [5 * secondMs, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)]
/** A try that was begun and never ended, by a crash, is made again after this; none takes as long. */
const leaseMs = minuteMs
const longestPauseMs = Math.max(...pausesMs)
const keptMs = 30 * dayMs

const nextDue = statement((orm) =>
  orm
    .select()
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.state, 'queued'),
        // What was queued or tried by a clock that was ahead does not wait until then.
        or(
          lte(webhookDeliveries.nextAttemptAt, sql.placeholder('now')),
          gt(webhookDeliveries.nextAttemptAt, sql.placeholder('longest')),
          eq(webhookDeliveries.attempts, 0)
        ),
        eq(webhookDeliveries.endpointId, sql.placeholder('endpointId'))
      )
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.id))
    .limit(1)
    .prepare()
)

function findDue(db: Db, endpointId: number, now: number): DeliveryRow | undefined {
  return nextDue(db).get({ now, longest: now + longestPauseMs, endpointId })
}

export function isDeliveryDue(db: Db, endpointId: number, now: number): boolean {
  return findDue(db, endpointId, now) !== undefined
}

/** The next delivery that is due to an endpoint, its try counted before it is made; `isDeliveryDue` looks without a lock. */
export async function claimDelivery(
  db: Db,
  endpointId: number,
  now: number
): Promise<{ delivery: DeliveryRow; event: EventRow } | undefined> {
  return writeWhenFree(db, (tx) => {
    // Under the lock, since another process may have taken it meanwhile.
    const due = findDue(tx, endpointId, now)
    if (due === undefined) return undefined
    const claimed = { attempts: due.attempts + 1, nextAttemptAt: now + leaseMs }
    change(tx, due.id, claimed)
    const event = tx.orm.select().from(events).where(eq(events.id, due.eventId)).get()
    return event === undefined ? undefined : { delivery: { ...due, ...claimed }, event }
  })
}

export type Outcome = { status: number | null; error: string | null }

/** Writes down how a try ended; tells what follows. A receiver that fails is never switched off: it is tried to the end. */
export async function settleDelivery(
  db: Db,
  delivery: DeliveryRow,
  outcome: Outcome,
  now: number
): Promise<DeliveryState> {
  const seen = { lastStatus: outcome.status, lastError: outcome.error }
  const pause = pausesMs[delivery.attempts - 1]
  const state = outcome.error === null ? 'delivered' : pause === undefined ? 'failed' : 'queued'
  await writeWhenFree(db, (tx) =>
    change(tx, delivery.id, {
      ...seen,
      state,
      ...(state === 'delivered' ? { deliveredAt: now } : {}),
      ...(state === 'queued' ? { nextAttemptAt: now + (pause ?? 0) } : {})
    })
  )
  return state
}

function change(tx: Tx, id: number, values: Partial<DeliveryRow>): void {
  tx.orm.update(webhookDeliveries).set(values).where(eq(webhookDeliveries.id, id)).run()
}

export type ListedDelivery = DeliveryRow & { type: string }

/** Newest first. */
export function listDeliveries(
  db: Db,
  filter: { endpointId?: number | undefined; state?: DeliveryState | undefined; limit: number }
): ListedDelivery[] {
  const { endpointId, state, limit } = filter
  return db.orm
    .select({ delivery: webhookDeliveries, type: events.type })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        endpointId === undefined ? undefined : eq(webhookDeliveries.endpointId, endpointId),
        state === undefined ? undefined : eq(webhookDeliveries.state, state)
      )
    )
    .orderBy(desc(webhookDeliveries.id))
    .limit(limit)
    .all()
    .map(({ delivery, type }) => ({ ...delivery, type }))
}

/** Sends again, from the first try on, what has been delivered, given up, or is waiting. @throws AppError NOT_FOUND */
export function replayDeliveries(tx: Tx, ids: readonly number[], now: number): number {
  for (const id of ids) {
    const found = tx.orm.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id)).get()
    if (found === undefined) throw new AppError('NOT_FOUND', `There is no delivery ${id}.`)
  }
  return requeue(tx, now, [...ids])
}

/** Every delivery that was given up, of one endpoint or of all. */
export function replayFailed(tx: Tx, endpointId: number | undefined, now: number): number {
  const given = tx.orm
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.state, 'failed'),
        endpointId === undefined ? undefined : eq(webhookDeliveries.endpointId, endpointId)
      )
    )
    .all()
  let replayed = 0
  for (let from = 0; from < given.length; from += 500) {
    replayed += requeue(
      tx,
      now,
      given.slice(from, from + 500).map(({ id }) => id)
    )
  }
  return replayed
}

function requeue(tx: Tx, now: number, ids: number[]): number {
  return tx.orm
    .update(webhookDeliveries)
    .set({ state: 'queued', attempts: 0, nextAttemptAt: now, deliveredAt: null })
    .where(inArray(webhookDeliveries.id, ids))
    .run().changes
}

/** How many deliveries an endpoint has in each state. */
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

/** What an operator should look at: given up within a week, or waiting for more than an hour. */
export function undeliveredTotals(db: Db, now: number): { failed: number; late: number } {
  return totals(db).get({ now }) ?? { failed: 0, late: 0 }
}

/** Forgets after a month what has been delivered or given up. */
export function purgeDeliveries(tx: Tx, now: number): number {
  return tx.orm
    .delete(webhookDeliveries)
    .where(
      and(inArray(webhookDeliveries.state, ['delivered', 'failed']), lt(webhookDeliveries.createdAt, now - keptMs))
    )
    .run().changes
}
