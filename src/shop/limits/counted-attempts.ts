import { hash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { RateLimiter } from '../../platform/limits.ts'
import type { ShopContext } from '../context.ts'
import type { Bucket } from '../settings/definitions.ts'
import { rateLimit } from '../settings/settings.ts'

/** One counter of a bucket: whose points they are. */
export type Counter = { readonly bucket: Bucket; readonly key: string }

type Limits = Pick<ShopContext, 'db' | 'limiter'>

/** Attempts on one counter that are under way, and those that wait for one of them to end. */
type Lane = { running: number; waiting: (() => void)[] }
/** All lanes of one bucket, and how many wait in them together. */
type Gate = { lanes: Map<string, Lane>; waiting: number }
/** A place in a lane, or word that there is none as long as the counter has no points. */
type Turn = { lane: Lane } | { lane: null; retryAfterSeconds: number }

const maxWaiting = 256
/** Longer than a server waits for a silent client: whoever waits so long has gone. */
const patienceMs = 120_000
/** Less than a proxy waits for a checkout. */
const shortPatienceMs = 15_000
const gates = new WeakMap<RateLimiter, Map<Bucket, Gate>>()

/** What an email is counted by; the limiter's file need not know whose emails they are. */
export function emailCounter(emailKey: string): string {
  return hash('sha256', emailKey, 'hex').slice(0, 32)
}

/**
 * Takes one point.
 *
 * @throws AppError AUTH_RATE_LIMITED with the bucket and Retry-After when there is none left
 */
export async function takePoint(shop: Limits, { bucket, key }: Counter): Promise<void> {
  const { allowed, retryAfterSeconds } = await shop.limiter.consume(bucket, key, rateLimit(shop.db, bucket))
  if (!allowed) throw rateLimited(bucket, retryAfterSeconds)
}

/**
 * Runs an attempt that may fail, such as a login, and takes a point from each counter only when it did.
 *
 * Of all attempts on a counter never more run at once than it has points left, and the others wait: a hundred wrong
 * passwords sent together get no more tries than a hundred in a row, and right ones, which give their turn back, are
 * never refused for one another. Turns are taken in the order of `counters`, which must be the same everywhere, or two
 * attempts could wait for each other.
 *
 * @param attempt tells whether it failed; one that throws counts nothing
 * @throws AppError AUTH_RATE_LIMITED when a counter has no points left, DEPENDENCY_UNAVAILABLE when too many wait or one
 *   waits too long
 */
export async function countFailures<T extends { failed: boolean }>(
  shop: Limits,
  counters: readonly Counter[],
  attempt: () => Promise<T>
): Promise<T> {
  const [first, ...others] = counters
  if (first === undefined) return attempt()
  if (rateLimit(shop.db, first.bucket) === null) return countFailures(shop, others, attempt)
  const turn = await takeTurn(shop, first)
  if (turn.lane === null) throw rateLimited(first.bucket, turn.retryAfterSeconds)
  try {
    const result = await countFailures(shop, others, attempt)
    // Counted before the turn is given back, or the next in line would see a point that is already gone.
    if (result.failed) await shop.limiter.consume(first.bucket, first.key, rateLimit(shop.db, first.bucket))
    return result
  } finally {
    giveTurnBack(shop, first, turn.lane)
  }
}

/**
 * The same for an attempt that looks at its limit and counts its failure by itself: when no points are left it runs at
 * once, to be refused in its own words.
 *
 * @param mostAtOnce how many of one counter may run together however many points it has left, for attempts that are
 *   work enough to keep others waiting
 * @throws AppError DEPENDENCY_UNAVAILABLE when too many wait or one waits too long
 */
export async function inTurn<T>(
  shop: Limits,
  counter: Counter,
  mostAtOnce: number,
  attempt: () => Promise<T>
): Promise<T> {
  if (rateLimit(shop.db, counter.bucket) === null) return attempt()
  const { lane } = await takeTurn(shop, counter, { waitMs: shortPatienceMs, mostAtOnce })
  try {
    return await attempt()
  } finally {
    if (lane !== null) giveTurnBack(shop, counter, lane)
  }
}

async function takeTurn(
  shop: Limits,
  counter: Counter,
  { waitMs = patienceMs, mostAtOnce = Infinity }: { waitMs?: number; mostAtOnce?: number } = {}
): Promise<Turn> {
  const gate = gateOf(shop, counter)
  const until = performance.now() + waitMs
  for (;;) {
    const limit = rateLimit(shop.db, counter.bucket)
    // Nothing is awaited between this reading and the taking of the turn.
    const left = limit === null ? null : shop.limiter.left(counter.bucket, counter.key, limit)
    if (left?.points === 0) return { lane: null, retryAfterSeconds: left.retryAfterSeconds }
    const lane = laneOf(gate, counter)
    if (left === null || lane.running < Math.min(left.points, mostAtOnce)) {
      lane.running += 1
      return { lane }
    }
    await waitIn(gate, lane, until - performance.now())
  }
}

async function waitIn(gate: Gate, lane: Lane, atMostMs: number): Promise<void> {
  if (gate.waiting >= maxWaiting) throw overloaded()
  gate.waiting += 1
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(overloaded()), atMostMs)
      lane.waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  } finally {
    gate.waiting -= 1
  }
}

/** Everyone in the lane looks again: a failure may have left no points for any of them. */
function giveTurnBack(shop: Limits, counter: Counter, lane: Lane): void {
  lane.running -= 1
  if (lane.running === 0) gateOf(shop, counter).lanes.delete(counter.key)
  for (const wake of lane.waiting.splice(0)) wake()
}

/** A gate for each bucket, so that a crowd before one of them keeps nobody from another. */
function gateOf({ limiter }: Limits, { bucket }: Counter): Gate {
  const buckets = gates.get(limiter) ?? new Map<Bucket, Gate>()
  gates.set(limiter, buckets)
  const gate = buckets.get(bucket) ?? { lanes: new Map<string, Lane>(), waiting: 0 }
  buckets.set(bucket, gate)
  return gate
}

/** Lanes exist while something runs in them, so that forgotten keys cost nothing. */
function laneOf({ lanes }: Gate, { key }: Counter): Lane {
  const known = lanes.get(key)
  if (known !== undefined) return known
  const fresh: Lane = { running: 0, waiting: [] }
  lanes.set(key, fresh)
  return fresh
}

function rateLimited(bucket: Bucket, retryAfterSeconds: number): AppError {
  return new AppError(
    'AUTH_RATE_LIMITED',
    'Too many attempts; please try again later.',
    { bucket },
    { headers: { 'Retry-After': String(retryAfterSeconds) } }
  )
}

function overloaded(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'Too many attempts are under way; please try again in a moment.',
    {},
    { headers: { 'Retry-After': '2' } }
  )
}
