import { runInSlot } from '../limits/counted-attempts.ts'
import { assertPointsLeft, takePoints } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'

/**
 * Takes the point that every checkout costs, including one that resumes an earlier order. A card handoff is also refused
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
