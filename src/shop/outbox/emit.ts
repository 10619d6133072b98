import type { Tx } from '../../platform/db/database.ts'
import { insertStatement } from '../../platform/db/statements.ts'
import type { ShopEvents, ShopEventType } from '../events/event-types.ts'
import { events } from '../events/schema.ts'
import { queueDeliveries } from '../webhooks/queue-deliveries.ts'

const insertEvent = insertStatement(events)

/**
 * Writes an event and one webhook delivery for each endpoint that subscribes to its type, in the transaction that causes
 * the event; returns the event's id.
 */
export function emit<T extends ShopEventType>(tx: Tx, type: T, payload: ShopEvents[T], now: number): number {
  const eventId = insertEvent(tx, { type, payload, createdAt: now })
  queueDeliveries(tx).run({ eventId, type, now })
  return eventId
}
