import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toIso } from '../../platform/iso-time.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { subscriptionsOf } from '../benefits/records.ts'
import { subscriptionStatus } from '../benefits/status.ts'
import type { DraftLine } from '../orders/draft.ts'
import { takesToken } from '../orders/strategies.ts'
import type { CheckoutBody } from './input.ts'

/**
 * Requires `subscribeAgain` from a customer who already has a subscription of a product in the cart, because both would
 * renew. token_handoff sells a fixed period, which extends another fixed period, so there only a subscription that renews
 * counts.
 *
 * @throws AppError VALIDATION_FAILED for each such item, with the problem `already_subscribed`
 */
export function assertNotSubscribed(
  db: Db,
  userId: number,
  { lines, body }: { lines: readonly DraftLine[]; body: CheckoutBody },
  now: number
): void {
  if (body.subscribeAgain === true || !lines.some(isSubscription)) return
  const running = subscriptionsOf(db, userId).filter(
    (record) =>
      !['cancelled', 'expired'].includes(subscriptionStatus(record, now)) &&
      (record.gatewayId !== null || !takesToken(body.strategy))
  )
  const problems = lines.filter(isSubscription).flatMap(({ path, productId, name }) => {
    const known = running.find((record) => record.productId === productId)
    if (known === undefined) return []
    const message = `You already have a subscription of ${name}. Another one would be charged in addition.`
    return [{ path, code: 'already_subscribed', message, currentPeriodEnd: toIso(known.currentPeriodEnd) }]
  })
  if (problems.length === 0) return
  const fieldErrors = Object.fromEntries(problems.map(({ path, message }) => [`${path}.productId`, [message]]))
  throw new AppError('VALIDATION_FAILED', 'You already have this subscription.', { fieldErrors, problems })
}

function isSubscription({ grants }: DraftLine): boolean {
  return grants.some((grant) => renewalInterval(grant) !== null)
}
