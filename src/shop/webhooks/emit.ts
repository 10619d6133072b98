import { sql } from 'drizzle-orm'
import { actor } from '../../platform/actor.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rawStatement, statement } from '../../platform/db/database.ts'
import type { ShopEvents, ShopEventType } from '../events/event-types.ts'
import { events } from '../events/schema.ts'

/**
 * Queues a delivery of the event for each active endpoint that subscribes to its type. An endpoint receives only the
 * events emitted after it was added.
 */
const queueDeliveries = rawStatement<[{ eventId: number; type: string; now: number }]>(`
  INSERT INTO webhook_deliveries (endpoint_id, event_id, state, attempts, next_attempt_at, created_at)
  SELECT id, @eventId, 'queued', 0, @now, @now FROM webhook_endpoints
  WHERE active = 1 AND (types IS NULL OR EXISTS (SELECT 1 FROM json_each(types) WHERE value = @type))`)

const insertEvent = statement((orm) =>
  orm
    .insert(events)
    .values({
      type: sql.placeholder('type'),
      payload: sql.placeholder('payload'),
      by: sql`${sql.placeholder('by')}`,
      createdAt: sql.placeholder('createdAt')
    })
    .returning({ id: events.id })
    .prepare()
)

/**
 * Writes an event and one webhook delivery for each endpoint that subscribes to its type, in the transaction that causes
 * the event; returns the event's id.
 */
export function emit<T extends ShopEventType>(tx: Tx, type: T, payload: ShopEvents[T], now: number): number {
  const { id: eventId } = insertEvent(tx).get({ type, payload, by: actor(), createdAt: now })
  queueDeliveries(tx).run({ eventId, type, now })
  return eventId
}
