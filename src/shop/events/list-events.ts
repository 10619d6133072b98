import { and, asc, desc, eq, gt } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { events } from './schema.ts'

export type EventRow = typeof events.$inferSelect

/**
 * Events, the newest first; with `filter.after`, the events after that one, the oldest first.
 *
 * @param filter.after id of an event
 */
export function listEvents(
  db: Db,
  filter: { type?: string | undefined; after?: number | undefined; limit: number }
): EventRow[] {
  const { type, after, limit } = filter
  return db.orm
    .select()
    .from(events)
    .where(
      and(
        type === undefined ? undefined : eq(events.type, type),
        after === undefined ? undefined : gt(events.id, after)
      )
    )
    .orderBy(after === undefined ? desc(events.id) : asc(events.id))
    .limit(limit)
    .all()
}
