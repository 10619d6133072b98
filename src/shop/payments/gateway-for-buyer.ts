import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import type { ShopContext } from '../context.ts'
import { findPayingAttempt } from './attempts.ts'
import { readGatewayError } from './gateway-failure.ts'
import { findGatewayOf } from './gateway.ts'

/**
 * Sends a buyer's request to the gateway that holds the order's payment. The cause of a failure goes to the log.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE, with a message for the buyer, when the gateway cannot be asked or refuses
 */
export async function askForBuyer<T>(
  shop: ShopContext,
  orderId: number,
  ask: (stripe: Stripe) => Promise<T>
): Promise<T> {
  const attempt = findPayingAttempt(shop.db, orderId)
  const gateway = attempt && findGatewayOf(shop, attempt)
  try {
    if (gateway === undefined) throw new Error('the gateway of this payment is not configured')
    return await ask(await gateway.client())
  } catch (error) {
    if (isStorageError(error)) throw error
    const { error: cause, requestId } = readGatewayError(error)
    const reason = cause.message || cause.code || cause.type || String(error)
    shop.log.warn('the gateway refused the request of a buyer', { orderId, reason, gatewayRequestId: requestId })
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      'The payment service cannot do this at the moment, so nothing was changed. Please try again later.',
      {},
      { headers: { 'Retry-After': '30' }, cause: error }
    )
  }
}
