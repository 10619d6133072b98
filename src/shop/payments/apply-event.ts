import { eq, lt, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { book } from './booking.ts'
import { effectOf } from './event-effects.ts'
import type { GatewayEvent } from './gateway-event.ts'
import { webhookInbox } from './schema.ts'

/** What applying an event did; `known` had been applied before. */
export type EventOutcome = 'applied' | 'ignored' | 'known'

/** Stripe keeps events for 30 days: older ones cannot come again. */
const keptMs = 60 * 24 * 60 * 60_000

const inboxEntry = statement((orm) =>
  orm
    .select({ eventId: webhookInbox.eventId })
    .from(webhookInbox)
    .where(eq(webhookInbox.eventId, sql.placeholder('id')))
    .prepare()
)

/**
 * Applies one event, whether it was delivered or found in the gateway's list of what never was. Of two at once the inbox
 * lets one through.
 */
export async function applyEvent(
  shop: ShopContext,
  stripe: Stripe,
  event: GatewayEvent,
  by: string
): Promise<EventOutcome> {
  if (isKnown(shop.db, event.id)) return 'known'
  const effect = await effectOf(shop, stripe, event)
  const outcome = await book(shop, by, (booking): EventOutcome => {
    const { tx, now } = booking
    if (isKnown(tx, event.id)) return 'known'
    const done = effect?.(booking) ?? 'ignored'
    tx.orm
      .insert(webhookInbox)
      .values({
        eventId: event.id,
        type: event.type,
        objectId: event.objectId,
        outcome: done,
        eventCreatedAt: event.createdAt,
        appliedAt: now
      })
      .run()
    return done
  })
  shop.log.info('a gateway event', { event: event.id, type: event.type, outcome, by })
  return outcome
}

function isKnown(db: Db, eventId: string): boolean {
  return inboxEntry(db).get({ id: eventId }) !== undefined
}

/** Forgets what can never be delivered again. */
export function dropOldEvents(tx: Tx, now: number): number {
  return tx.orm
    .delete(webhookInbox)
    .where(lt(webhookInbox.appliedAt, now - keptMs))
    .run().changes
}
