import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { overdueOrders } from '../orders/expire-holds.ts'
import { findOrder } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, getAttempt, updateAttempt } from './attempts.ts'
import { isSilence } from './gateway-failure.ts'
import { isReady } from './gateway.ts'
import { callOff } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { settleAttempt } from './settle.ts'

/** Ends the holds that are over; what cannot be ended now is tried again next time. */
export async function endHolds(shop: ShopContext): Promise<void> {
  for (const orderId of overdueOrders(shop.db, shop.clock.now())) {
    try {
      await endHold(shop, orderId)
    } catch (error) {
      shop.log.warn('a hold could not be ended', { orderId, error: describeError(error) })
      if (isSilence(error)) return
    }
  }
}

/**
 * Ends the hold of an order that was not paid in time: first nothing can be charged any more, then stock and coupons go
 * back. One whose payment waits for the bank is left alone, and so is one that begins another try meanwhile.
 *
 * @returns whether the order was cancelled
 */
export async function endHold(shop: ShopContext, orderId: number): Promise<boolean> {
  for (const attempt of openOnesOf(shop.db, orderId)) {
    if (!(await closeAttempt(shop, attempt))) return false
  }
  return write(shop.db, (tx) => {
    const isOver = findOrder(tx, orderId)?.status === 'pending' && openOnesOf(tx, orderId).length === 0
    if (isOver) moveOrder(tx, orderId, 'cancelled', { by: 'hold', reason: 'it was not paid in time' }, shop.clock.now())
    return isOver
  })
}

function openOnesOf(db: Db, orderId: number): AttemptRow[] {
  return attemptsOf(db, orderId).filter(({ outcome }) => outcome === null)
}

/** True once nothing more can come of the attempt. */
async function closeAttempt(shop: ShopContext, attempt: AttemptRow): Promise<boolean> {
  // What another gateway holds cannot be asked from here: should it be paid after all, that is a late payment.
  const isOurs = isReady(shop.cards) && shop.cards.name === attempt.gateway && attempt.objectId !== null
  const state = isOurs && isReady(shop.cards) ? await callOff(await shop.cards.client(), attempt) : undefined
  if (state === undefined) abandon(shop, attempt)
  else settleAttempt(shop, attempt.id, state, 'hold')
  return getAttempt(shop.db, attempt.id).outcome !== null
}

function abandon(shop: ShopContext, { id }: AttemptRow): void {
  const now = shop.clock.now()
  write(shop.db, (tx) => {
    if (getAttempt(tx, id).outcome === null) updateAttempt(tx, id, { outcome: 'abandoned', settledAt: now }, now)
  })
}
