import { AppError } from '../../errors.ts'
import type { RateLimiter } from '../../platform/limits.ts'
import type { Bucket } from '../settings/definitions.ts'
import { rateLimit } from '../settings/settings.ts'
import { countFailure, rateLimited } from './points.ts'
import type { Counter, Limits } from './points.ts'

/** Attempts of one counter: how many run, and the wake-up calls of those that wait for a slot. */
type Queue = { running: number; waiting: (() => void)[] }
/** The queues of one bucket by key, and how many attempts wait in all of them. */
type BucketQueues = { byKey: Map<string, Queue>; waiting: number }
/** A slot in a queue, or none because the counter has no points left. */
type Slot = { queue: Queue } | { queue: null; retryAfterSeconds: number }

const maxWaitingPerBucket = 256
/** As long as the server lets a silent client wait. */
const waitLimitMs = 120_000
/** Less than a first-party proxy waits for a checkout. */
const checkoutWaitLimitMs = 15_000
const queues = new WeakMap<RateLimiter, Map<Bucket, BucketQueues>>()

/**
 * Runs an attempt that may fail, such as a login, and takes a point of each counter only when it fails.
 *
 * A counter runs at most as many attempts at the same time as it has points left; the others wait. A hundred wrong
 * passwords that arrive together therefore get no more tries than a hundred in sequence. Correct ones take no points and
 * are not refused because of each other. Slots are taken in the order of `counters`. That order must be the same everywhere,
 * or two attempts could wait for each other.
 *
 * @param attempt returns whether it failed; an attempt that throws takes no points
 * @throws AppError AUTH_RATE_LIMITED when a counter has no points left, DEPENDENCY_UNAVAILABLE when too many attempts
 *   wait or this one waits too long
 */
export async function runCountingFailures<T extends { failed: boolean }>(
  shop: Limits,
  counters: readonly Counter[],
  attempt: () => Promise<T>
): Promise<T> {
  const [first, ...others] = counters
  if (first === undefined) return attempt()
  if (rateLimit(shop.db, first.bucket) === null) return runCountingFailures(shop, others, attempt)
  const slot = await takeSlot(shop, first, { maxRunning: Infinity, waitMs: waitLimitMs })
  if (slot.queue === null) throw rateLimited('AUTH_RATE_LIMITED', first.bucket, slot.retryAfterSeconds)
  try {
    const result = await runCountingFailures(shop, others, attempt)
    // Before the slot is free, because the next attempt must see that the point was taken.
    if (result.failed) await countFailure(shop, first)
    return result
  } finally {
    freeSlot(shop, first, slot.queue)
  }
}

/**
 * Runs an attempt that checks its limit and counts its failures itself, in a slot of the counter as above. When the
 * counter has no points left the attempt runs immediately, and refuses with its own error.
 *
 * @param maxRunning how many attempts of the counter run at the same time, however many points are left
 * @throws AppError DEPENDENCY_UNAVAILABLE when too many attempts wait or this one waits longer than 15 s
 */
export async function runInSlot<T>(
  shop: Limits,
  counter: Counter,
  maxRunning: number,
  attempt: () => Promise<T>
): Promise<T> {
  if (rateLimit(shop.db, counter.bucket) === null) return attempt()
  const { queue } = await takeSlot(shop, counter, { maxRunning, waitMs: checkoutWaitLimitMs })
  try {
    return await attempt()
  } finally {
    if (queue !== null) freeSlot(shop, counter, queue)
  }
}

async function takeSlot(
  shop: Limits,
  counter: Counter,
  { maxRunning, waitMs }: { maxRunning: number; waitMs: number }
): Promise<Slot> {
  const inBucket = queuesOf(shop, counter)
  const until = performance.now() + waitMs
  for (;;) {
    const limit = rateLimit(shop.db, counter.bucket)
    // No await between reading the points and taking the slot.
    const left = limit === null ? null : shop.limiter.left(counter.bucket, counter.key, limit)
    if (left?.points === 0) return { queue: null, retryAfterSeconds: left.retryAfterSeconds }
    const queue = queueOf(inBucket, counter)
    if (left === null || queue.running < Math.min(left.points, maxRunning)) {
      queue.running += 1
      return { queue }
    }
    await waitIn(inBucket, queue, until - performance.now())
  }
}

async function waitIn(inBucket: BucketQueues, queue: Queue, maxMs: number): Promise<void> {
  if (inBucket.waiting >= maxWaitingPerBucket) throw overloaded()
  inBucket.waiting += 1
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(overloaded()), maxMs)
      queue.waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  } finally {
    inBucket.waiting -= 1
  }
}

/** Wakes all that wait for this counter, since a failure may have left no points for any of them. */
function freeSlot(shop: Limits, counter: Counter, queue: Queue): void {
  queue.running -= 1
  if (queue.running === 0) queuesOf(shop, counter).byKey.delete(counter.key)
  for (const wake of queue.waiting.splice(0)) wake()
}

/** Each bucket has its own, so that many waiting logins do not refuse a checkout. */
function queuesOf({ limiter }: Limits, { bucket }: Counter): BucketQueues {
  const buckets = queues.get(limiter) ?? new Map<Bucket, BucketQueues>()
  queues.set(limiter, buckets)
  const inBucket = buckets.get(bucket) ?? { byKey: new Map<string, Queue>(), waiting: 0 }
  buckets.set(bucket, inBucket)
  return inBucket
}

/** A queue exists only while an attempt of its counter runs. */
function queueOf({ byKey }: BucketQueues, { key }: Counter): Queue {
  const known = byKey.get(key)
  if (known !== undefined) return known
  const fresh: Queue = { running: 0, waiting: [] }
  byKey.set(key, fresh)
  return fresh
}

function overloaded(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'Too many attempts are in progress. Please try again in a moment.',
    {},
    { headers: { 'Retry-After': '2' } }
  )
}
