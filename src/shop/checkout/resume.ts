import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { defaultStrategy } from '../orders/strategies.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, createAttempt, updateAttempt } from '../payments/attempts.ts'
import { checkoutFailed, readGatewayError } from '../payments/gateway-failure.ts'
import type { AttemptRow } from '../payments/rows.ts'
import type { CheckoutCaller, PlacedOrder } from './checkout.ts'
import { linkOrder } from './idempotency.ts'
import type { Claim } from './idempotency.ts'
import type { CheckoutBody } from './input.ts'
import { payPlaced } from './pay.ts'
import type { HandoffResult, RedirectResult } from './pay.ts'
import { takeCheckoutPoint } from './limits.ts'

/** A second payment starts only if the first one failed within this time, so that the checkout still ends in time. */
const secondTryWithinMs = 5_000

export type Resumed = { order: OrderRow; result: RedirectResult | HandoffResult }

/**
 * Pays the order of an earlier request: under the same key, if that did not finish (its process died, or the gateway's
 * answer was lost), or for the same cart. An open attempt continues under its own keys, so that nothing is charged twice.
 * After a failed attempt, the order gets a new one.
 *
 * @returns undefined when that order can no longer be paid and nothing was charged; the caller may create a new order
 * @throws AppError RATE_LIMITED, CHECKOUT_FAILED
 */
export async function payAgain(
  shop: ShopContext,
  orderId: number,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<Resumed | undefined> {
  await takeCheckoutPoint(shop, caller.addressKey, body.strategy ?? defaultStrategy)
  const claim = (await caller.takeKey?.()) ?? null
  const started = performance.now()
  const found = await findUnpaid(shop, orderId, claim)
  if (found === undefined) return undefined
  try {
    return { order: found.order, result: await payPlaced(shop, found, body, caller) }
  } catch (error) {
    // The reconciler may have called off the same payment in the meantime. After a 502 nothing was charged.
    const mayRetry = error instanceof AppError && error.status === 502
    if (!mayRetry || performance.now() - started > secondTryWithinMs) throw error
    const reopened = await findUnpaid(shop, orderId, claim)
    if (reopened === undefined || reopened.attempt?.id === found.attempt?.id) throw error
    return { order: reopened.order, result: await payPlaced(shop, reopened, body, caller) }
  }
}

/** The order and the attempt that pays it now. The key of the request leads to the order from now on. */
function findUnpaid(shop: ShopContext, orderId: number, claim: Claim | null): Promise<PlacedOrder | undefined> {
  const now = shop.clock.now()
  return writeWhenFree(shop.db, (tx): PlacedOrder | undefined => {
    if (claim !== null) linkOrder(tx, claim, orderId)
    const order = getOrder(tx, orderId)
    const [newest] = attemptsOf(tx, orderId)
    if (newest === undefined || newest.kind === 'none') {
      const isGivenUp = order.status === 'cancelled' && order.paidAt === null
      return isGivenUp ? undefined : { order, attempt: null }
    }
    if (order.paidAt !== null || newest.outcome === 'paid') return { order, attempt: newest }
    if (newest.outcome !== null) return order.status === 'failed' ? attemptAnew(tx, order, newest, now) : undefined
    // The order was cancelled while the outcome of its payment was unknown. The reconciler finds it out.
    if (order.status !== 'pending') throw stillUnknown()
    // The new time of change keeps the reconciler from working on the attempt at the same time.
    updateAttempt(tx, newest.id, {}, now)
    return { order, attempt: newest }
  })
}

function attemptAnew(tx: Tx, order: OrderRow, last: AttemptRow, now: number): PlacedOrder | undefined {
  try {
    const reopened = moveOrder(tx, order.id, 'pending', { by: 'checkout', reason: 'the checkout was repeated' }, now)
    return { order: reopened, attempt: createAttempt(tx, reopened, last, now) }
  } catch (error) {
    // Its stock or coupon is no longer available. The validation of a new order reports which.
    if (error instanceof AppError && error.code === 'TRANSITION_REFUSED') return undefined
    throw error
  }
}

function stillUnknown(): AppError {
  return checkoutFailed(readGatewayError(undefined), 'confirm_intent')
}
