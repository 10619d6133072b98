import { and, asc, desc, eq, gt, gte, lt } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { events } from './schema.ts'

export type EventRow = typeof events.$inferSelect
/** An event as webhooks send it: who of the operators caused it is not for other services. */
export type PublicEvent = Omit<EventRow, 'by'>

export type EventFilter = {
  type?: string | undefined
  /** Id of an event. */
  after?: number | undefined
  /** When it happened, in epoch milliseconds; `to` is not included. */
  from?: number | undefined
  to?: number | undefined
  /** All events by default. */
  limit?: number | undefined
}

/**
 * Events, the newest first; with `filter.after`, the events after that one, the oldest first. They are read while they
 * are used.
 */
export function listEvents(db: Db, { type, after, from, to, limit }: EventFilter): Generator<EventRow, void> {
  const isOldestFirst = after !== undefined
  const next = (last: EventRow | undefined, most: number): EventRow[] =>
    db.orm
      .select()
      .from(events)
      .where(
        and(
          type === undefined ? undefined : eq(events.type, type),
          after === undefined ? undefined : gt(events.id, after),
          from === undefined ? undefined : gte(events.createdAt, from),
          to === undefined ? undefined : lt(events.createdAt, to),
          last && (isOldestFirst ? gt(events.id, last.id) : lt(events.id, last.id))
        )
      )
      .orderBy(isOldestFirst ? asc(events.id) : desc(events.id))
      .limit(most)
      .all()
  return inParts(db, next, (rows) => rows, limit)
}

/** What moves money of affiliates, and what operators decide, is kept as long as the orders. */
const isKept = `(type LIKE 'affiliate.%' OR type LIKE 'payout.%' OR type IN ('setting.changed', 'module.changed')
    OR (type LIKE 'referral.%' AND by IS NOT NULL))`

const remove = rawStatement<{ id: number }>(`
  DELETE FROM events WHERE id = @id AND NOT ${isKept}
    AND NOT EXISTS (SELECT 1 FROM mails WHERE event_id = @id)
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_id = @id)`)

/**
 * Deletes the events from before a time, of the `limit` events that follow the id `after`. An event of a stored email or
 * delivery stays until that is deleted, and `isKept` events stay for good. Returns the id to continue after; null at the first event that is not from before.
 */
export function purgeEvents(tx: Tx, before: number, { after, limit }: { after: number; limit: number }): number | null {
  const oldest = tx.orm
    .select({ id: events.id, createdAt: events.createdAt })
    .from(events)
    .where(gt(events.id, after))
    .orderBy(asc(events.id))
    .limit(limit)
    .all()
  const old = oldest.filter(({ createdAt }) => createdAt < before)
  for (const { id } of old) remove(tx).run({ id })
  return old.length === limit ? (old.at(-1)?.id ?? null) : null
}
