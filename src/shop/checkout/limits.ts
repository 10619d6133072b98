import { runInSlot } from '../limits/counted-attempts.ts'
import { assertPointsLeft, takePoints, rateLimited } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { AppError } from '../../errors.ts'
import type { RateLimiter } from '../../platform/limits.ts'
import { CouponsRefused } from '../orders/problems.ts'
import { rateLimit } from '../settings/settings.ts'

/**
 * Takes the point that every checkout costs, including one that continues an earlier order. A card handoff is also refused
 * when too many cards from the same address were declined, which is a sign of card testing.
 *
 * @throws AppError RATE_LIMITED (checkout_ip, checkout_decline)
 */
export async function takeCheckoutPoint(shop: Limits, addressKey: string, strategy: Strategy): Promise<void> {
  await takePagePoint(shop, addressKey)
  if (takesToken(strategy)) {
    assertPointsLeft(shop, 'RATE_LIMITED', { bucket: 'checkout_decline', key: addressKey })
  }
}

/**
 * Takes the point of a form that a buyer sends on the hosted page: it may start a payment, as a checkout does.
 *
 * @throws AppError RATE_LIMITED (checkout_ip)
 */
export async function takePagePoint(shop: Limits, addressKey: string): Promise<void> {
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'checkout_ip', key: addressKey })
}

/** Each card checkout makes a dozen writes. The limit per address leaves time to serve other customers in between. */
const concurrentCards = 6

/**
 * Runs a checkout. One address cannot have more card handoffs in progress than cards that may still be declined, so cards
 * sent together get no more tries than cards sent in sequence.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when too many wait
 */
export function runCardCheckout<T>(
  shop: Limits,
  addressKey: string,
  strategy: Strategy | undefined,
  checkout: () => Promise<T>
): Promise<T> {
  if (!takesToken(strategy)) return checkout()
  return runInSlot(shop, { bucket: 'checkout_decline', key: addressKey }, concurrentCards, checkout)
}

/**
 * Runs synchronous work that checks coupon codes, and counts the wrong ones: those of a CouponsRefused, or `wrongCodes` of
 * a result that names them.
 */
export type Evaluate = <T>(work: () => T, wrongCodes?: (result: T) => number) => T

const bucket = 'coupon_failure'

/** The number of wrong codes of each address whose points the limiter has not taken yet. */
const uncounted = new WeakMap<RateLimiter, Map<string, number>>()

/**
 * Runs an attempt that checks coupon codes, and takes a point from its address for each wrong code. Beyond the limit, the
 * response does not show whether a code is right.
 *
 * Requests that arrive together get no more tries than requests in sequence: `evaluate` checks the limit and the codes in
 * one synchronous step, and counts wrong codes immediately, although the limiter takes their points later. Requests of
 * one address therefore do not wait for each other, and right codes, which cost no points, never block one another.
 *
 * @throws AppError RATE_LIMITED, also when there are more wrong codes than points left; and what the attempt throws
 */
export async function evaluateCodes<T>(
  shop: Limits,
  addressKey: string,
  attempt: (evaluate: Evaluate) => Promise<T>
): Promise<T> {
  assertPointsLeft(shop, 'RATE_LIMITED', { bucket, key: addressKey })
  let wrong = 0
  const note = (count: number): void => {
    addUncounted(shop, addressKey, count - wrong)
    wrong = count
  }
  const evaluate: Evaluate = (work, wrongCodes = () => 0) => {
    // A busy database repeats the transaction; only the last run counts.
    note(0)
    assertTryLeft(shop, addressKey)
    try {
      const result = work()
      note(wrongCodes(result))
      return result
    } catch (error) {
      note(wrongCodesOf(error))
      throw error
    }
  }
  try {
    try {
      return await attempt(evaluate)
    } finally {
      if (wrong > 0) await takePoints(shop, 'RATE_LIMITED', { bucket, key: addressKey }, wrong)
    }
  } finally {
    note(0)
  }
}

function assertTryLeft(shop: Limits, addressKey: string): void {
  const limit = rateLimit(shop.db, bucket)
  if (limit === null) return
  const { points, retryAfterSeconds } = shop.limiter.left(bucket, addressKey, limit)
  if (points > (uncountedOf(shop).get(addressKey) ?? 0)) return
  // The limiter has not counted anything for this address yet, so its window is about to start.
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
