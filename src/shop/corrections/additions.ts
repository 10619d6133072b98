import { eq } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { isBelowMinimum, shareMinor } from '../../platform/money.ts'
import { discountLines } from '../catalog/coupon-rules.ts'
import { couponScope } from '../catalog/coupons.ts'
import { discountableMinor } from '../catalog/product-types.ts'
import { categoryIdsOfProduct, productById, variationsOfProduct } from '../catalog/stored-product.ts'
import { coupons } from '../catalog/schema.ts'
import { assertPayable } from '../checkout/order-form.ts'
import { lacksAddress, lacksMethod } from '../checkout/shipping.ts'
import type { ShopContext } from '../context.ts'
import { buyerPrices } from '../groups/prices.ts'
import { sameBuyer } from '../orders/buyer.ts'
import { insertOrder } from '../orders/create-order.ts'
import type { ChosenShipping, NewLine } from '../orders/create-order.ts'
import { creditedMinor, dueMinor, holdCredit } from '../orders/refunds/credits.ts'
import { couponsOf, getOrder, itemsOf } from '../orders/find.ts'
import type { OrderCouponRow, OrderItemRow, OrderRow } from '../orders/find.ts'
import { refundsOfOrder, returnedUnits, splitRefund, storeOrderRefund } from '../orders/refunds/refund-lines.ts'
import type { RefundOfThings } from '../orders/refunds/refund-lines.ts'
import { copyAttribution, subscriptionInterval } from '../orders/renewal-order.ts'
import { takePaidTotal } from '../orders/reprice-order.ts'
import { orderCoupons, orders } from '../orders/schema.ts'
import { isReleasedStatus } from '../orders/states.ts'
import { isCovered, payNothing } from '../payments/attempts.ts'

/*
 * An order that is paid keeps its lines, its total and its documents. What is added to it is another order that names it, is
 * packed with it, and is paid by what the first order gives back: see orders/refunds/credits.ts.
 */

/** A line that is added. One that is an exchange keeps the price and discount of what comes back. */
export type AddedLine = NewLine & { isExchange?: boolean }

/** What is added to a paid order, and what that gives back for it. */
export type NewAddition = {
  lines: readonly AddedLine[]
  shipping: ChosenShipping | null
  /** What the order gives back. It counts towards the addition, up to its total. */
  back: RefundOfThings | null
  holdMinutes: number
}

/**
 * Adds to a paid order. It is paid immediately if the credit covers it, also if the rest is less than a card can pay: that is a
 * discount then. Otherwise its buyer pays the rest on its page, and the credit is held until then.
 *
 * @param from the order that gives back; an addition gives back for the order to which it was added
 * @returns the addition, and what the order gives back besides
 * @throws AppError VALIDATION_FAILED (`items`) for an addition that costs less than a card can pay, and for a subscription
 */
export function placeAddition(
  tx: Tx,
  shop: ShopContext,
  from: OrderRow,
  addition: NewAddition,
  now: number
): { addition: OrderRow; rest: RefundOfThings | null } {
  const { shipping, back, holdMinutes } = addition
  const to = rootOf(tx, from)
  const carried = carriedCoupons(tx, from, addition.lines)
  const order = insertOrder(
    tx,
    {
      ...sameBuyer(to),
      currency: to.currency,
      strategy: 'redirect_to_store',
      notes: null,
      returnUrl: null,
      cancelUrl: null,
      holdMinutes,
      by: 'operator',
      lines: carried.lines,
      coupons: [],
      shipping,
      attribution: null,
      addedTo: { orderId: to.id, carried: itemsOf(tx, to.id) }
    },
    now
  )
  for (const coupon of carried.coupons)
    tx.orm
      .insert(orderCoupons)
      .values({ ...coupon, orderId: order.id })
      .run()
  copyAttribution(tx, to.id, order, { earns: true }, now)
  const [credit, rest] = back === null ? [] : splitRefund(back, Math.min(back.amountMinor, order.totalMinor))
  if (credit !== undefined && credit.amountMinor > 0) {
    if (subscriptionInterval(itemsOf(tx, order.id)) !== null) throw validationFailed({ items: [noCredit] })
    holdCredit(tx, order.id, storeOrderRefund(tx, from, { ...credit, way: 'order' }, now), now)
  }
  const isDone = rest === undefined || (rest.amountMinor === 0 && rest.parts.length === 0)
  return { addition: settle(tx, shop, order, now), rest: isDone ? null : rest }
}

const noCredit =
  'A subscription is paid by card. What comes back cannot pay it: refund it, and let the buyer subscribe.'

function settle(tx: Tx, shop: ShopContext, order: OrderRow, now: number): OrderRow {
  if (lacksMethod(tx, order) || lacksAddress(tx, itemsOf(tx, order.id), order)) return order
  const creditMinor = creditedMinor(tx, order.id)
  if (creditMinor > 0 && isBelowMinimum(dueMinor(tx, order), order.currency)) takePaidTotal(tx, order, creditMinor, now)
  else assertPayable(shop, order, 'items')
  const priced = getOrder(tx, order.id)
  return isCovered(tx, shop.cards, priced) ? payNothing(tx, priced, now) : priced
}

/** The lines with the percentages of the order's coupons. What a coupon takes off once was taken off the order. */
function carriedCoupons(
  tx: Tx,
  to: OrderRow,
  lines: readonly AddedLine[]
): { lines: NewLine[]; coupons: Omit<OrderCouponRow, 'id' | 'orderId'>[] } {
  const carried = couponsOf(tx, to.id).flatMap(({ couponId, code, customerKey }) => {
    const coupon = tx.orm.select().from(coupons).where(eq(coupons.id, couponId)).get()
    const { percentBps = null } = coupon ?? {}
    return percentBps === null ? [] : [{ couponId, code, customerKey, percentBps, ...couponScope(tx, couponId) }]
  })
  if (carried.length === 0 || lines.length === 0) return { lines: [...lines], coupons: [] }
  const discountable = lines.map(({ productId, type, unitPriceMinor, quantity, isExchange = false }) => ({
    productId,
    categoryIds: categoryIdsOfProduct(tx, productId),
    totalMinor: isExchange ? 0 : discountableMinor({ type, amountMinor: unitPriceMinor * quantity })
  }))
  const discounts = discountLines(
    discountable,
    carried.map((coupon) => ({ ...coupon, amountMinor: null })),
    to.currency
  )
  return {
    lines: lines.map((line, index) => {
      if (line.isExchange === true) return line
      const discountMinor = discounts.byLine[index] ?? 0
      return { ...line, discountMinor, totalMinor: line.unitPriceMinor * line.quantity - discountMinor }
    }),
    coupons: carried.flatMap(({ couponId, code, customerKey }, index) => {
      const discountMinor = discounts.byCoupon[index] ?? 0
      return discountMinor === 0 ? [] : [{ couponId, code, customerKey, discountMinor, counted: 0, mailboxHash: null }]
    })
  }
}

/** The orders that add to an order, oldest first, without those that were given up. */
export function additionsOf(db: Db, orderId: number): OrderRow[] {
  return db.orm
    .select()
    .from(orders)
    .where(eq(orders.addedTo, orderId))
    .orderBy(orders.id)
    .all()
    .filter(({ status, paidAt }) => paidAt !== null || !isReleasedStatus(status))
}

/** The order that an order adds to; itself if it adds to none. */
export function rootOf(db: Db, order: OrderRow): OrderRow {
  return order.addedTo === null ? order : getOrder(db, order.addedTo)
}

/** What a buyer has of an order and its additions: not what was given back, or will be. */
export function linesNow(db: Db, order: OrderRow): { name: string; quantity: number }[] {
  const units = new Map<string, number>()
  for (const { id } of [order, ...additionsOf(db, order.id)]) {
    const returned = returnedUnits(db, id)
    for (const item of itemsOf(db, id))
      units.set(item.name, (units.get(item.name) ?? 0) + item.quantity - (returned.get(item.id) ?? 0))
  }
  return [...units].flatMap(([name, quantity]) => (quantity > 0 ? [{ name, quantity }] : []))
}

/** What a buyer pays for an order and its additions, without what goes back. */
export function totalNow(db: Db, order: OrderRow): number {
  return [order, ...additionsOf(db, order.id)].reduce((sum, { id, totalMinor }) => {
    const back = refundsOfOrder(db, id).filter(({ state }) => state !== 'failed')
    return sum + totalMinor - back.reduce((minor, { amountMinor }) => minor + amountMinor, 0)
  }, 0)
}

/**
 * A line in exchange for one that comes back, such as another size: if both cost its buyer the same at the moment, it has the price and
 * the discount of that line.
 */
export function inExchange(
  db: Db,
  { userId }: Pick<OrderRow, 'userId'>,
  line: NewLine,
  back: readonly OrderItemRow[],
  now: number
): AddedLine {
  const { productId, quantity } = line
  const product = productById(db, productId)
  if (product === undefined) return line
  const variations = variationsOfProduct(db, productId)
  const priceOf = buyerPrices(db, userId, now)
  const costs = (wanted: number | null): number => {
    const variation = variations.find(({ id }) => id === wanted) ?? null
    return priceOf(product, variation).unitPriceMinor
  }
  const like = back.find((item) => item.productId === productId && costs(item.variationId) === costs(line.variationId))
  if (like === undefined || quantity > like.quantity) return line
  const { unitPriceMinor, listPriceMinor } = like
  const [totalMinor = 0] = shareMinor(like.totalMinor, [quantity, like.quantity - quantity])
  const discountMinor = unitPriceMinor * quantity - totalMinor
  return { ...line, unitPriceMinor, listPriceMinor, discountMinor, totalMinor, isExchange: true }
}

/** What is added to an order goes to the same buyer at the same address. */
export function moveWith(
  tx: Tx,
  { id }: OrderRow,
  { email, emailKey, contact, shippingAddress, billingAddress }: OrderRow
): void {
  const buyer = { email, emailKey, contact, shippingAddress, billingAddress }
  tx.orm.update(orders).set(buyer).where(eq(orders.id, id)).run()
}
