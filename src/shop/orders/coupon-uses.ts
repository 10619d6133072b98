import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { keyedHash } from '../../platform/db/keyed-hash.ts'
import { emailKey } from '../../platform/text.ts'
import { findUserById } from '../accounts/find.ts'
import { takeUse } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { coupons } from '../catalog/schema.ts'
import { orderCoupons, orders } from './schema.ts'

const customerLimit = statement((orm) =>
  orm
    .select({ limit: coupons.maxUsesPerCustomer })
    .from(coupons)
    .where(eq(coupons.id, sql.placeholder('couponId')))
    .prepare()
)

/** The customer whose coupon use an order counts; null while the buyer is unknown. */
export function customerKeyOf({ userId, emailKey }: { userId: number | null; emailKey: string | null }): string | null {
  if (userId !== null) return `user:${userId}`
  return emailKey === null ? null : `email:${emailKey}`
}

export type CouponUse = { couponId: number; customerKey: string | null }

/**
 * Counts one use of a coupon, unless the coupon or this customer (`hasReachedLimit`) has no uses left. It runs under the
 * transaction's write lock, so only one of two concurrent orders gets the last use.
 */
export function takeCouponUse(tx: Tx, use: CouponUse): 'taken' | 'used_up' | 'customer_limit' {
  if (hasReachedLimit(tx, use)) return 'customer_limit'
  return takeUse(tx, use.couponId) ? 'taken' : 'used_up'
}

/** Whether a coupon has a limit for each customer, so that it applies only to a customer whom the shop knows. */
export function limitsCustomers({ maxUsesPerCustomer }: Pick<CouponRow, 'maxUsesPerCustomer'>): boolean {
  return maxUsesPerCustomer !== null
}

/**
 * Whether a customer has used a coupon as often as each customer may. An account's own orders count, and those of its
 * email if that is verified.
 *
 * An email that a guest enters may be another person's: a refusal would tell whether that person has bought. The callers
 * ask for a guest only after the guest has proven the email.
 */
export function hasReachedLimit(db: Db, { couponId, customerKey }: CouponUse): boolean {
  const limit = customerLimit(db).get({ couponId })?.limit ?? null
  if (limit === null || customerKey === null) return false
  const mailbox = mailboxOf(db, customerKey)
  const byEmail =
    mailbox === null ? [] : [...usesOf(db, couponId, `email:${mailbox}`), ...paidUses(db, couponId, mailbox)]
  return new Set([...usesOf(db, couponId, customerKey), ...byEmail]).size >= limit
}

/** The email key that belongs to a customer. */
function mailboxOf(db: Db, customerKey: string): string | null {
  const [kind, ...rest] = customerKey.split(':')
  if (kind === 'email') return rest.join(':')
  const user = findUserById(db, Number(rest.join(':')))
  return user === undefined || user.emailVerifiedAt === null ? null : user.emailKey
}

/** Whether an order has a coupon that each customer may use a limited number of times. */
export function hasCustomerLimit(db: Db, orderId: number): boolean {
  return limitedCoupons(db, orderId).length > 0
}

/** The codes of an order whose limit per customer other paid orders with the same email have reached. */
export function couponsOverLimit(db: Db, orderId: number, email: string): string[] {
  const usedBefore = (couponId: number): number[] =>
    paidUses(db, couponId, emailKey(email)).filter((id) => id !== orderId)
  return limitedCoupons(db, orderId)
    .filter(({ couponId, limit }) => limit !== null && usedBefore(couponId).length >= limit)
    .map(({ code }) => code)
}

/** Says which codes `couponsOverLimit` found, for an operator; null if there are none. */
export function describeOverLimit(codes: readonly string[]): string | null {
  return codes.length === 0 ? null : `this email address had already used ${codes.join(', ')}`
}

function limitedCoupons(db: Db, orderId: number) {
  return db.orm
    .select({ couponId: coupons.id, code: orderCoupons.code, limit: coupons.maxUsesPerCustomer })
    .from(orderCoupons)
    .innerJoin(coupons, eq(coupons.id, orderCoupons.couponId))
    .where(and(eq(orderCoupons.orderId, orderId), isNotNull(coupons.maxUsesPerCustomer)))
    .orderBy(asc(orderCoupons.id))
    .all()
}

const isUse = (couponId: number) => and(eq(orderCoupons.couponId, couponId), eq(orderCoupons.counted, 1))

/** The orders that count as a customer's use of a coupon. */
function usesOf(db: Db, couponId: number, customerKey: string): number[] {
  return db.orm
    .select({ orderId: orderCoupons.orderId })
    .from(orderCoupons)
    .where(and(isUse(couponId), eq(orderCoupons.customerKey, customerKey)))
    .all()
    .map(({ orderId }) => orderId)
}

/** The paid orders with an email that count as a use of a coupon, also those that have lost their buyer since. */
function paidUses(db: Db, couponId: number, emailKey: string): number[] {
  const ofMailbox = [
    eq(orders.emailKey, emailKey),
    // The partial index needs its condition.
    and(isNotNull(orderCoupons.mailboxHash), eq(orderCoupons.mailboxHash, keyedHash(db, 'mailbox', emailKey)))
  ]
  return ofMailbox.flatMap((condition) =>
    db.orm
      .select({ orderId: orders.id })
      .from(orders)
      .innerJoin(orderCoupons, eq(orderCoupons.orderId, orders.id))
      // The plus keeps SQLite from reading all uses of the coupon.
      .where(
        and(
          condition,
          isNotNull(orders.paidAt),
          sql`+${orderCoupons.couponId} = ${couponId}`,
          eq(orderCoupons.counted, 1)
        )
      )
      .all()
      .map(({ orderId }) => orderId)
  )
}
