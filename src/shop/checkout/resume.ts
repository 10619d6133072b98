import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/rows.ts'
import { defaultStrategy } from '../orders/strategies.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, createAttempt, updateAttempt } from '../payments/attempts.ts'
import { checkoutFailed, readGatewayError } from '../payments/gateway-failure.ts'
import type { AttemptRow } from '../payments/rows.ts'
import type { CheckoutCaller, PlacedOrder } from './checkout.ts'
import type { CheckoutBody } from './input.ts'
import { payPlaced } from './pay.ts'
import type { HandoffResult, RedirectResult } from './pay.ts'
import { takeCheckoutPoint } from './checkout-limits.ts'

/** A second payment is only begun while the first one's refusal left most of a checkout's time. */
const secondTryWithinMs = 5_000

export type Resumed = { order: OrderRow; result: RedirectResult | HandoffResult }

/**
 * Settles the order that an earlier request under the same key left behind (it died, or the gateway's answer was lost):
 * under the attempt's own keys while that is open, so that nothing is charged twice, or by a new attempt at the same
 * order once it is known to have come to nothing.
 *
 * @returns undefined when that order is over for good and nothing was paid; a new one may then be made
 * @throws AppError RATE_LIMITED, CHECKOUT_FAILED
 */
export async function payAgain(
  shop: ShopContext,
  orderId: number,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<Resumed | undefined> {
  await takeCheckoutPoint(shop, caller.addressKey, body.strategy ?? defaultStrategy)
  await caller.takeKey?.()
  const started = performance.now()
  const left = await pickUp(shop, orderId)
  if (left === undefined) return undefined
  try {
    return { order: left.order, result: await payPlaced(shop, left, body, caller) }
  } catch (error) {
    // The reconciler may have called the very same payment off meanwhile. A 502 is known not to have charged.
    const mayTryAnew = error instanceof AppError && error.status === 502
    if (!mayTryAnew || performance.now() - started > secondTryWithinMs) throw error
    const anew = await pickUp(shop, orderId)
    if (anew === undefined || anew.attempt?.id === left.attempt?.id) throw error
    return { order: anew.order, result: await payPlaced(shop, anew, body, caller) }
  }
}

/** The order with the attempt by which it is to be paid now. */
function pickUp(shop: ShopContext, orderId: number): Promise<PlacedOrder | undefined> {
  const now = shop.clock.now()
  return writeWhenFree(shop.db, (tx): PlacedOrder | undefined => {
    const order = getOrder(tx, orderId)
    const [newest] = attemptsOf(tx, orderId)
    if (newest === undefined || newest.kind === 'none') return { order, attempt: null }
    if (order.paidAt !== null || newest.outcome === 'paid') return { order, attempt: newest }
    if (newest.outcome !== null) return order.status === 'failed' ? attemptAnew(tx, order, newest, now) : undefined
    // An operator called the order off before anybody knew whether it was paid; the reconciler will say.
    if (order.status !== 'pending') throw stillUnknown()
    // Touched, so that the reconciler leaves it to this request.
    updateAttempt(tx, newest.id, {}, now)
    return { order, attempt: newest }
  })
}

function attemptAnew(tx: Tx, order: OrderRow, last: AttemptRow, now: number): PlacedOrder | undefined {
  try {
    const reopened = moveOrder(tx, order.id, 'pending', { by: 'checkout', reason: 'asked again under its key' }, now)
    return { order: reopened, attempt: createAttempt(tx, reopened, last, now) }
  } catch (error) {
    // Its stock or coupon went to somebody else: a new order will say which.
    if (error instanceof AppError && error.code === 'TRANSITION_REFUSED') return undefined
    throw error
  }
}

function stillUnknown(): AppError {
  return checkoutFailed(readGatewayError(undefined), 'confirm_intent')
}
