import { validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { couponRefusals, discountLines, findCouponRefusal } from '../catalog/coupon-rules.ts'
import type { CouponScope } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { findSellable, unsellableReasons } from '../catalog/sellable.ts'
import type { Sellable } from '../catalog/sellable.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import { customerKeyOf } from '../orders/coupon-uses.ts'
import { couponsRefused } from '../orders/coupons-refused.ts'
import type { DraftCoupon, DraftLine } from '../orders/draft.ts'
import type { Codes } from './input.ts'

type Item = { productId: number; variationId?: number | undefined; quantity: number }

/** One product or variation of the cart; `path` is the first item that named it. */
type CartLine = { path: string; sellable: Sellable; quantity: number }

/** What is known about the buyer, for a coupon's limit per customer. */
export type CartBuyer = { userId: number | null; emailKey: string | null }

export type PricedCart = { lines: DraftLine[]; coupons: DraftCoupon[] }

/**
 * Calculates the price of the items at `now`, with the prices and stock of the catalogue. Items with the same product and
 * variation merge into one line. Discounts are distributed to the lines.
 *
 * @throws AppError VALIDATION_FAILED for each item that cannot be bought or code that does not apply; its cause is a
 *   CouponsRefused when it was a code
 */
export function priceCart(
  db: Db,
  input: { items: readonly Item[]; codes: readonly SentCode[]; currency: string },
  buyer: CartBuyer,
  now: number
): PricedCart {
  const cart = findLines(db, input.items, now)
  const hasCodes = input.codes.length > 0
  const discountable = cart.map(({ sellable, quantity }) => ({
    productId: sellable.product.id,
    // Only coupons need the categories.
    categoryIds: hasCodes ? categoryIdsOfProduct(db, sellable.product.id) : [],
    totalMinor: sellable.unitPriceMinor * quantity
  }))
  const coupons = findCoupons(db, input.codes, discountable, now)
  const discounts = discountLines(
    discountable,
    coupons.map(({ coupon, scope }) => ({ ...coupon, ...scope })),
    input.currency
  )
  return {
    lines: cart.map((line, index) => toDraftLine(line, discounts.byLine[index] ?? 0)),
    coupons: coupons.map(({ path, coupon }, index) => ({
      path,
      couponId: coupon.id,
      code: coupon.code,
      discountMinor: discounts.byCoupon[index] ?? 0,
      customerKey: customerKeyOf(buyer)
    }))
  }
}

function findLines(db: Db, items: readonly Item[], now: number): CartLine[] {
  const errors: FieldErrors = {}
  const lines = new Map<string, CartLine>()
  for (const [index, item] of items.entries()) {
    const path = `items.${index}`
    const sellable = findSellable(db, item.productId, item.variationId ?? null, now)
    if (typeof sellable === 'string') {
      const { field, message } = unsellableReasons[sellable]
      errors[`${path}.${field}`] = [message]
      continue
    }
    const key = `${sellable.product.id}/${sellable.variation?.id ?? ''}`
    const line = lines.get(key) ?? { path, sellable, quantity: 0 }
    line.quantity += item.quantity
    lines.set(key, line)
    if (sellable.stock !== null && line.quantity > sellable.stock)
      errors[`${path}.quantity`] = ['There are not enough left in stock.']
    else if (!Number.isSafeInteger(sellable.unitPriceMinor * line.quantity))
      errors[`${path}.quantity`] = ['The total is too high.']
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors, 'Some items cannot be bought.')
  return [...lines.values()]
}

function toDraftLine({ path, sellable, quantity }: CartLine, discountMinor: number): DraftLine {
  return {
    path,
    productId: sellable.product.id,
    variationId: sellable.variation?.id ?? null,
    name: sellable.name,
    quantity,
    unitPriceMinor: sellable.unitPriceMinor,
    discountMinor,
    totalMinor: sellable.unitPriceMinor * quantity - discountMinor,
    type: sellable.type,
    grants: sellable.grants
  }
}

/** A coupon code and the path of its field in the request. */
export type SentCode = { path: string; code: string }

/** The codes of `couponCode` and `couponCodes`, without empty codes and duplicates. */
export function sentCodes(body: Codes): SentCode[] {
  const sent = [
    { path: 'couponCode', code: body.couponCode ?? '' },
    ...(body.couponCodes ?? []).map((code, index) => ({ path: `couponCodes.${index}`, code }))
  ]
  const once = new Map<string, SentCode>()
  for (const entry of sent) {
    const key = compareKey(entry.code)
    if (key !== '' && !once.has(key)) once.set(key, entry)
  }
  return [...once.values()]
}

/**
 * Checks that all subscriptions of a cart have the same billing interval: a Checkout Session accepts only one.
 *
 * @throws AppError VALIDATION_FAILED for the items whose billing interval differs from the first one's
 */
export function assertOneInterval(lines: readonly DraftLine[]): void {
  const errors: FieldErrors = {}
  let first: string | undefined
  for (const { path, grants } of lines) {
    for (const grant of grants) {
      const interval = renewalInterval(grant)
      if (interval === null) continue
      first ??= interval
      if (interval !== first)
        errors[`${path}.productId`] = ['This item has a different billing interval from the others.']
    }
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors, 'Some items cannot be bought together.')
}

/** Stripe accepts 20 recurring and 20 one-time lines in a Checkout Session with a subscription (docs.stripe.com/api/checkout/sessions/create). */
const mostLinesWithSubscription = 20

/**
 * Checks that a cart with a subscription fits into one Checkout Session.
 *
 * @throws AppError VALIDATION_FAILED for the items beyond the limit
 */
export function assertFewEnough(lines: readonly DraftLine[]): void {
  const isRecurring = ({ grants }: DraftLine): boolean => grants.some((grant) => renewalInterval(grant) !== null)
  const recurring = lines.filter(isRecurring)
  if (recurring.length === 0) return
  const tooMany = [recurring, lines.filter((line) => !isRecurring(line))].flatMap((some) =>
    some.slice(mostLinesWithSubscription)
  )
  if (tooMany.length === 0) return
  const message = `At most ${mostLinesWithSubscription} other products can be bought together with a subscription.`
  const errors = Object.fromEntries(tooMany.map(({ path }) => [`${path}.productId`, [message]]))
  throw validationFailed(errors, 'Some items cannot be bought together.')
}

type Applied = { path: string; coupon: CouponRow; scope: CouponScope }

function findCoupons(
  db: Db,
  codes: readonly SentCode[],
  lines: Parameters<typeof discountLines>[0],
  now: number
): Applied[] {
  const errors: FieldErrors = {}
  const applied: Applied[] = []
  for (const { path, code } of codes) {
    const coupon = findCoupon(db, code)
    const scope = coupon === undefined ? { productIds: [], categoryIds: [] } : couponScope(db, coupon.id)
    const refusal = findCouponRefusal(coupon, scope, { lines, now })
    if (coupon === undefined || refusal !== undefined) errors[path] = [couponRefusals[refusal ?? 'unknown']]
    else applied.push({ path, coupon, scope })
  }
  if (Object.keys(errors).length > 0) throw couponsRefused(errors, 'A coupon code does not apply.')
  return applied
}
