import type { Db } from '../../platform/db/database.ts'
import { toIso } from '../../platform/iso-time.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { subscriptionsOf } from '../benefits/records.ts'
import { subscriptionStatus } from '../benefits/status.ts'
import type { NewLine } from '../orders/create-order.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'

/**
 * The lines with a product that the customer already subscribes to, because both subscriptions would renew. The customer
 * buys another one by `subscribeAgain`. token_handoff sells a fixed period, which extends another fixed period, so there
 * only a subscription that renews counts.
 */
export function subscribedRefusals(
  db: Db,
  userId: number,
  { lines, strategy }: { lines: readonly NewLine[]; strategy: Strategy },
  now: number
): Refusal[] {
  if (!lines.some(isSubscription)) return []
  const running = subscriptionsOf(db, userId).filter(
    (record) =>
      !['cancelled', 'expired'].includes(subscriptionStatus(record, now)) &&
      (record.gatewayId !== null || !takesToken(strategy))
  )
  return lines.filter(isSubscription).flatMap(({ path, productId, name }) => {
    const known = running.find((record) => record.productId === productId)
    if (known === undefined) return []
    const message = `You already have a subscription of ${name}. Another one would be charged in addition.`
    const currentPeriodEnd = toIso(known.currentPeriodEnd)
    const problem = { path, code: 'already_subscribed', message, currentPeriodEnd } as const
    return [refusal(problem, { path: `${path}.productId` })]
  })
}

function isSubscription({ grants }: NewLine): boolean {
  return grants.some((grant) => renewalInterval(grant) !== null)
}
