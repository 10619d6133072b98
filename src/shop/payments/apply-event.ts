import { eq, lt, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { runUnitOfWork } from './unit-of-work.ts'
import { effectOf } from './event-effects.ts'
import type { GatewayEvent } from './gateway-event.ts'
import { webhookInbox } from './schema.ts'

/** What applying an event did; `known`: it had been applied before. */
export type EventOutcome = 'applied' | 'ignored' | 'known'

/** Stripe keeps events for 30 days, so an older event is never delivered again. */
const retentionMs = 60 * 24 * 60 * 60_000

const inboxEntry = statement((orm) =>
  orm
    .select({ eventId: webhookInbox.eventId })
    .from(webhookInbox)
    .where(eq(webhookInbox.eventId, sql.placeholder('id')))
    .prepare()
)

/**
 * Applies one event, delivered by webhook or found in the gateway's list of events. When two callers apply the same event
 * at the same time, the primary key of the inbox admits one.
 *
 * @param by the caller that the audit rows name: `webhook` or `reconciler`
 * @throws any error of the gateway or of the database; the event then stays out of the inbox and is applied later
 */
export async function applyEvent(
  shop: ShopContext,
  stripe: Stripe,
  event: GatewayEvent,
  by: string
): Promise<EventOutcome> {
  if (isKnown(shop.db, event.id)) return 'known'
  const effect = await effectOf(shop, stripe, event)
  const outcome = await runUnitOfWork(shop, by, (unit): EventOutcome => {
    const { tx, now } = unit
    if (isKnown(tx, event.id)) return 'known'
    const done = effect?.(unit) ?? 'ignored'
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

/** Deletes inbox rows of events that Stripe no longer delivers, at most `limit` of them. Returns how many. */
export function dropOldEvents(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(webhookInbox)
    .where(lt(webhookInbox.appliedAt, now - retentionMs))
    .limit(limit)
    .run().changes
}
