import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { writeWhenFree, statement } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { findOrder } from '../orders/find.ts'
import { attemptsOf, getAttempt, openAttempts, unanswered, updateAttempt } from './attempts.ts'
import { openCheckoutPage } from './gateway-page.ts'
import {
  isRateLimited,
  isRunningAlready,
  isSilence,
  readGatewayError,
  isReady,
  isUnavailable,
  readyGateway
} from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'
import { callOff, lookUp, unlessMissing } from './gateway-state.ts'
import { applyMissedEvents } from './webhook.ts'
import type { EventCursor } from './webhook.ts'
import { openRefunds, settleRefund } from './refund.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt, settleAttempt } from './settle.ts'
import { endUnwantedSubscriptions } from './subscriptions.ts'
import { and, asc, count, eq, getTableColumns, gt, inArray, isNotNull, not, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { orders } from '../orders/schema.ts'
import { paymentAttempts } from './schema.ts'
import { endHolds } from './end-hold.ts'

/** A checkout talks to the gateway for 20 s at most; an attempt that is younger than this may still be in progress. */
const atWorkMs = 25_000
/** After this many consecutive calls without an answer, the rest waits for the next round. */
const mostUnanswered = 3

export type ReconcileReport = { attempts: number; settled: number; events: number; refunds: number; failed: number }

export type ReconcileOptions = {
  /**
   * What to do with attempts that a checkout may still be working on: `leave` them, `wait` until the checkout has ended,
   * or `take` them, when no checkout can be running. An attempt that is taken too early fails; it is never charged.
   */
  underWay?: 'leave' | 'wait' | 'take'
  /** With `take`: attempts changed since this time (epoch ms) are left, because checkouts may be running by then. */
  openSince?: number
  /** The caller keeps it between rounds, so that events are not listed again. */
  events?: EventCursor
  /** The caller keeps it between rounds that run by themselves; without it, all open payments are asked about. */
  pace?: Pace
}

/** One reconciliation: its report, and a runner that counts failures. */
type Round = {
  report: ReconcileReport
  /** `work` returns 0 when it asked the gateway nothing, so that it does not count as an answer. */
  attempt: (what: string, work: () => Promise<number | void>) => Promise<void>
  wasLimited: () => boolean
}

/**
 * Brings the orders in line with the gateway: applies events that no webhook delivered, finishes refunds, ends
 * subscriptions that must not renew, and settles attempts without a final outcome from the gateway's state. What fails is
 * logged, counted and tried again in the next round; it does not delay the rest. Events come first, because one list tells
 * of all payments since the last one; pages that still wait for their buyers are asked about in turn.
 */
export async function reconcile(shop: ShopContext, options: ReconcileOptions): Promise<ReconcileReport> {
  const report: ReconcileReport = { attempts: 0, settled: 0, events: 0, refunds: 0, failed: 0 }
  const { pace } = options
  if (!isReady(shop.cards) || isResting(pace, shop.clock.now())) return report
  const stripe = await shop.cards.client()
  if (options.underWay === 'wait') await waitForCheckouts(shop)
  const round = startRound(shop, report)
  await round.attempt('events', async () => {
    const missed = await applyMissedEvents(shop, stripe, options.events ?? { since: null })
    report.events = missed.applied
    report.failed += missed.failed
  })
  for (const refund of openRefunds(shop.db).filter((row) => isQuiet(shop, row, options))) {
    report.refunds += 1
    await round.attempt(`refund of order ${refund.orderId}`, () => settleRefund(shop, stripe, refund))
  }
  await round.attempt('subscriptions', () => endUnwantedSubscriptions(shop, stripe))
  await settleAttempts(shop, stripe, round, options)
  // The least urgent part, so it does not count as failed when the rest used up the gateway's rate limit.
  if (!round.wasLimited()) await round.attempt('discount coupons', () => deleteDiscountCoupons(shop, stripe))
  afterRound(pace, round.wasLimited(), shop.clock.now())
  return report
}

function startRound(shop: ShopContext, report: ReconcileReport): Round {
  let silent = 0
  let limited = false
  return {
    report,
    wasLimited: () => limited,
    async attempt(what, work) {
      if (limited || silent >= mostUnanswered) {
        report.failed += 1
        return
      }
      try {
        if ((await work()) !== 0) silent = 0
      } catch (error) {
        report.failed += 1
        silent = isSilence(error) ? silent + 1 : 0
        limited = isRateLimited(error)
        shop.log.warn('could not be reconciled', { what, error: describeError(error) })
        if (limited) shop.log.warn('the gateway asks for fewer calls; the rest waits for a later round')
        if (silent === mostUnanswered) shop.log.warn('the gateway does not answer; the rest waits for the next round')
      }
    }
  }
}

function isQuiet(shop: ShopContext, { updatedAt }: { updatedAt: number }, options: ReconcileOptions): boolean {
  return isAbandoned(shop, updatedAt, options) || !isRecent(shop, updatedAt)
}

/** Whether no checkout can be working on it: it is older than the server's start, or from a clock that was ahead. */
function isAbandoned(
  { clock }: ShopContext,
  at: number,
  { underWay, openSince = Infinity }: ReconcileOptions
): boolean {
  return underWay === 'take' && (at < openSince || at > clock.now())
}

/** Waits until every running checkout has its answer, or cannot get one any more. */
async function waitForCheckouts(shop: ShopContext): Promise<void> {
  const endsAt = performance.now() + atWorkMs
  while (performance.now() < endsAt && openAttempts(shop.db).some((row) => isUnderWay(shop, row))) await sleep(250)
}

/** Whether a checkout may still be working on it: it is recent, and its buyer has no answer yet. */
function isUnderWay(shop: ShopContext, row: AttemptRow): boolean {
  const { gateway, kind, objectId, gatewayStatus } = row
  if (gateway !== shop.cards?.name || gatewayStatus === unanswered) return false
  const isTold = kind === 'checkout_session' ? objectId !== null : !beforeConfirmation.has(gatewayStatus)
  return !isTold && isRecent(shop, row.updatedAt)
}

/** In both directions, because a clock that was ahead leaves times in the future. */
function isRecent({ clock }: ShopContext, at: number): boolean {
  return Math.abs(clock.now() - at) < atWorkMs
}

const beforeConfirmation = new Set([null, 'requires_payment_method', 'requires_confirmation'])

async function settleAttempts(
  shop: ShopContext,
  stripe: Stripe,
  { report, attempt }: Round,
  options: ReconcileOptions
): Promise<void> {
  for (const open of attemptsInTurn(shop.db, options.pace, shop.clock.now())) {
    const isTheirs = !isAbandoned(shop, open.updatedAt, options) && isUnderWay(shop, open)
    if (open.gateway !== shop.cards?.name || isTheirs) continue
    report.attempts += 1
    await attempt(`order ${open.orderId}`, async () => {
      await settleOpen(shop, stripe, open)
      if (getAttempt(shop.db, open.id).outcome !== null) report.settled += 1
    })
  }
}

async function settleOpen(shop: ShopContext, stripe: Stripe, attempt: AttemptRow): Promise<void> {
  const known = attempt.objectId === null ? await startAgain(shop, attempt) : attempt
  if (known === undefined) return
  const state = await lookUp(stripe, known)
  if (state === undefined) return
  const final = isGivenUp(shop, known, state) ? await callOff(stripe, known) : state
  if (final !== undefined) await settleAttempt(shop, attempt.id, final, 'reconciler')
}

/**
 * An intent whose checkout has ended will not be confirmed; a page stays open while its order waits for payment, until a
 * newer attempt replaces it.
 */
function isGivenUp(shop: ShopContext, { id, orderId, kind }: AttemptRow, { verdict }: GatewayState): boolean {
  if (verdict !== 'open' && verdict !== 'action') return false
  if (attemptsOf(shop.db, orderId)[0]?.id !== id) return true
  const order = findOrder(shop.db, orderId)
  const holdIsOver = (order?.holdEndsAt ?? Number.POSITIVE_INFINITY) <= shop.clock.now()
  return order?.status !== 'pending' || holdIsOver || (kind === 'payment_intent' && verdict === 'open')
}

/**
 * The answer with the object's id was lost. Asking for a page again under the same key returns the page that was created.
 * An intent that was not confirmed charges nothing, and its order has failed.
 */
async function startAgain(shop: ShopContext, attempt: AttemptRow): Promise<AttemptRow | undefined> {
  if (attempt.kind !== 'checkout_session') return giveUp(shop, attempt, 'the payment was never confirmed')
  try {
    return await openCheckoutPage(shop, attempt)
  } catch (error) {
    // After a refusal there is no page under this key.
    const { answered, temporary } = readGatewayError(error)
    if (!answered || temporary || isRunningAlready(error)) throw error
    return giveUp(shop, attempt, 'the payment page was refused')
  }
}

async function giveUp(shop: ShopContext, { id }: AttemptRow, reason: string): Promise<undefined> {
  const now = shop.clock.now()
  await writeWhenFree(shop.db, (tx) => {
    if (getAttempt(tx, id).objectId === null) failAttempt(tx, id, reason, now, 'reconciler')
  })
}

/** What the reconciler remembers between rounds, so that it asks about many open pages in turn and backs off. */
export type Pace = {
  /** The last open page that was asked about. */
  afterAttempt: number
  /** Consecutive rounds that met the gateway's rate limit. */
  limitedRounds: number
  /** No calls before this time, epoch ms. */
  quietUntil: number
}

const minuteMs = 60_000
/** A page whose end is this near may change at any moment. */
const nearEndMs = 2 * minuteMs
/** All open pages are asked about within this number of rounds, and at least this many in each. */
const roundsForAll = 10
const leastPerRound = 100
/** The longest pause, in rounds of a minute. */
const longestPauseRounds = 8
/** The job's timer is not exact. */
const timerMarginMs = 10_000

/**
 * An open payment. The index is named here, and pluses keep SQLite from others: it would rather read all pending orders, or
 * all payments that the shop ever had.
 */
const isOpen = inArray(
  paymentAttempts.id,
  sql`(SELECT id FROM payment_attempts INDEXED BY payment_attempts_open WHERE outcome IS NULL)`
)

/** A payment page that its buyer may still use; an event will report its payment or its end. */
const isWaitingPage = and(
  eq(paymentAttempts.kind, 'checkout_session'),
  sql`+${paymentAttempts.objectId} IS NOT NULL`,
  sql`+${orders.status} = 'pending'`,
  gt(orders.holdEndsAt, sql.placeholder('soon')),
  gt(paymentAttempts.expiresAt, sql.placeholder('soon'))
)

const countWaiting = statement((orm) =>
  orm
    .select({ count: count() })
    .from(paymentAttempts)
    .innerJoin(orders, eq(orders.id, paymentAttempts.orderId))
    .where(and(isOpen, isWaitingPage))
    .prepare()
)
const nextWaiting = statement((orm) =>
  orm
    .select(getTableColumns(paymentAttempts))
    .from(paymentAttempts)
    .innerJoin(orders, eq(orders.id, paymentAttempts.orderId))
    .where(and(isOpen, isWaitingPage, sql`+${paymentAttempts.id} > ${sql.placeholder('after')}`))
    .orderBy(asc(paymentAttempts.id))
    .limit(sql.placeholder('limit'))
    .prepare()
)
const urgent = statement((orm) =>
  orm
    .select(getTableColumns(paymentAttempts))
    .from(paymentAttempts)
    .innerJoin(orders, eq(orders.id, paymentAttempts.orderId))
    // NULL in a comparison counts as "not waiting".
    .where(and(isOpen, not(sql`coalesce(${isWaitingPage}, 0)`)))
    .orderBy(asc(paymentAttempts.updatedAt))
    .prepare()
)

/** A pace for the first round. */
export function startPace(): Pace {
  return { afterAttempt: 0, limitedRounds: 0, quietUntil: 0 }
}

/**
 * The open attempts whose turn it is: those near their end and those whose checkout was interrupted, then a tenth of the pages
 * that wait for their buyers, at least 100. Without a pace, all of them.
 */
export function attemptsInTurn(db: Db, pace: Pace | undefined, now: number): AttemptRow[] {
  if (pace === undefined) return openAttempts(db)
  const soon = now + nearEndMs
  const waiting = countWaiting(db).get({ soon })?.count ?? 0
  const limit = Math.max(leastPerRound, Math.ceil(waiting / roundsForAll))
  const pages = nextWaiting(db).all({ soon, after: pace.afterAttempt, limit })
  const first = pages.length < limit ? nextWaiting(db).all({ soon, after: 0, limit: limit - pages.length }) : []
  const turn = [...pages, ...first.filter(({ id }) => id <= pace.afterAttempt)]
  pace.afterAttempt = turn.at(-1)?.id ?? 0
  return [...urgent(db).all({ soon }), ...turn]
}

/** Whether the gateway asked for fewer calls so recently that this round makes none. */
export function isResting(pace: Pace | undefined, now: number): boolean {
  return pace !== undefined && now < pace.quietUntil
}

/** After a round that met the rate limit, the next round is skipped; after consecutive ones, three rounds, then seven, then eight. */
export function afterRound(pace: Pace | undefined, wasLimited: boolean, now: number): void {
  if (pace === undefined) return
  pace.limitedRounds = wasLimited ? pace.limitedRounds + 1 : 0
  const rounds = wasLimited ? Math.min(2 ** pace.limitedRounds, longestPauseRounds + 1) : 0
  pace.quietUntil = wasLimited ? now + rounds * minuteMs - timerMarginMs : 0
}

/** Settles open payments, refunds and missed events from the gateway's own answers, then ends the holds that are over. */
export async function settlePayments(
  shop: ShopContext,
  options: ReconcileOptions = {}
): Promise<ReconcileReport & { holds: number }> {
  const report = await reconcile(shop, options)
  const { ended, failed } = await endHolds(shop)
  return { ...report, holds: ended, failed: report.failed + failed }
}

/** A round deletes this many at most, because each is a call. */
const mostPerRound = 100

const unneeded = statement((orm) =>
  orm
    .select({ id: paymentAttempts.id, couponId: paymentAttempts.discountCouponId })
    .from(paymentAttempts)
    .where(
      and(
        isNotNull(paymentAttempts.discountCouponId),
        isNotNull(paymentAttempts.outcome),
        eq(paymentAttempts.gateway, sql.placeholder('gateway'))
      )
    )
    .limit(mostPerRound)
    .prepare()
)

/**
 * Deletes the discount coupons at Stripe whose payment is over: paid, failed, expired or abandoned. Otherwise the list of
 * coupons in Stripe's dashboard grows by one with each discounted order. Deleting a coupon does not change what was
 * bought with it (docs.stripe.com/api/coupons/delete). A coupon that cannot be deleted does not delay the others.
 *
 * @returns how many were tried
 * @throws when the gateway does not answer or asks for fewer calls
 */
export async function deleteDiscountCoupons(shop: ShopContext, stripe: Stripe): Promise<number> {
  const { name } = readyGateway(shop)
  const found = unneeded(shop.db).all({ gateway: name })
  for (const { id, couponId } of found) {
    try {
      if (couponId !== null) await unlessMissing(stripe.coupons.del(couponId))
      await writeWhenFree(shop.db, (tx) => updateAttempt(tx, id, { discountCouponId: null }, shop.clock.now()))
    } catch (error) {
      if (isUnavailable(error)) throw error
      shop.log.warn('a discount coupon could not be deleted', { object: couponId, error: describeError(error) })
    }
  }
  return found.length
}
