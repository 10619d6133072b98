import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { readEvent, handledTypes } from './gateway-state.ts'
import { readyGateway, isRateLimited } from './gateway.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { asc, desc, eq, gt, lt, lte, sql } from 'drizzle-orm'
import type Database from 'better-sqlite3'
import { writeWhenFree, rawStatement, statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { onceFor } from '../../platform/once-for.ts'
import { webhookSignatures, webhookProbes, webhookInbox } from './schema.ts'
import type { ProbeDelivery } from './schema.ts'
import { runUnitOfWork } from './warnings.ts'
import { effectOf } from './event-effects.ts'
import type { GatewayEvent } from './gateway-state.ts'

/** How far a delivery's timestamp may differ from the clock, in either direction. */
const toleranceSeconds = 300

/**
 * Refuses a delivery that cannot be accepted whatever its body contains. Without the secret, a delivery is read only while
 * `shopstead stripe setup` waits for one.
 *
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED, WEBHOOK_SIGNATURE_INVALID for a missing signature
 */
export function assertDeliverable(shop: ShopContext, signature: string | null): void {
  readyGateway(shop)
  if (!isProbeOpen(shop)) webhookSecretOf(shop)
  if (!signature) throw new AppError('WEBHOOK_SIGNATURE_INVALID', 'The header Stripe-Signature is missing.')
}

function webhookSecretOf({ cards }: ShopContext): string {
  const secret = cards?.webhookSecret
  if (secret === undefined) throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'The webhook secret is not set.')
  return secret
}

/**
 * Receives one webhook delivery: verifies the signature, fetches the object, and applies it in one transaction with its
 * inbox row.
 *
 * @throws AppError WEBHOOK_SIGNATURE_INVALID, VALIDATION_FAILED, CHECKOUT_GATEWAY_NOT_CONFIGURED. After any other error
 *   the gateway delivers again.
 */
export async function receiveWebhook(
  shop: ShopContext,
  rawBody: string,
  signature: string | null
): Promise<EventOutcome> {
  const stripe = await readyGateway(shop).client()
  const signed = await verifyAndCount(shop, stripe, rawBody, signature ?? '')
  return applyEvent(shop, stripe, readEvent(signed), 'webhook')
}

/** A delivery without any signature is not Stripe's, so it says nothing about the secret. */
async function verifyAndCount(shop: ShopContext, stripe: Stripe, body: string, signature: string): Promise<unknown> {
  try {
    const signed = verify(shop, stripe, body, signature)
    await countAccepted(shop)
    await recordDelivery(shop, { body, signature, isAccepted: true })
    return signed
  } catch (error) {
    if (signature !== '') await recordDelivery(shop, { body, signature, isAccepted: false })
    if (signature !== '' && shop.cards?.webhookSecret !== undefined) await countRefused(shop)
    throw error
  }
}

function verify(shop: ShopContext, stripe: Stripe, rawBody: string, signature: string): unknown {
  const secret = webhookSecretOf(shop)
  const now = shop.clock.now()
  try {
    assertNotAhead(signature, now)
    // Not constructEvent, which refuses thin events (docs.stripe.com/webhooks#thin-events).
    const verified = stripe.webhooks.signature?.verifyHeader(
      rawBody,
      signature,
      secret,
      toleranceSeconds,
      undefined,
      now
    )
    if (verified !== true) throw new Error('the signature was not verified')
    return JSON.parse(rawBody)
  } catch (error) {
    throw new AppError(
      'WEBHOOK_SIGNATURE_INVALID',
      'The webhook signature is not valid.',
      {},
      { cause: describeError(error) }
    )
  }
}

/** stripe-node refuses old timestamps but accepts future ones, and reads the last of several timestamps. */
function assertNotAhead(signature: string, now: number): void {
  const times = signature.split(',').filter((part) => part.startsWith('t='))
  const signedAt = /^t=\d{1,12}$/.test(times.join()) ? Number(times.join().slice('t='.length)) : Number.NaN
  if (!(signedAt - Math.floor(now / 1000) <= toleranceSeconds))
    throw new Error('the timestamp is missing or ahead of the clock')
}

/** How the signatures of Stripe's webhooks fared; times in epoch milliseconds. */
export type SignatureCount = {
  /** Since the shop was set up. */
  refused: number
  refusedSinceAccepted: number
  refusedAt: number | null
  acceptedAt: number | null
}

const minuteMs = 60_000
/** Refused deliveries write at most this often in a minute: anyone can send them. */
const writesPerMinute = 10

const saveRefused = rawStatement<{ count: number; now: number }>(`
  INSERT INTO webhook_signatures (id, refused, refused_since_accepted, refused_at) VALUES (1, @count, @count, @now)
  ON CONFLICT (id) DO UPDATE SET refused = refused + @count,
    refused_since_accepted = refused_since_accepted + @count, refused_at = @now`)
const saveAccepted = rawStatement<{ count: number; now: number }>(`
  INSERT INTO webhook_signatures (id, refused, refused_since_accepted, accepted_at) VALUES (1, @count, 0, @now)
  ON CONFLICT (id) DO UPDATE SET refused = refused + @count, refused_since_accepted = 0, accepted_at = @now`)

/** What this process has not written yet, and when it wrote. */
const tallyOf = onceFor((_sqlite: Database.Database) => ({
  refused: 0,
  isRefusing: true,
  minute: 0,
  writes: 0,
  acceptedAt: 0
}))

/**
 * Counts a delivery whose signature is wrong. The count is written at most ten times a minute; what is left over is
 * written with the next delivery.
 */
export async function countRefused(shop: ShopContext): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const minute = Math.floor(shop.clock.now() / minuteMs)
  if (minute !== tally.minute) Object.assign(tally, { minute, writes: 0 })
  tally.refused += 1
  tally.isRefusing = true
  if (tally.writes >= writesPerMinute) return
  tally.writes += 1
  await save(shop, saveRefused)
}

/** Counts a delivery whose signature is right: immediately after a refused one, otherwise once a minute. */
export async function countAccepted(shop: ShopContext): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const now = shop.clock.now()
  if (!tally.isRefusing && Math.abs(now - tally.acceptedAt) < minuteMs) return
  Object.assign(tally, { isRefusing: false, acceptedAt: now })
  await save(shop, saveAccepted)
}

async function save(shop: ShopContext, statement: typeof saveRefused): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const count = tally.refused
  tally.refused = 0
  try {
    await writeWhenFree(shop.db, (tx) => void statement(tx).run({ count, now: shop.clock.now() }))
  } catch (error) {
    // The count is only for `health` and the metrics, so the delivery is answered as usual.
    tally.refused += count
    shop.log.warn('the webhook signatures could not be counted', { error: describeError(error) })
  }
}

/** How Stripe's webhooks fared, in all processes that served this shop. */
export function readSignatureCount(db: Db): SignatureCount {
  const row = db.orm.select().from(webhookSignatures).where(eq(webhookSignatures.id, 1)).get()
  return row ?? { refused: 0, refusedSinceAccepted: 0, refusedAt: null, acceptedAt: null }
}

/** How long the server looks for the deliveries of a probe. */
const openMs = 10 * 60_000
/** One event arrives once for each webhook endpoint at this address, and again when it is not answered with 2xx. */
const mostDeliveries = 8

const openTokens = rawStatement<[number], { token: string }>('SELECT token FROM webhook_probes WHERE created_at > ?')

/** Starts to look for deliveries that contain the token, and forgets probes that are over. */
export async function openProbe({ db, clock }: ShopContext, token: string): Promise<void> {
  await writeWhenFree(db, (tx) => {
    const now = clock.now()
    tx.orm
      .delete(webhookProbes)
      .where(lte(webhookProbes.createdAt, now - openMs))
      .run()
    tx.orm.insert(webhookProbes).values({ token, deliveries: [], createdAt: now }).run()
  })
}

/** The deliveries that have arrived for a probe. */
export function probeDeliveries(db: Db, token: string): ProbeDelivery[] {
  const row = db.orm.select().from(webhookProbes).where(eq(webhookProbes.token, token)).get()
  return row?.deliveries ?? []
}

/** Whether a command waits for a delivery. */
export function isProbeOpen({ db, clock }: ShopContext): boolean {
  return openTokens(db).get(clock.now() - openMs) !== undefined
}

/** Forgets a probe and what arrived for it. */
export async function closeProbe({ db }: ShopContext, token: string): Promise<void> {
  await writeWhenFree(db, (tx) => void tx.orm.delete(webhookProbes).where(eq(webhookProbes.token, token)).run())
}

/**
 * Stores a delivery if it belongs to an open probe, also one that this server refuses: the command that waits for it
 * knows the secret of the endpoint. A client that does not know the token cannot write here.
 */
export async function recordDelivery({ db, clock }: ShopContext, delivery: ProbeDelivery): Promise<void> {
  const now = clock.now()
  const open = openTokens(db).all(now - openMs)
  const found = open.find(({ token }) => delivery.body.includes(token))
  if (found === undefined) return
  await writeWhenFree(db, (tx) => {
    const deliveries = [...probeDeliveries(tx, found.token), delivery].slice(0, mostDeliveries)
    tx.orm.update(webhookProbes).set({ deliveries }).where(eq(webhookProbes.token, found.token)).run()
  })
}

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

const lastTime = statement((orm) =>
  orm
    .select({ at: webhookInbox.appliedAt })
    .from(webhookInbox)
    .where(lte(webhookInbox.appliedAt, sql.placeholder('until')))
    .orderBy(desc(webhookInbox.appliedAt))
    .limit(1)
    .prepare()
)
const timesAfter = statement((orm) =>
  orm
    .select({ at: webhookInbox.appliedAt })
    .from(webhookInbox)
    .where(gt(webhookInbox.appliedAt, sql.placeholder('after')))
    .orderBy(asc(webhookInbox.appliedAt))
    .limit(sql.placeholder('limit'))
    .prepare()
)
/** Times of one read; requests wait meanwhile, about a millisecond. */
const timesPerRead = 1_000

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
  cursor.since ??= await firstSince(shop.db, now)
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
async function firstSince(db: Db, now: number): Promise<number> {
  return Math.min(now - firstLookBackMs, (await firstSilence(db, now - longestLookBackMs, now)) - overlapMs)
}

/** When the earliest silence began that ended after `from`; `now` without one. Requests run between the reads. */
async function firstSilence(db: Db, from: number, now: number): Promise<number> {
  let last = lastTime(db).get({ until: from })?.at ?? Number.POSITIVE_INFINITY
  for (let after = from; ;) {
    const times = timesAfter(db)
      .all({ after, limit: timesPerRead })
      .map(({ at }) => at)
    const isEnd = times.length < timesPerRead
    for (const at of isEnd ? [...times, now] : times) {
      if (at - last > silenceMs) return last
      last = at
    }
    if (isEnd) return now
    after = last
    await nextTurn()
  }
}
