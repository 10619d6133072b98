import { runInSlot } from '../limits/counted-attempts.ts'
import { assertPointsLeft, takePoints } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'

/**
 * Takes the point that every checkout costs, one that resumes an earlier order too. A card handoff is also refused when
 * too many cards from the same address were declined: a sign that stolen card numbers are being tested.
 *
 * @throws AppError RATE_LIMITED (checkout_ip, checkout_decline)
 */
export async function takeCheckoutPoint(shop: Limits, addressKey: string, strategy: Strategy): Promise<void> {
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'checkout_ip', key: addressKey })
  if (takesToken(strategy)) {
    assertPointsLeft(shop, 'RATE_LIMITED', { bucket: 'checkout_decline', key: addressKey })
  }
}

/** Each card checkout is a dozen writes; with at most six at once from one address, other customers are served between. */
const cardsAtOnce = 6

/**
 * Runs a checkout. Card handoffs of one address run only while fewer are in progress than may still be declined: a
 * hundred cards sent together get no more tries than a hundred in a row.
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
  return runInSlot(shop, { bucket: 'checkout_decline', key: addressKey }, cardsAtOnce, checkout)
}
