import { desc } from 'drizzle-orm'
import type Stripe from 'stripe'
import { write } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { findOrder } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { getAttempt, openAttempts, updateAttempt } from './attempts.ts'
import { openCheckoutPage } from './checkout-page.ts'
import type { PageUrls } from './checkout-page.ts'
import { isReady } from './gateway.ts'
import { callOff, lookUp } from './look-up.ts'
import { requestRefund, unansweredRefunds } from './refund.ts'
import type { AttemptRow } from './rows.ts'
import { webhookInbox } from './schema.ts'
import { failAttempt, settleAttempt } from './settle.ts'
import { applyEvent } from './webhook.ts'

/** A checkout under way may still be talking to the gateway for this long. */
const youngMs = 30_000
/** How far back undelivered events are looked for when none has ever arrived. */
const firstLookBackMs = 24 * 60 * 60_000
/** Events are listed anew from a little before the newest applied one: they do not arrive in order. */
const overlapMs = 10 * 60_000

export type ReconcileReport = { attempts: number; settled: number; events: number; refunds: number; failed: number }

type Options = {
  /** Attempts younger than this are left to whoever made them; 0 when nobody else can be at work. */
  youngerThanMs?: number
  urlsOf: (attempt: AttemptRow) => PageUrls
}

/**
 * Brings orders and gateway together again: every attempt without a final outcome is settled from the gateway's own
 * answer, refunds whose answer was lost are asked for again, and events that were never delivered are applied. What
 * cannot be settled now is tried again next time; one failure holds up nothing else.
 */
export async function reconcile(shop: ShopContext, options: Options): Promise<ReconcileReport> {
  const report: ReconcileReport = { attempts: 0, settled: 0, events: 0, refunds: 0, failed: 0 }
  if (!isReady(shop.cards)) return report
  const stripe = await shop.cards.client()
  const before = shop.clock.now() - (options.youngerThanMs ?? youngMs)
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      report.failed += 1
      shop.log.warn('could not be reconciled', { what, error: describeError(error) })
    }
  }
  for (const open of openAttempts(shop.db).filter(
    (row) => row.gateway === shop.cards?.name && row.updatedAt <= before
  )) {
    report.attempts += 1
    await attempt(`order ${open.orderId}`, async () => {
      await settleOpen(shop, stripe, open, options)
      if (getAttempt(shop.db, open.id).outcome !== null) report.settled += 1
    })
  }
  for (const refund of unansweredRefunds(shop.db).filter((row) => row.updatedAt <= before)) {
    report.refunds += 1
    await attempt(`refund of order ${refund.orderId}`, () => requestRefund(shop, refund))
  }
  await attempt('events', async () => void (report.events = await catchUpOnEvents(shop, stripe)))
  return report
}

async function settleOpen(shop: ShopContext, stripe: Stripe, attempt: AttemptRow, options: Options): Promise<void> {
  const known = attempt.objectId === null ? await startAgain(shop, attempt, options) : attempt
  if (known === undefined) return
  const state = await lookUp(stripe, known)
  if (state === undefined) return
  const { status, holdEndsAt } = findOrder(shop.db, attempt.orderId) ?? {}
  const holdOver = holdEndsAt !== undefined && holdEndsAt !== null && holdEndsAt <= shop.clock.now()
  const abandoned = status !== 'pending' || holdOver || (attempt.kind === 'payment_intent' && state.verdict === 'open')
  const unpaid = state.verdict === 'open' || state.verdict === 'action'
  const final = unpaid && abandoned ? await callOff(stripe, known) : state
  if (final !== undefined) settleAttempt(shop, attempt.id, final, 'reconciler')
}

/**
 * The call that would have told us the object's id had no answer. A page is asked for again under the same key, so that
 * whatever was made is found; an intent that nobody confirmed charges nobody, and its order has failed.
 */
async function startAgain(shop: ShopContext, attempt: AttemptRow, options: Options): Promise<AttemptRow | undefined> {
  if (attempt.kind === 'checkout_session') return openCheckoutPage(shop, attempt, options.urlsOf(attempt))
  write(shop.db, (tx) => failAttempt(tx, attempt.id, 'the payment was never confirmed', shop.clock.now(), 'reconciler'))
  return undefined
}

/** Lists what happened since the newest event we applied, oldest first, and applies what never reached us. */
async function catchUpOnEvents(shop: ShopContext, stripe: Stripe): Promise<number> {
  const newest = shop.db.orm
    .select({ at: webhookInbox.eventCreatedAt })
    .from(webhookInbox)
    .orderBy(desc(webhookInbox.eventCreatedAt))
    .limit(1)
    .get()
  const since = newest === undefined ? shop.clock.now() - firstLookBackMs : newest.at - overlapMs
  const missed: Stripe.Event[] = []
  for await (const event of stripe.events.list({ created: { gte: Math.floor(since / 1000) }, limit: 100 }))
    missed.push(event)
  let applied = 0
  for (const event of missed.toReversed()) {
    if ((await applyEvent(shop, stripe, event, 'reconciler')) === 'applied') applied += 1
  }
  return applied
}

/**
 * Ends the hold of an order that was not paid in time: first nothing can be charged any more, then stock and coupons go
 * back. One whose payment waits for the bank is left alone.
 *
 * @returns whether the order was cancelled
 */
export async function endHold(shop: ShopContext, orderId: number): Promise<boolean> {
  for (const attempt of openAttempts(shop.db).filter((row) => row.orderId === orderId)) {
    if (!(await closeAttempt(shop, attempt))) return false
  }
  return write(shop.db, (tx) => {
    if (findOrder(tx, orderId)?.status !== 'pending') return false
    moveOrder(tx, orderId, 'cancelled', { by: 'hold', reason: 'it was not paid in time' }, shop.clock.now())
    return true
  })
}

/** True once nothing more can come of the attempt. */
async function closeAttempt(shop: ShopContext, attempt: AttemptRow): Promise<boolean> {
  if (attempt.gateway === 'manual' || !isReady(shop.cards) || attempt.objectId === null) {
    write(shop.db, (tx) =>
      updateAttempt(tx, attempt.id, { outcome: 'abandoned', settledAt: shop.clock.now() }, shop.clock.now())
    )
    return true
  }
  const state = await callOff(await shop.cards.client(), attempt)
  if (state === undefined) return false
  settleAttempt(shop, attempt.id, state, 'hold')
  return state.verdict !== 'waiting'
}
