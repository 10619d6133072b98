import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toIso } from '../../platform/iso-time.ts'
import { findRenewed } from '../benefits/records.ts'
import type { GatewaySubscriptionRow } from '../benefits/rows.ts'
import type { ShopContext } from '../context.ts'
import { getOrderByPublicToken } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { findPayingAttempt } from '../payments/attempts.ts'
import { endWithPeriod } from '../payments/end-with-period.ts'
import { findGatewayOf } from '../payments/gateway.ts'
import { takePagePoint } from './checkout-limits.ts'

/** The subscription of an order without an account, as everyone with the order's link sees it. */
export type GuestSubscription = {
  /** The end of the period that is paid. */
  currentPeriodEnd: string
  cancelAtPeriodEnd: boolean
  /** Null when no other period will be charged. */
  nextPaymentAt: string | null
  canCancel: boolean
}

/**
 * The subscription that the gateway renews for an order, or for the first order of a renewal. Subscriptions that were
 * bought in one checkout are billed together, so there is at most one. Null without one, and for the order of an account:
 * its holder has it in the list of their subscriptions.
 */
export function guestSubscriptionOf(shop: ShopContext, order: OrderRow): GuestSubscription | null {
  const row = findGuestRow(shop.db, order)
  if (row === undefined) return null
  const { currentPeriodEnd, cancelAtPeriodEnd, orderId } = row
  const renews = willRenew(row)
  const attempt = renews ? findPayingAttempt(shop.db, orderId) : undefined
  return {
    currentPeriodEnd: toIso(currentPeriodEnd),
    cancelAtPeriodEnd,
    nextPaymentAt: renews ? toIso(currentPeriodEnd) : null,
    canCancel: attempt !== undefined && findGatewayOf(shop, attempt) !== undefined
  }
}

/**
 * Ends the subscription of a guest's order with the period that is paid. The token of the order, or of a renewal, is the
 * proof: it is in the emails to the buyer. Repeated, it changes nothing.
 *
 * @throws AppError NOT_FOUND; CONFLICT for an order that has no such subscription; RATE_LIMITED (checkout_ip);
 *   DEPENDENCY_UNAVAILABLE when the gateway did not confirm: nothing is stored then
 */
export async function endGuestSubscription(
  shop: ShopContext,
  orderToken: string,
  { addressKey }: { addressKey: string }
): Promise<void> {
  const row = findGuestRow(shop.db, getOrderByPublicToken(shop.db, orderToken))
  if (row === undefined)
    throw new AppError('CONFLICT', 'This order has no subscription, or its subscription belongs to an account.')
  if (!willRenew(row)) return
  await takePagePoint(shop, addressKey)
  await endWithPeriod(shop, row, 'buyer')
}

function findGuestRow(db: Db, { id, renewalOf, userId }: OrderRow): GatewaySubscriptionRow | undefined {
  return userId === null ? findRenewed(db, renewalOf ?? id) : undefined
}

function willRenew({ endedAt, cancelAtPeriodEnd }: GatewaySubscriptionRow): boolean {
  return endedAt === null && !cancelAtPeriodEnd
}
