import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type Stripe from 'stripe'
import { sqlList } from '../../platform/db/columns.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { describeError } from '../../platform/log.ts'
import { gatewaySubscriptions, subscriptions } from '../benefits/schema.ts'
import type { ShopContext } from '../context.ts'
import { releasedStatuses } from '../orders/states.ts'
import { lostDisputeReason } from './disputes.ts'
import { isUnavailable } from './gateway-failure.ts'
import { readyGateway } from './gateway.ts'
import { lookUp, unlessMissing } from './look-up.ts'
import type { AttemptRow } from './rows.ts'

/**
 * Subscriptions that the gateway must not renew any more: their benefit has ended, their order is off and no renewal
 * pays for the current period, the newest renewal was refunded, a lost dispute refunded one of their orders, or the buyer
 * was erased (which leaves no email). Only those that were paid for at the gateway that is asked.
 */
const unwanted = rawStatement<{ gateway: string; livemode: 0 | 1 }, { gatewayId: string }>(
  `SELECT DISTINCT gateway_id AS gatewayId FROM (
     SELECT gateway_id, order_id FROM subscriptions WHERE cancelled_at IS NOT NULL AND gateway_id IS NOT NULL
     UNION ALL
     SELECT g.gateway_id, g.order_id FROM gateway_subscriptions g CROSS JOIN orders o ON o.id = g.order_id
      WHERE g.ended_at IS NULL AND (o.email IS NULL OR EXISTS
        (SELECT 1 FROM subscriptions s WHERE s.order_id = g.order_id AND s.cancelled_at IS NOT NULL)
        OR (o.status IN (${sqlList(releasedStatuses)}) AND NOT EXISTS
        (SELECT 1 FROM orders r WHERE r.renewal_of = o.id AND r.paid_at IS NOT NULL
            AND r.status NOT IN (${sqlList(releasedStatuses)})))
        OR EXISTS (SELECT 1 FROM subscription_invoices i JOIN orders r ON r.id = i.order_id
          WHERE i.gateway_id = g.gateway_id AND i.period_end >= g.current_period_end AND r.status = 'refunded')
        OR EXISTS (SELECT 1 FROM orders r JOIN order_history h ON h.order_id = r.id
          WHERE (r.id = o.id OR r.renewal_of = o.id) AND h.to_status = 'refunded' AND h.reason LIKE '${lostDisputeReason}'))
   ) found WHERE EXISTS
     (SELECT 1 FROM payment_attempts a WHERE a.order_id = found.order_id AND a.outcome = 'paid'
         AND a.gateway = @gateway AND a.livemode = @livemode)`
)

/**
 * Ends subscriptions at the gateway that must not renew any more. A subscription that the gateway refuses to end does not
 * delay the others. Returns how many there were.
 *
 * @throws the first refusal, after all others were tried; immediately when the gateway does not answer or asks for fewer calls
 */
export async function endUnwantedSubscriptions(shop: ShopContext, stripe: Stripe): Promise<number> {
  const { name: gateway, livemode } = readyGateway(shop)
  const refused: unknown[] = []
  const found = unwanted(shop.db).all({ gateway, livemode: livemode ? 1 : 0 })
  for (const { gatewayId } of found) {
    try {
      await cancelSubscription(stripe, gatewayId)
      await writeWhenFree(shop.db, (tx) => forgetSubscription(tx, gatewayId, shop.clock.now()))
    } catch (error) {
      if (isUnavailable(error)) throw error
      shop.log.warn('a subscription could not be ended', { object: gatewayId, error: describeError(error) })
      refused.push(error)
    }
  }
  if (refused.length > 0) throw refused[0]
  return found.length
}

/** Marks a subscription as ended at the gateway; false when it was marked before. */
export function forgetSubscription(tx: Tx, gatewayId: string, now: number): boolean {
  tx.orm
    .update(subscriptions)
    .set({ gatewayId: null })
    .where(and(eq(subscriptions.gatewayId, gatewayId), isNotNull(subscriptions.cancelledAt)))
    .run()
  const { changes } = tx.orm
    .update(gatewaySubscriptions)
    .set({ endedAt: now })
    .where(and(eq(gatewaySubscriptions.gatewayId, gatewayId), isNull(gatewaySubscriptions.endedAt)))
    .run()
  return changes > 0
}

/** Ends the subscription that a refunded payment started, if it started one. */
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
