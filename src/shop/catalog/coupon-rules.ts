import { chargeStepMinor, percentOf, shareMinor } from '../../platform/money.ts'
import type { CouponRow } from './rows.ts'

/** What a coupon counts for; it counts for everything when both lists are empty. */
export type CouponScope = { productIds: readonly number[]; categoryIds: readonly number[] }

/** One of the two amounts is set: 10 percent is 1000. */
export type Discount = Pick<CouponRow, 'percentBps' | 'amountMinor'> & CouponScope

/** A line before discounts: unit price times quantity. */
export type DiscountableLine = { productId: number; categoryIds: readonly number[]; totalMinor: number }

export type Discounts = {
  totalMinor: number
  /** In the order of the lines; they sum to `totalMinor`, and none exceeds its line. */
  byLine: number[]
  /** In the order of the coupons; they sum to `totalMinor` too. */
  byCoupon: number[]
}

/** Why a code does not count, in words for the buyer. */
export const couponRefusals = {
  unknown: 'This code is not valid.',
  disabled: 'This code is not valid.',
  not_yet: 'This code is not valid yet.',
  expired: 'This code has expired.',
  used_up: 'This code has been used up.',
  customer_limit: 'You have used this code as often as it can be used.',
  min_total: 'The order is too small for this code.',
  no_product: 'This code does not count for anything in this order.'
} as const

export type CouponRefusal = keyof typeof couponRefusals

export type CouponOccasion = { lines: readonly DiscountableLine[]; now: number }

/**
 * Why the coupon does not count for this order, or undefined when it does. The minimum total is that of the whole order
 * before discounts. Its total limit is only looked at here; uses are given out, and the limit per customer judged, where
 * the order takes its use (`takeCouponUse`), under the lock that decides who comes first.
 */
export function findCouponRefusal(
  coupon: CouponRow | undefined,
  scope: CouponScope,
  { lines, now }: CouponOccasion
): CouponRefusal | undefined {
  if (coupon === undefined) return 'unknown'
  const refusal = inactiveReason(coupon, now)
  if (refusal !== undefined) return refusal
  if (coupon.minTotalMinor !== null && sum(lines.map((line) => line.totalMinor)) < coupon.minTotalMinor)
    return 'min_total'
  return lines.some((line) => isInScope(line, scope)) ? undefined : 'no_product'
}

/** Why the coupon counts for nobody at the moment, whatever he buys. */
export function inactiveReason(coupon: CouponRow, now: number): CouponRefusal | undefined {
  if (!coupon.enabled) return 'disabled'
  if (coupon.startsAt !== null && now < coupon.startsAt) return 'not_yet'
  if (coupon.endsAt !== null && now >= coupon.endsAt) return 'expired'
  return coupon.maxUses !== null && coupon.used >= coupon.maxUses ? 'used_up' : undefined
}

export function isInScope(line: Pick<DiscountableLine, 'productId' | 'categoryIds'>, scope: CouponScope): boolean {
  const everything = scope.productIds.length === 0 && scope.categoryIds.length === 0
  return (
    everything ||
    scope.productIds.includes(line.productId) ||
    line.categoryIds.some((categoryId) => scope.categoryIds.includes(categoryId))
  )
}

/**
 * What each coupon takes off and how it falls on the lines. Percentages come before fixed amounts, else the order given
 * decides, and each counts on what the ones before it have left of the lines in its scope. Discounts are counted in the
 * currency's charge steps, so that a total that can be charged stays one, and shared among lines by largest remainder.
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

/** What the coupon takes of each amount; never more than is there. */
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
