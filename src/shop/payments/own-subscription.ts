import type Stripe from 'stripe'
import { isLinked } from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import { findAttemptByToken, isSurplus } from './attempts.ts'
import { idOf } from './gateway-state.ts'
import { unlessMissing } from './look-up.ts'
import { ownership } from './metadata.ts'
import type { AttemptRow } from './rows.ts'

/** A subscription at Stripe that an order of this shop started, and the attempt that pays its first period. */
export type OwnSubscription = { subscription: Stripe.Subscription; attempt: AttemptRow }

/** An invoice of such a subscription. */
export type OwnInvoice = OwnSubscription & { invoice: Stripe.Invoice }

/** The subscription with an id, fetched with its newest invoice; undefined when no order of this shop started it. */
export async function findOwnSubscription(
  shop: ShopContext,
  stripe: Stripe,
  id: string
): Promise<OwnSubscription | undefined> {
  const answer = stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  const subscription = isLinked(shop.db, id) ? await answer : await unlessMissing(answer)
  const owner = subscription && ownership(shop, subscription.metadata)
  const attempt = owner ? findAttemptByToken(shop.db, owner.token) : undefined
  return subscription && attempt && { subscription, attempt }
}

/** Whether its first payment is recorded and counts for its order; before that there is nothing to renew. */
export function hasStarted(shop: ShopContext, { attempt }: OwnSubscription): boolean {
  return attempt.outcome === 'paid' && !isSurplus(shop.db, attempt)
}

/**
 * Refuses the money of a renewal while the first payment has no outcome, because its event is applied once and must not be
 * ignored.
 *
 * @throws while the first payment is not recorded; the event is delivered or listed again later
 */
export function assertFirstPaymentSettled({ attempt }: OwnSubscription): void {
  if (attempt.outcome === null) throw new Error(`the first payment of order ${attempt.orderId} is not settled yet`)
}

/** The invoice with an id, when it belongs to a subscription of this shop. */
export async function findOwnInvoice(shop: ShopContext, stripe: Stripe, id: string): Promise<OwnInvoice | undefined> {
  const invoice = await unlessMissing(stripe.invoices.retrieve(id, { expand: ['payments'] }))
  const subscriptionId = idOf(invoice?.parent?.subscription_details?.subscription)
  if (invoice === undefined || subscriptionId === null) return undefined
  const own = await findOwnSubscription(shop, stripe, subscriptionId)
  return own && { ...own, invoice }
}
