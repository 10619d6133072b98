import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import type { ShopContext } from '../context.ts'
import { findPayingAttempt } from './attempts.ts'
import { readGatewayError, findGatewayOf, startDeadline } from './gateway.ts'
import { idOf, unlessMissing } from './gateway-state.ts'
import type { Deadline } from './gateway.ts'
import { applySubscription, endsWithPeriod, isOver, isPaid, recordEnd } from './subscriptions.ts'
import { runUnitOfWork } from './warnings.ts'

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

/**
 * Creates a session of Stripe's billing portal for the customer who pays a subscription, and returns its address. A
 * browser that opens the address acts as that customer, so only the person who asked may get it
 * (docs.stripe.com/api/customer_portal/sessions).
 *
 * @param returnUrl where the portal's link back leads; null for no such link
 * @throws AppError DEPENDENCY_UNAVAILABLE
 */
export function createPortalSession(
  shop: ShopContext,
  { gatewayId, orderId }: { gatewayId: string; orderId: number },
  returnUrl: string | null
): Promise<string> {
  const deadline = startDeadline()
  return askForBuyer(shop, orderId, async (stripe) => {
    const subscription = await deadline.call((options) => stripe.subscriptions.retrieve(gatewayId, {}, options))
    const params: Stripe.BillingPortal.SessionCreateParams = {
      customer: idOf(subscription.customer) ?? '',
      ...(returnUrl === null ? {} : { return_url: returnUrl })
    }
    return (await deadline.call((options) => stripe.billingPortal.sessions.create(params, options))).url
  })
}

/**
 * Ends a subscription at the gateway with the period that is paid, and records it. When the current period is not paid,
 * the paid one is over: then the subscription ends now, and Stripe stops collecting its open invoice. Repeated, it
 * changes nothing.
 *
 * @param by the caller that the audit rows name
 * @throws AppError DEPENDENCY_UNAVAILABLE when the gateway did not confirm; nothing is recorded then
 */
export async function endWithPeriod(
  shop: ShopContext,
  { gatewayId, orderId }: { gatewayId: string; orderId: number },
  by: string
): Promise<void> {
  const deadline = startDeadline()
  const ended = await askForBuyer(shop, orderId, (stripe) => endAtGateway(stripe, gatewayId, deadline))
  await runUnitOfWork(shop, by, (unit) => {
    if (ended === undefined) recordEnd(unit, orderId, gatewayId)
    else applySubscription(unit, orderId, ended)
  })
}

/** The subscription as it is then; undefined for one that the gateway does not know. */
async function endAtGateway(stripe: Stripe, id: string, deadline: Deadline): Promise<Stripe.Subscription | undefined> {
  const expand = ['latest_invoice']
  const known = await unlessMissing(deadline.call((options) => stripe.subscriptions.retrieve(id, { expand }, options)))
  if (known === undefined || isOver(known) || endsWithPeriod(known)) return known
  return isPaid(known)
    ? deadline.call((options) => stripe.subscriptions.update(id, { cancel_at_period_end: true, expand }, options))
    : deadline.call((options) => stripe.subscriptions.cancel(id, { expand }, options))
}
