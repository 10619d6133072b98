import type { ShopContext } from '../context.ts'
import { countAccountChange, takePoints } from '../limits/points.ts'
import { endWithPeriod } from '../payments/end-with-period.ts'
import { createPortalSession } from '../payments/portal.ts'
import { notFound } from '../../platform/http/addresses.ts'
import { getOwnSubscription, getRecord, renewedAt, willRenew } from './own-subscriptions.ts'
import type { OwnSubscription } from './own-subscriptions.ts'

/**
 * Ends a person's subscription with the period that is paid. Subscriptions that were bought in one checkout are billed
 * together and end together. A subscription that renews no more is returned as it is, so a repeated call is harmless.
 *
 * @throws AppError NOT_FOUND when the person has no such subscription; RATE_LIMITED (account_change);
 *   DEPENDENCY_UNAVAILABLE when the gateway did not confirm: nothing is stored, and what the gateway did all the same is reported by its event
 */
export async function endOwnSubscription(shop: ShopContext, userId: number, id: number): Promise<OwnSubscription> {
  const record = getRecord(shop, userId, id)
  await countAccountChange(shop, userId)
  const renewed = renewedAt(record)
  if (renewed !== null && willRenew(record)) await endWithPeriod(shop, renewed, 'buyer')
  return getOwnSubscription(shop, userId, id, shop.clock.now())
}

/**
 * The address of a new session of the gateway's billing portal, where a person renews the card, sees invoices and ends
 * the subscription. The address expires within minutes, so it is created for each request and never stored.
 *
 * @throws AppError NOT_FOUND when the person has no such subscription or the gateway does not renew it, RATE_LIMITED,
 *   DEPENDENCY_UNAVAILABLE when the gateway gives no session
 */
export async function openPortal(
  shop: ShopContext,
  userId: number,
  id: number,
  returnUrl: string | null
): Promise<string> {
  const renewed = renewedAt(getRecord(shop, userId, id))
  if (renewed === null) throw notFound()
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'portal_account', key: String(userId) })
  return createPortalSession(shop, renewed, returnUrl)
}
