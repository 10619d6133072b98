import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import { startDeadline } from './deadline.ts'
import { askForBuyer } from './gateway-for-buyer.ts'
import { idOf } from './gateway-state.ts'

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
