import { chargeStepMinor, percentOf, shareMinor } from '../../platform/money.ts'
import type { CouponRow } from './rows.ts'

/** The products and categories that a coupon applies to; all products when both lists are empty. */
export type CouponScope = { productIds: readonly number[]; categoryIds: readonly number[] }

/** Either `percentBps` or `amountMinor` is set. 10 percent is 1000 bps. */
export type Discount = Pick<CouponRow, 'percentBps' | 'amountMinor'> & CouponScope

/** A line before discounts: unit price times quantity. */
export type DiscountableLine = { productId: number; categoryIds: readonly number[]; totalMinor: number }

export type Discounts = {
  totalMinor: number
  /** The discount of each line, at most the line's total. The sum is `totalMinor`. */
  byLine: number[]
  /** The discount of each coupon. The sum is `totalMinor`. */
  byCoupon: number[]
}

/** Why a code is not accepted, as a message for the buyer. */
export const couponRefusals = {
  unknown: 'This code is not valid.',
  disabled: 'This code is not valid.',
  not_yet: 'This code is not valid yet.',
  expired: 'This code has expired.',
  used_up: 'This code has reached its usage limit.',
  customer_limit: 'You have already used this code the maximum number of times.',
  min_total: 'Your order is below the minimum amount for this code.',
  no_product: 'This code does not apply to anything in your order.',
  exclusive: 'This code cannot be combined with another one of your codes.',
  second_percent: 'This code cannot be combined with another code that takes off a percentage.'
} as const

export type CouponRefusal = keyof typeof couponRefusals

/**
 * Why the coupon is not accepted for this order, or undefined when it is. The minimum total is compared with the whole
 * order before discounts. The usage limit is only a preliminary check here: `takeCouponUse` enforces it, and the limit
 * per customer, in the transaction that places the order.
 */
export function findCouponRefusal(
  coupon: CouponRow | undefined,
  scope: CouponScope,
  { lines, now }: { lines: readonly DiscountableLine[]; now: number }
): CouponRefusal | undefined {
  if (coupon === undefined) return 'unknown'
  const inactive = inactiveReason(coupon, now)
  if (inactive !== undefined) return inactive
  if (coupon.minTotalMinor !== null && sum(lines.map((line) => line.totalMinor)) < coupon.minTotalMinor)
    return 'min_total'
  return lines.some((line) => isInScope(line, scope)) ? undefined : 'no_product'
}

/** What decides whether coupons can be in one order. */
export type Combinable = Pick<CouponRow, 'percentBps' | 'exclusive'>

/**
 * Why a coupon is not accepted beside the others of an order, or undefined when it is.
 *
 * @param combinesPercent whether an order can have several coupons that take off a percentage
 */
export function findCombinationRefusal(
  coupon: Combinable,
  others: readonly Combinable[],
  combinesPercent: boolean
): CouponRefusal | undefined {
  if (others.length > 0 && (coupon.exclusive || others.some(({ exclusive }) => exclusive))) return 'exclusive'
  if (combinesPercent || coupon.percentBps === null) return undefined
  return others.some(({ percentBps }) => percentBps !== null) ? 'second_percent' : undefined
}

/** Why the coupon is not accepted for any order at `now`; undefined when it is active. */
export function inactiveReason(coupon: CouponRow, now: number): CouponRefusal | undefined {
  if (!coupon.enabled) return 'disabled'
  if (coupon.startsAt !== null && now < coupon.startsAt) return 'not_yet'
  if (coupon.endsAt !== null && now >= coupon.endsAt) return 'expired'
  return coupon.maxUses !== null && coupon.used >= coupon.maxUses ? 'used_up' : undefined
}

/** Whether a coupon with this scope applies to the line. */
export function isInScope(line: Pick<DiscountableLine, 'productId' | 'categoryIds'>, scope: CouponScope): boolean {
  const everything = scope.productIds.length === 0 && scope.categoryIds.length === 0
  return (
    everything ||
    scope.productIds.includes(line.productId) ||
    line.categoryIds.some((categoryId) => scope.categoryIds.includes(categoryId))
  )
}

/**
 * Computes what each coupon takes off and splits it among the lines. Percentages apply before fixed amounts, otherwise
 * in the given order. Each coupon applies to what is left of the lines in its scope. Discounts are multiples of the
 * currency's charge step, so that the total stays chargeable, and are split by largest remainder.
 */
export function discountLines(
  lines: readonly DiscountableLine[],
  coupons: readonly Discount[],
  currency: string
): Discounts {
  const stepMinor = chargeStepMinor(currency)
  const left = lines.map((line) => line.totalMinor)
  const byCoupon = coupons.map(() => 0)
  for (const [index, coupon] of fixedLast(coupons)) {
    const inScope = lines.map((line, position) => (isInScope(line, coupon) ? (left[position] ?? 0) : 0))
    const shares = sharesOf(coupon, inScope, stepMinor)
    byCoupon[index] = sum(shares)
    for (const [position, share] of shares.entries()) left[position] = (left[position] ?? 0) - share
  }
  const byLine = lines.map((line, position) => line.totalMinor - (left[position] ?? 0))
  return { totalMinor: sum(byLine), byLine, byCoupon }
}

function fixedLast(coupons: readonly Discount[]): [number, Discount][] {
  const numbered = [...coupons.entries()]
  return [
    ...numbered.filter(([, coupon]) => coupon.percentBps !== null),
    ...numbered.filter(([, coupon]) => coupon.percentBps === null)
  ]
}

/** The coupon's discount on each amount; at most that amount. */
function sharesOf({ percentBps, amountMinor }: Discount, amounts: readonly number[], stepMinor: number): number[] {
  if (percentBps === 10_000) return [...amounts]
  const wantedMinor = percentBps === null ? (amountMinor ?? 0) : percentOf(sum(amounts), percentBps)
  const wantedSteps = percentBps === null ? Math.floor(wantedMinor / stepMinor) : Math.round(wantedMinor / stepMinor)
  const steps = amounts.map((amount) => Math.floor(amount / stepMinor))
  return shareMinor(Math.min(wantedSteps, sum(steps)), steps).map((share) => share * stepMinor)
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}
