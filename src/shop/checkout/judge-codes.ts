import { AppError } from '../../errors.ts'
import type { RateLimiter } from '../../platform/limits.ts'
import { CouponsRefused } from '../orders/coupons-refused.ts'
import { rateLimit } from '../settings/settings.ts'
import { assertPointsLeft, rateLimited, takePoints } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'

/** Does work that tells whether codes apply, in one go: nobody else's codes are looked at meanwhile. */
export type Judge = <T>(work: () => T) => T

const bucket = 'coupon_failure'

/** Wrong codes of each address that have been seen to be wrong while their points are still being taken. */
const uncounted = new WeakMap<RateLimiter, Map<string, number>>()

/**
 * Runs an attempt that tries coupon codes and takes a point of its address for each wrong one; past the limit not even a
 * good code is told from a bad one.
 *
 * A thousand codes sent together get no more tries than a thousand in a row: `judge` looks at the limit in the same
 * moment as at the codes, and what it saw to be wrong counts from then on, though the limiter takes its points later.
 * So nobody waits for another of his address, and good codes, which count nothing, are never refused for one another.
 *
 * @throws AppError RATE_LIMITED, also for wrong codes that are more than the points that are left; and whatever the
 *   attempt throws
 */
export async function judgeCodes<T>(
  shop: Limits,
  addressKey: string,
  attempt: (judge: Judge) => Promise<T>
): Promise<T> {
  assertPointsLeft(shop, 'RATE_LIMITED', { bucket, key: addressKey })
  let wrong = 0
  const note = (count: number): void => {
    addUncounted(shop, addressKey, count - wrong)
    wrong = count
  }
  const judge: Judge = (work) => {
    // A transaction may be done anew; what it says last is what counts.
    note(0)
    assertTryLeft(shop, addressKey)
    try {
      return work()
    } catch (error) {
      note(wrongCodesOf(error))
      throw error
    }
  }
  try {
    return await attempt(judge)
  } catch (error) {
    if (wrong > 0) await takePoints(shop, 'RATE_LIMITED', { bucket, key: addressKey }, wrong)
    throw error
  } finally {
    note(0)
  }
}

function assertTryLeft(shop: Limits, addressKey: string): void {
  const limit = rateLimit(shop.db, bucket)
  if (limit === null) return
  const { points, retryAfterSeconds } = shop.limiter.left(bucket, addressKey, limit)
  if (points > (uncountedOf(shop).get(addressKey) ?? 0)) return
  // While none is counted yet the window is about to begin.
  throw rateLimited('RATE_LIMITED', bucket, retryAfterSeconds === 0 ? limit.seconds : retryAfterSeconds)
}

function wrongCodesOf(error: unknown): number {
  return error instanceof AppError && error.cause instanceof CouponsRefused ? error.cause.count : 0
}

function addUncounted(shop: Limits, addressKey: string, count: number): void {
  const all = uncountedOf(shop)
  const sum = (all.get(addressKey) ?? 0) + count
  if (sum === 0) all.delete(addressKey)
  else all.set(addressKey, sum)
}

function uncountedOf({ limiter }: Limits): Map<string, number> {
  const known = uncounted.get(limiter) ?? new Map<string, number>()
  uncounted.set(limiter, known)
  return known
}
