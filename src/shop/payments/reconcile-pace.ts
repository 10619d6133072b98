import { and, asc, count, eq, getTableColumns, gt, isNotNull, isNull, not, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { orders } from '../orders/schema.ts'
import { openAttempts } from './attempts.ts'
import type { AttemptRow } from './rows.ts'
import { paymentAttempts } from './schema.ts'

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

/** A payment page that its buyer may still use; an event will report its payment or its end. */
const isWaitingPage = and(
  isNull(paymentAttempts.outcome),
  eq(paymentAttempts.kind, 'checkout_session'),
  isNotNull(paymentAttempts.objectId),
  eq(orders.status, 'pending'),
  gt(orders.holdEndsAt, sql.placeholder('soon')),
  gt(paymentAttempts.expiresAt, sql.placeholder('soon'))
)

const countWaiting = statement((orm) =>
  orm
    .select({ count: count() })
    .from(paymentAttempts)
    .innerJoin(orders, eq(orders.id, paymentAttempts.orderId))
    .where(isWaitingPage)
    .prepare()
)
const nextWaiting = statement((orm) =>
  orm
    .select(getTableColumns(paymentAttempts))
    .from(paymentAttempts)
    .innerJoin(orders, eq(orders.id, paymentAttempts.orderId))
    .where(and(isWaitingPage, gt(paymentAttempts.id, sql.placeholder('after'))))
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
    .where(and(isNull(paymentAttempts.outcome), not(sql`coalesce(${isWaitingPage}, 0)`)))
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
