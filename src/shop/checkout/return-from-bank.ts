import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { attemptsOf } from '../payments/attempts.ts'
import { startDeadline } from '../payments/deadline.ts'
import { findGatewayOf } from '../payments/gateway.ts'
import { lookUp } from '../payments/look-up.ts'
import { settleAttempt } from '../payments/settle.ts'
import { buyerStatuses, buyerStatusOf } from './buyer-status.ts'

/** A buyer waits for the redirect. If the gateway is slower, the result is pending. */
const longestWaitMs = 8_000

/**
 * The result of a payment when its buyer returns from the bank. It asks the gateway, because the buyer may be faster than
 * the webhook and the query of the return address proves nothing, and stores the gateway's answer.
 */
export async function resultAtReturn(shop: ShopContext, orderId: number): Promise<'success' | 'pending' | 'failed'> {
  const [newest] = attemptsOf(shop.db, orderId)
  const gateway = newest?.outcome === null ? findGatewayOf(shop, newest) : undefined
  if (newest !== undefined && gateway !== undefined) {
    try {
      const stripe = await gateway.client()
      const state = await startDeadline(longestWaitMs).call((options) => lookUp(stripe, newest, options))
      if (state !== undefined) await settleAttempt(shop, newest.id, state, 'buyer')
    } catch (error) {
      shop.log.warn('the result of a payment could not be read', { orderId, error: describeError(error) })
    }
  }
  const { paid, released } = buyerStatuses[buyerStatusOf(shop.db, getOrder(shop.db, orderId), shop.clock.now())]
  return paid ? 'success' : released ? 'failed' : 'pending'
}
