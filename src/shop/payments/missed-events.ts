import type Stripe from 'stripe'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { applyEvent } from './apply-event.ts'
import { isRateLimited } from './gateway-failure.ts'
import { handledTypes, readEvent } from './gateway-event.ts'
import type { GatewayEvent } from './gateway-event.ts'

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
