import { AppError, validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import { couponRefusals } from '../catalog/coupon-rules.ts'
import type { CouponRefusal } from '../catalog/coupon-rules.ts'
import type { Problem, ProblemCode } from './shapes.ts'

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
  no_product: 'coupon_not_for_cart',
  exclusive: 'coupon_not_combined',
  second_percent: 'coupon_not_combined'
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
