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
/** All lanes of one limiter, and how many wait in them together. */
type Gate = { lanes: Map<string, Lane>; waiting: number }

const maxWaiting = 256
const gates = new WeakMap<RateLimiter, Gate>()

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
 * @throws AppError AUTH_RATE_LIMITED when a counter has no points left, DEPENDENCY_UNAVAILABLE when too many wait
 */
export async function countFailures<T extends { failed: boolean }>(
  shop: Limits,
  counters: readonly Counter[],
  attempt: () => Promise<T>
): Promise<T> {
  const [first, ...others] = counters
  if (first === undefined) return attempt()
  if (rateLimit(shop.db, first.bucket) === null) return countFailures(shop, others, attempt)
  const lane = await takeTurn(shop, first)
  try {
    const result = await countFailures(shop, others, attempt)
    // Counted before the turn is given back, or the next in line would see a point that is already gone.
    if (result.failed) await shop.limiter.consume(first.bucket, first.key, rateLimit(shop.db, first.bucket))
    return result
  } finally {
    giveTurnBack(shop, first, lane)
  }
}

async function takeTurn(shop: Limits, counter: Counter): Promise<Lane> {
  const gate = gateOf(shop)
  for (;;) {
    const limit = rateLimit(shop.db, counter.bucket)
    // Nothing is awaited between this reading and the taking of the turn.
    const left = limit === null ? null : shop.limiter.left(counter.bucket, counter.key, limit)
    if (left?.points === 0) throw rateLimited(counter.bucket, left.retryAfterSeconds)
    const lane = laneOf(gate, counter)
    if (left === null || lane.running < left.points) {
      lane.running += 1
      return lane
    }
    await waitIn(gate, lane)
  }
}

async function waitIn(gate: Gate, lane: Lane): Promise<void> {
  if (gate.waiting >= maxWaiting) {
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      'Too many logins are under way; please try again in a moment.',
      {},
      { headers: { 'Retry-After': '2' } }
    )
  }
  gate.waiting += 1
  await new Promise<void>((resolve) => lane.waiting.push(resolve))
  gate.waiting -= 1
}

/** Everyone in the lane looks again: a failure may have left no points for any of them. */
function giveTurnBack(shop: Limits, counter: Counter, lane: Lane): void {
  lane.running -= 1
  if (lane.running === 0) gateOf(shop).lanes.delete(nameOf(counter))
  for (const wake of lane.waiting.splice(0)) wake()
}

function gateOf({ limiter }: Limits): Gate {
  const known = gates.get(limiter)
  if (known !== undefined) return known
  const fresh: Gate = { lanes: new Map(), waiting: 0 }
  gates.set(limiter, fresh)
  return fresh
}

/** Lanes exist while something runs in them, so that forgotten keys cost nothing. */
function laneOf({ lanes }: Gate, counter: Counter): Lane {
  const known = lanes.get(nameOf(counter))
  if (known !== undefined) return known
  const fresh: Lane = { running: 0, waiting: [] }
  lanes.set(nameOf(counter), fresh)
  return fresh
}

function nameOf({ bucket, key }: Counter): string {
  return `${bucket}:${key}`
}

function rateLimited(bucket: Bucket, retryAfterSeconds: number): AppError {
  return new AppError(
    'AUTH_RATE_LIMITED',
    'Too many attempts; please try again later.',
    { bucket },
    { headers: { 'Retry-After': String(retryAfterSeconds) } }
  )
}
