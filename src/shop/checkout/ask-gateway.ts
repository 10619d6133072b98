import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { tryTakePoint } from '../limits/points.ts'
import { openAttemptsOf } from '../payments/attempts.ts'
import { startDeadline } from '../payments/deadline.ts'
import { findGatewayOf } from '../payments/gateway.ts'
import { lookUp } from '../payments/look-up.ts'
import { settleAttempt } from '../payments/settle.ts'

/** A buyer waits for the redirect. If the gateway is slower, the result is pending. */
const longestWaitMs = 8_000

/**
 * Asks the gateway for the payments of an order whose outcome is open, and stores its answer. The buyer who comes back may
 * be faster than the webhook, and the query of the return address proves nothing. A client that repeats its return is
 * not worth a call each time: past `checkout_ip`, and when the gateway does not answer in time, the order stays as the
 * shop knows it.
 */
export async function askGateway(shop: ShopContext, orderId: number, addressKey: string): Promise<void> {
  const open = openAttemptsOf(shop.db, orderId).filter(({ objectId }) => objectId !== null)
  if (open.length === 0 || !(await tryTakePoint(shop, { bucket: 'checkout_ip', key: addressKey }))) return
  const deadline = startDeadline(longestWaitMs)
  for (const attempt of open) {
    const gateway = findGatewayOf(shop, attempt)
    if (gateway === undefined) continue
    try {
      const stripe = await gateway.client()
      const state = await deadline.call((options) => lookUp(stripe, attempt, options))
      if (state !== undefined) await settleAttempt(shop, attempt.id, state, 'return')
    } catch (error) {
      shop.log.warn('the result of a payment could not be read', { orderId, error: describeError(error) })
    }
  }
}
