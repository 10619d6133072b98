import { and, asc, desc, eq, gt, gte, lt } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { events } from './schema.ts'

export type EventRow = typeof events.$inferSelect

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
