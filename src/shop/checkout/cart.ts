import type { Db } from '../../platform/db/database.ts'
import { toMajor } from '../../platform/money.ts'
import { compareKey } from '../../platform/text.ts'
import { discountLines, findCouponRefusal, inactiveReason } from '../catalog/coupon-rules.ts'
import type { CouponRefusal, CouponScope, DiscountableLine } from '../catalog/coupon-rules.ts'
import { couponScope, findCoupon } from '../catalog/coupons.ts'
import type { CouponRow } from '../catalog/rows.ts'
import { categoryIdsOfProduct } from '../catalog/stored-product.ts'
import { saleTerms } from '../tax/terms.ts'
import type { SaleTerms, TaxedBuyer } from '../tax/terms.ts'
import { chargedPrice } from '../orders/totals.ts'
import { couponRefusal } from '../orders/problems.ts'
import { customerKeyOf } from '../orders/coupon-uses.ts'
import type { NewCoupon, NewLine } from '../orders/create-order.ts'
import type { Refusal } from '../orders/problems.ts'
import { findLines, toNewLine } from './cart-lines.ts'
import type { CartLine, Item } from './cart-lines.ts'
import type { Codes } from './input.ts'

/** What is known about the buyer, for a coupon's limit per customer. */
export type CartBuyer = { userId: number | null; emailKey: string | null }

/** A coupon code of a cart. */
export type CartCode = { path: string; code: string; coupon: CouponRow | null; refusal: Refusal | null }

/** The lines and coupons that can be bought, with their prices and discounts. */
export type PricedCart = { lines: NewLine[]; coupons: NewCoupon[] }

/** A cart with everything in it that cannot be bought. */
export type EvaluatedCart = PricedCart & {
  /** A line for each product and variation that was sent, also those that cannot be bought. */
  cartLines: CartLine[]
  codes: CartCode[]
  itemRefusals: Refusal[]
  codeRefusals: Refusal[]
  /** How the lines are taxed. */
  terms: SaleTerms
}

type CartInput = {
  items: readonly Item[]
  codes: readonly SentCode[]
  currency: string
  /** Without it, the shop's own country decides the tax. */
  taxed?: TaxedBuyer
}

/**
 * Calculates the price of the items at `now`, with the prices and stock of the catalog. Items with the same product and
 * variation merge into one line. Discounts are distributed to the lines. A line with more than the stock keeps
 * its price.
 */
export function evaluateCart(db: Db, input: CartInput, buyer: CartBuyer, now: number): EvaluatedCart {
  const { lines: cartLines, refusals: itemRefusals } = findLines(db, input.items, now)
  const sold = cartLines.flatMap((line) => (line.sellable === null ? [] : [{ line, sellable: line.sellable }]))
  const kinds = sold.map(({ sellable: { type, product } }) => ({ type, taxClass: product.taxClass }))
  const terms = saleTerms(db, input.taxed ?? { shippingAddress: null, billingAddress: null, vatId: null }, kinds)
  const priced = sold.map(({ line, sellable }, index) => {
    const kind = kinds[index] ?? { type: sellable.type, taxClass: 'standard' }
    const price = chargedPrice(terms, kind, sellable.unitPriceMinor, input.currency)
    line.unitPriceMinor = price.unitPriceMinor
    return { line, sellable, price }
  })
  const hasCodes = input.codes.length > 0
  const discountable = priced.map(({ line, price }) => ({
    productId: line.productId,
    // Only coupons need the categories.
    categoryIds: hasCodes ? categoryIdsOfProduct(db, line.productId) : [],
    totalMinor: price.unitPriceMinor * line.quantity
  }))
  const checked = input.codes.map((sent) => checkCode(db, sent, discountable, { currency: input.currency, now }))
  const applied = checked.flatMap(({ path, coupon, scope, refusal }) =>
    coupon === null || refusal !== null ? [] : [{ path, coupon, scope }]
  )
  const discounts = discountLines(
    discountable,
    applied.map(({ coupon, scope }) => ({ ...coupon, ...scope })),
    input.currency
  )
  const customerKey = customerKeyOf(buyer)
  return {
    cartLines,
    codes: checked,
    itemRefusals,
    codeRefusals: checked.flatMap(({ refusal }) => refusal ?? []),
    terms,
    lines: priced.map(({ line, sellable, price }, index) =>
      toNewLine(line, sellable, price, discounts.byLine[index] ?? 0)
    ),
    coupons: applied.map(({ path, coupon }, index) => ({
      path,
      couponId: coupon.id,
      code: coupon.code,
      discountMinor: discounts.byCoupon[index] ?? 0,
      customerKey
    }))
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

function checkCode(
  db: Db,
  { path, code }: SentCode,
  lines: readonly DiscountableLine[],
  { currency, now }: { currency: string; now: number }
): CartCode & { scope: CouponScope } {
  const coupon = findCoupon(db, code) ?? null
  const scope = coupon === null ? { productIds: [], categoryIds: [] } : couponScope(db, coupon.id)
  const reason = refusalReason(coupon, scope, lines, now)
  const minimumMinor = coupon?.minTotalMinor ?? null
  const minimum = minimumMinor === null ? undefined : toMajor(minimumMinor, currency)
  return { path, code, coupon, scope, refusal: reason === undefined ? null : couponRefusal(path, reason, minimum) }
}

/** A cart in which nothing can be bought says nothing about a code, except whether it is active. */
function refusalReason(
  coupon: CouponRow | null,
  scope: CouponScope,
  lines: readonly DiscountableLine[],
  now: number
): CouponRefusal | undefined {
  if (coupon !== null && lines.length === 0) return inactiveReason(coupon, now)
  return findCouponRefusal(coupon ?? undefined, scope, { lines, now })
}
