import { AppError, validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import { couponRefusals } from '../catalog/coupon-rules.ts'
import type { CouponRefusal } from '../catalog/coupon-rules.ts'

/** Why a cart cannot be bought, for programs (docs/contract.md 5.23). */
export const problemCodes = [
  'unknown_product',
  'unavailable',
  'sold_out',
  'not_enough',
  'choose_variation',
  'coupon_unknown',
  'coupon_expired',
  'coupon_used',
  'coupon_minimum',
  'coupon_not_for_cart',
  'address_needed',
  'no_shipping_there',
  'below_minimum',
  'interval_mixed',
  'already_subscribed',
  'too_many_products',
  'total_too_high',
  'login_needed',
  'email_needed',
  'payment_unavailable',
  'too_many_unpaid',
  'too_many_attempts',
  'vat_id_invalid'
] as const

export type ProblemCode = (typeof problemCodes)[number]

/** A reason why a cart cannot be bought. */
export type Problem = {
  /** The field of the request (`items.0.quantity`, `couponCode`). */
  path: string
  code: ProblemCode
  /** For the buyer; names the product. */
  message: string
  /** For `not_enough`: how many the buyer can order. */
  left?: number
  /** For `below_minimum` and `coupon_minimum`, in major units. */
  minimum?: number
  /** For `already_subscribed`: when the subscription renews or ends. */
  currentPeriodEnd?: string
}

/** A problem and its entry in the fieldErrors of a checkout. */
export type Refusal = { problem: Problem; field: string; fieldMessage: string }

/** A refusal whose field error has the path and the message of the problem, unless `field` says otherwise. */
export function refusal(problem: Problem, field: { path?: string; message?: string } = {}): Refusal {
  return { problem, field: field.path ?? problem.path, fieldMessage: field.message ?? problem.message }
}

/** The problem of a line that wants more than the `left` units in stock. */
export function notEnough(path: string, name: string, left: number): Problem {
  const message = left === 0 ? `${name} is sold out.` : `${name}: only ${left} left.`
  return { path, code: 'not_enough', message, left }
}

/**
 * The error VALIDATION_FAILED for refusals, with `fieldErrors` for at most 20 fields, and `problems`.
 *
 * @param wrongCodes how many coupon codes do not apply; the limit on guessing codes counts them
 */
export function cartRefused(refusals: readonly Refusal[], message?: string, wrongCodes = 0): AppError {
  const byField = Object.fromEntries(refusals.map(({ field, fieldMessage }) => [field, [fieldMessage]]))
  const { code, message: words, details } = validationFailed(byField, message)
  const problems = refusals.map(({ problem }) => problem)
  return new AppError(
    code,
    words,
    { ...details, problems },
    wrongCodes === 0 ? {} : { cause: new CouponsRefused(wrongCodes) }
  )
}

/** The cause of an order that was refused because of its codes. The limit on guessing codes counts them. */
export class CouponsRefused extends Error {
  override readonly name = 'CouponsRefused'
  readonly count: number

  constructor(count: number) {
    super(`${count} codes did not apply`)
    this.count = count
  }
}

/** The error for an order whose codes do not apply, with a message for each field of the request. */
export function couponsRefused(errors: FieldErrors, message?: string): AppError {
  const refused = validationFailed(errors, message)
  refused.cause = new CouponsRefused(Object.keys(errors).length)
  return refused
}

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
