import type Stripe from 'stripe'
import {
  endSubscription,
  isLinked,
  linkSubscription,
  markPastDue,
  renewSubscription,
  setCancelAtPeriodEnd
} from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import { findAttemptByToken, isSurplus } from './attempts.ts'
import type { Booking } from './booking.ts'
import { objectOf } from './gateway-event.ts'
import type { Effect } from './gateway-event.ts'
import { idOf, periodEndOf } from './gateway-state.ts'
import { unlessMissing } from './look-up.ts'
import { forgetSubscription } from './subscription-ends.ts'

/**
 * What a subscription of ours has come to, whichever of its events tells: the subscription itself is asked, so it does
 * not matter in what order they come. Undefined for one that no order of this shop started.
 */
export async function subscriptionEffect(
  shop: ShopContext,
  stripe: Stripe,
  event: Stripe.Event
): Promise<Effect | undefined> {
  const id = subscriptionIdOf(event)
  if (id === null) return undefined
  const asked = stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  const subscription = isLinked(shop.db, id) ? await asked : await unlessMissing(asked)
  if (subscription === undefined) return undefined
  const { attempt: token } = subscription.metadata
  const attempt = token === undefined ? undefined : findAttemptByToken(shop.db, token)
  // Before the first payment has been recorded there is nothing to renew, and what came on top pays for nothing here.
  if (attempt?.outcome !== 'paid' || isSurplus(shop.db, attempt)) return undefined
  return (booking) => {
    apply(booking, attempt.orderId, subscription)
    return 'applied'
  }
}

function subscriptionIdOf(event: Stripe.Event): string | null {
  const { id = null, parent } = objectOf(event)
  return event.type.startsWith('customer.subscription.') ? id : idOf(parent?.subscription_details?.subscription)
}

const ended: ReadonlySet<string> = new Set(['canceled', 'incomplete_expired'])
const owing: ReadonlySet<string> = new Set(['past_due', 'unpaid'])

function apply({ tx, now }: Booking, orderId: number, subscription: Stripe.Subscription): void {
  const { id: gatewayId, status, cancel_at_period_end: endsWithPeriod } = subscription
  if (ended.has(status)) {
    endSubscription(tx, gatewayId, now)
    forgetSubscription(tx, gatewayId, now)
    return
  }
  // Stripe moves the period on before it is paid.
  if (isPaid(subscription)) {
    const currentPeriodEnd = periodEndOf(subscription)
    const isRenewed = renewSubscription(tx, gatewayId, currentPeriodEnd, now)
    // One that gave none yet, a guest's or one on hold, remembers what is renewed for it.
    if (!isRenewed) linkSubscription(tx, { orderId, gatewayId, currentPeriodEnd }, now)
  }
  if (owing.has(status)) markPastDue(tx, gatewayId, now)
  setCancelAtPeriodEnd(tx, gatewayId, endsWithPeriod)
}

function isPaid({ latest_invoice: invoice, status }: Stripe.Subscription): boolean {
  return status === 'active' && typeof invoice === 'object' && invoice?.status === 'paid'
}
