import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import { startDeadline } from './deadline.ts'
import type { Deadline } from './deadline.ts'
import { askForBuyer } from './gateway-for-buyer.ts'
import { unlessMissing } from './look-up.ts'
import { applySubscription, endsWithPeriod, isOver, isPaid, recordEnd } from './subscription-events.ts'
import { runUnitOfWork } from './unit-of-work.ts'

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
