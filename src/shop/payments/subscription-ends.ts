import { and, eq, isNotNull } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/patience.ts'
import { subscriptions } from '../benefits/schema.ts'
import type { ShopContext } from '../context.ts'
import { lookUp, unlessMissing } from './look-up.ts'
import type { AttemptRow } from './rows.ts'

/**
 * Ends at the gateway what has ended here: a benefit that was revoked, by a refund, by an operator or with its holder's
 * account, is not charged for any more. What the gateway ended itself is only written off.
 */
export async function endUnwantedSubscriptions(shop: ShopContext, stripe: Stripe): Promise<void> {
  const rows = shop.db.orm
    .selectDistinct({ gatewayId: subscriptions.gatewayId })
    .from(subscriptions)
    .where(and(isNotNull(subscriptions.cancelledAt), isNotNull(subscriptions.gatewayId)))
    .all()
  for (const { gatewayId } of rows) {
    if (gatewayId === null) continue
    await cancelSubscription(stripe, gatewayId)
    await writeWhenFree(shop.db, (tx) => forgetSubscription(tx, gatewayId))
  }
}

/** The gateway renews it no more: nothing is to be asked there about it. */
export function forgetSubscription(tx: Tx, gatewayId: string): void {
  tx.orm
    .update(subscriptions)
    .set({ gatewayId: null })
    .where(and(eq(subscriptions.gatewayId, gatewayId), isNotNull(subscriptions.cancelledAt)))
    .run()
}

/** Ends the subscription that a payment started, if it started one; its money has gone back. */
export async function endSubscriptionOf(stripe: Stripe, attempt: AttemptRow): Promise<void> {
  if (attempt.kind !== 'checkout_session') return
  const state = await lookUp(stripe, attempt)
  if (state?.subscription) await cancelSubscription(stripe, state.subscription.id)
}

async function cancelSubscription(stripe: Stripe, id: string): Promise<void> {
  const subscription = await unlessMissing(stripe.subscriptions.retrieve(id))
  if (subscription === undefined) return
  const isOver = subscription.status === 'canceled' || subscription.status === 'incomplete_expired'
  if (!isOver) await unlessMissing(stripe.subscriptions.cancel(id))
}
