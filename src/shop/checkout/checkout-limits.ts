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

/** A checkout that asks a slow gateway does not hold up the buyer's next one for longer. */
const longestWaitMs = 10_000

/** The last checkout of each buyer that has one running. */
const running = new Map<string, Promise<void>>()

/**
 * Runs the checkouts of one buyer one after the other. A checkout replaces the buyer's earlier unpaid orders, so it must see
 * the order of a request that arrived at the same time, such as from a second tab. Otherwise that order would make the
 * same cart sold out. Another server process on the same database does not wait: there, only the same cart is recognised.
 */
export async function inBuyersTurn<T>(buyer: string, checkout: () => Promise<T>): Promise<T> {
  const before = running.get(buyer)
  const work = before === undefined ? checkout() : atMost(longestWaitMs, before).then(checkout)
  const end = work.then(ignore, ignore)
  running.set(buyer, end)
  try {
    return await work
  } finally {
    if (running.get(buyer) === end) running.delete(buyer)
  }
}

function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function ignore(): void {}
