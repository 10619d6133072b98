import { eq, lt, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement, rawStatement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { runUnitOfWork } from './warnings.ts'
import { effectOf } from './event-effects.ts'
import type { GatewayEvent } from './gateway-event.ts'
import { webhookInbox } from './schema.ts'
import { describeError } from '../../platform/log.ts'
import { isRateLimited } from './gateway.ts'
import { handledTypes, readEvent } from './gateway-event.ts'

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

/** The time (epoch ms) from which events are listed; null until the first list has been read. */
export type EventCursor = { since: number | null }

/** Stripe tries for three days to deliver an event; the first list goes back at least as far. */
const firstLookBackMs = 3 * 24 * 60 * 60_000
/** Stripe keeps events for 30 days. */
const longestLookBackMs = 30 * 24 * 60 * 60_000
/** Without an event for this time, the shop may have been closed. */
const silenceMs = 24 * 60 * 60_000
/** Lists overlap, because events do not appear in the order of their times. */
const overlapMs = 10 * 60_000

const firstSilence = rawStatement<{ from: number; now: number; silenceMs: number }, { at: number | null }>(
  `SELECT min(applied_at) AS at FROM (
     SELECT applied_at, lead(applied_at, 1, @now) OVER (ORDER BY applied_at) AS next_at FROM webhook_inbox
   ) WHERE next_at > @from AND next_at - applied_at > @silenceMs`
)

/**
 * Lists the gateway's events since the last list and applies those that no webhook delivered, oldest first. An event that
 * fails does not delay the others, and is listed again until it has been applied.
 *
 * @throws when the list cannot be read, or the gateway asks for fewer calls; the same events are listed again then
 */
export async function applyMissedEvents(
  shop: ShopContext,
  stripe: Stripe,
  cursor: EventCursor
): Promise<{ applied: number; failed: number }> {
  const now = shop.clock.now()
  // If the clock was ahead at the last list, this list must not skip the events since then.
  cursor.since ??= firstSince(shop.db, now)
  const last = Math.min(cursor.since, now - overlapMs)
  const since = Math.max(last, now - longestLookBackMs)
  const listed: GatewayEvent[] = []
  const query = { created: { gte: Math.floor(since / 1000) }, types: [...handledTypes], limit: 100 }
  for await (const event of stripe.events.list(query)) listed.push(readEvent(event))
  const result = { applied: 0, failed: 0 }
  let next = Math.max(since, now - overlapMs)
  for (const event of listed.toReversed()) {
    try {
      if ((await applyEvent(shop, stripe, event, 'reconciler')) === 'applied') result.applied += 1
    } catch (error) {
      if (isRateLimited(error)) throw error
      result.failed += 1
      next = Math.min(next, event.createdAt)
      shop.log.warn('a gateway event could not be applied', {
        event: event.id,
        type: event.type,
        error: describeError(error)
      })
    }
  }
  cursor.since = next
  return result
}

/**
 * The time from which the first list of a process goes back: three days, or the earliest silence of the last 30 days. In
 * a silence no event was applied, so the shop may have been closed. The newest event does not tell: after a pause, the
 * webhook of a new event may be quicker than the first list.
 */
function firstSince(db: Db, now: number): number {
  const from = now - longestLookBackMs
  const silentSince = firstSilence(db).get({ from, now, silenceMs })?.at ?? now
  return Math.min(now - firstLookBackMs, silentSince - overlapMs)
}
