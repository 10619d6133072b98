import { couponRefusals } from '../catalog/coupon-rules.ts'
import type { CouponRefusal } from '../catalog/coupon-rules.ts'
import { refusal } from './problems.ts'
import type { ProblemCode, Refusal } from './problems.ts'

/** The problem code of each reason. A code that is disabled or not valid yet is unknown to the buyer. */
const codes = {
  unknown: 'coupon_unknown',
  disabled: 'coupon_unknown',
  not_yet: 'coupon_unknown',
  expired: 'coupon_expired',
  used_up: 'coupon_used',
  customer_limit: 'coupon_used',
  min_total: 'coupon_minimum',
  no_product: 'coupon_not_for_cart'
} as const satisfies Record<CouponRefusal, ProblemCode>

/**
 * The refusal of a coupon code.
 *
 * @param minimum the coupon's minimum total in major units
 */
export function couponRefusal(path: string, reason: CouponRefusal, minimum?: number): Refusal {
  const withMinimum = reason === 'min_total' && minimum !== undefined ? { minimum } : {}
  return refusal({ path, code: codes[reason], message: couponRefusals[reason], ...withMinimum })
}
