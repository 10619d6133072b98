import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type Stripe from 'stripe'
import { statement } from '../../platform/db/statements.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { updateAttempt } from './attempts.ts'
import { isUnavailable } from './gateway-failure.ts'
import { readyGateway } from './gateway.ts'
import { unlessMissing } from './look-up.ts'
import { paymentAttempts } from './schema.ts'

/** A round deletes this many at most, because each is a call. */
const mostPerRound = 100

const unneeded = statement((orm) =>
  orm
    .select({ id: paymentAttempts.id, couponId: paymentAttempts.discountCouponId })
    .from(paymentAttempts)
    .where(
      and(
        isNotNull(paymentAttempts.discountCouponId),
        isNotNull(paymentAttempts.outcome),
        eq(paymentAttempts.gateway, sql.placeholder('gateway'))
      )
    )
    .limit(mostPerRound)
    .prepare()
)

/**
 * Deletes the discount coupons at Stripe whose payment is over: paid, failed, expired or abandoned. Otherwise the list of
 * coupons in Stripe's dashboard grows by one with each discounted order. Deleting a coupon does not change what was
 * bought with it (docs.stripe.com/api/coupons/delete). A coupon that cannot be deleted does not delay the others.
 *
 * @returns how many were tried
 * @throws when the gateway does not answer or asks for fewer calls
 */
export async function deleteDiscountCoupons(shop: ShopContext, stripe: Stripe): Promise<number> {
  const { name } = readyGateway(shop)
  const found = unneeded(shop.db).all({ gateway: name })
  for (const { id, couponId } of found) {
    try {
      if (couponId !== null) await unlessMissing(stripe.coupons.del(couponId))
      await writeWhenFree(shop.db, (tx) => updateAttempt(tx, id, { discountCouponId: null }, shop.clock.now()))
    } catch (error) {
      if (isUnavailable(error)) throw error
      shop.log.warn('a discount coupon could not be deleted', { object: couponId, error: describeError(error) })
    }
  }
  return found.length
}
