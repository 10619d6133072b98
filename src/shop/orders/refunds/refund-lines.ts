import { asc, desc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { validationFailed } from '../../../errors.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { toIsoOrNull } from '../../../platform/iso-time.ts'
import { formatMoney, shareMinor, toMajor } from '../../../platform/money.ts'
import { isVoucher } from '../../catalog/product-types.ts'
import { usedCards } from '../../gift-cards/sold.ts'
import type { Goods } from '../../referrals/commission.ts'
import { shareEvenly, shippingShares } from '../../tax/terms.ts'
import { couponsOf, itemsOf } from '../find.ts'
import type { OrderItemRow, OrderRow } from '../find.ts'
import { orderRefunds, refundLines } from './schema.ts'
import type { RefundView } from '../shapes.ts'
import { netGoodsMinor, taxesOfOrder } from '../totals.ts'

export type OrderRefundRow = typeof orderRefunds.$inferSelect
export type RefundLineRow = typeof refundLines.$inferSelect

/** A quantity of a line of the order, by the line's number from 1. */
export type LineQuantity = { line: number; quantity: number }

/** What an operator gives back. Without items, shipping and amount it is the rest of the order. */
export type WantedRefund = {
  items?: readonly LineQuantity[] | undefined
  /** Minor units with tax, or `all` that is left. */
  shipping?: number | 'all' | undefined
  /** Minor units: less than the items cost, or an amount for no item. */
  amountMinor?: number | undefined
  /** What goes back to the stock; by default what was never shipped. */
  restock?: readonly LineQuantity[] | 'none' | undefined
  reason?: string | undefined
}

/** What an operator says about a refund or a return, for the history. */
export const reasonInput = z.object({
  reason: z
    .string()
    .trim()
    .refine((text) => /^[^\p{Cc}]{1,500}$/u.test(text), 'The reason must be one line of 1 to 500 characters.')
    .optional()
})

/** A part of an order's total: a line item, or the shipping at one tax rate. Amounts in minor units, with tax. */
export type Part = {
  item: OrderItemRow | null
  /** The number of the line in the order, from 1; 0 for shipping. */
  line: number
  taxRow: number | null
  quantity: number
  amountMinor: number
  taxMinor: number
}

type ReturnedPart = Part & { restock: number | null }

/** A refund that fits its order: its amount in minor units, and its lines. */
export type RefundOfThings = { amountMinor: number; parts: readonly ReturnedPart[]; reason: string | null }

/** The parts of an order, which add up to its total and, for each tax, to that tax. */
export function partsOf(db: Db, order: OrderRow): Part[] {
  const items = itemsOf(db, order.id)
  if (order.imported) return importedParts(order, items)
  const taxes = taxesOfOrder(db, order.id)
  const shares = shippingShares(items, order.shippingMinor)
  const rows = [...taxes.keys(), null]
  const taxedMinor = taxes.reduce((sum, { baseMinor, amountMinor }) => sum + baseMinor + amountMinor, 0)
  const hasGoods = (taxRow: number | null): boolean => items.some((item) => item.taxRow === taxRow)
  const largest = [...taxes.keys()]
    .filter(hasGoods)
    .toSorted((a, b) => (taxes[b]?.baseMinor ?? 0) - (taxes[a]?.baseMinor ?? 0))[0]
  // The taxes of another shop can differ from its total by the cents of its rounding.
  const restMinor = order.totalMinor - taxedMinor
  const isRounding = largest !== undefined && !hasGoods(null) && restMinor <= items.length
  const sumsOf = (taxRow: number | null) => {
    const { baseMinor, amountMinor } = taxes[taxRow ?? -1] ?? { baseMinor: isRounding ? 0 : restMinor, amountMinor: 0 }
    return { baseMinor: baseMinor + (isRounding && taxRow === largest ? restMinor : 0), amountMinor }
  }
  // Of an order that only ships the goods of another one, or one of another shop that taxed its shipping by itself.
  const isShippingApart = rows.some((taxRow) => !hasGoods(taxRow) && sumsOf(taxRow).baseMinor > 0)
  const found = rows.flatMap((taxRow) => {
    const { baseMinor, amountMinor: taxMinor } = sumsOf(taxRow)
    const goods = items.flatMap((item, index) =>
      item.taxRow === taxRow
        ? [{ item, line: index + 1, taxRow, quantity: item.quantity, weight: item.totalMinor }]
        : []
    )
    const shipped = !hasGoods(taxRow)
      ? baseMinor + taxMinor
      : isShippingApart
        ? 0
        : shares.reduce((sum, share, index) => sum + (items[index]?.taxRow === taxRow ? share : 0), 0)
    const shipping = shipped === 0 ? [] : [{ item: null, line: 0, taxRow, quantity: 0, weight: shipped }]
    const members = [...goods, ...shipping]
    const weights = members.map(({ weight }) => weight)
    const taxOf = shareEvenly(taxMinor, weights)
    const priceOf = shareEvenly(order.taxIncluded ? baseMinor + taxMinor : baseMinor, weights)
    return members.map(({ weight: _weight, ...part }, index) => {
      const tax = taxOf[index] ?? 0
      return { ...part, taxMinor: tax, amountMinor: (priceOf[index] ?? 0) + (order.taxIncluded ? 0 : tax) }
    })
  })
  return found.toSorted((a, b) => (a.line || Infinity) - (b.line || Infinity))
}

/** The parts of an order of another shop, which does not say what each tax was for: its goods and its shipping share the sums. */
function importedParts(order: OrderRow, items: readonly OrderItemRow[]): Part[] {
  const { goodsTaxMinor, taxMinor, shippingMinor, taxIncluded } = order
  const priced = (amountMinor: number, tax: number) => ({
    amountMinor: amountMinor + (taxIncluded ? 0 : tax),
    taxMinor: taxIncluded ? Math.min(tax, amountMinor) : tax
  })
  const shares =
    items.length === 0
      ? []
      : shareEvenly(
          goodsTaxMinor,
          items.map(({ totalMinor }) => totalMinor)
        )
  const goods = items.map((item, index) => {
    const { taxRow, quantity, totalMinor } = item
    return { item, line: index + 1, taxRow, quantity, ...priced(totalMinor, shares[index] ?? 0) }
  })
  const shippingTaxMinor = taxMinor - (items.length === 0 ? 0 : goodsTaxMinor)
  const shipping = { item: null, line: 0, taxRow: null, quantity: 0, ...priced(shippingMinor, shippingTaxMinor) }
  return shipping.amountMinor === 0 ? goods : [...goods, shipping]
}

/** What is left of the parts of an order after its refunds, also those that the gateway has not finished. */
function partsLeft(db: Db, order: OrderRow): Part[] {
  const returned = linesOfRefunds(db, order.id)
  return partsOf(db, order).map((part) => {
    const before = returned.filter(
      ({ orderItemId, taxRow }) => orderItemId === (part.item?.id ?? null) && taxRow === part.taxRow
    )
    const sum = (of: (line: RefundLineRow) => number): number => before.reduce((total, line) => total + of(line), 0)
    return {
      ...part,
      quantity: part.quantity - sum(({ quantity }) => quantity),
      amountMinor: part.amountMinor - sum(({ amountMinor }) => amountMinor),
      taxMinor: part.taxMinor - sum(({ taxMinor }) => taxMinor)
    }
  })
}

/**
 * The amount and the lines of a wanted refund. An amount without items has no lines: it is returned in proportion to what
 * is left.
 *
 * @param leftMinor what is left of the order's total
 * @throws AppError VALIDATION_FAILED (`items`, `shipping`, `amount`, `restock`) for more than is left
 */
export function planRefundLines(db: Db, order: OrderRow, wanted: WantedRefund, leftMinor: number): RefundOfThings {
  const left = partsLeft(db, order)
  const { items, shipping, amountMinor, reason = null } = wanted
  const isNamed = items !== undefined || shipping !== undefined
  const chosen = isNamed
    ? [...chooseItems(left, items ?? []), ...chooseShipping(order, left, shipping)]
    : amountMinor === undefined
      ? left
      : []
  refuseUsedCards(db, order, { chosen, hasLines: isNamed || amountMinor === undefined })
  const sumMinor = chosen.reduce((sum, part) => sum + part.amountMinor, 0)
  const wantedMinor = amountMinor ?? (isNamed ? sumMinor : leftMinor)
  if (isNamed) checkAmount(order, wantedMinor, sumMinor)
  const parts = chosen.length === 0 || wantedMinor > sumMinor ? [] : toAmount(chosen, wantedMinor)
  return { amountMinor: wantedMinor, parts: withRestock(parts, wanted.restock), reason }
}

/**
 * A gift card that has paid an order is not given back, because its buyer would have its money and what it bought.
 *
 * @throws AppError VALIDATION_FAILED (`items`, `amount`)
 */
function refuseUsedCards(
  db: Db,
  { id }: OrderRow,
  { chosen, hasLines }: { chosen: readonly Part[]; hasLines: boolean }
): void {
  const returned = returnedUnits(db, id)
  // Those of an order on hold are not issued yet.
  const unusedOf = (item: OrderItemRow): number => item.quantity - (returned.get(item.id) ?? 0) - usedCards(db, item.id)
  if (!hasLines && itemsOf(db, id).some((item) => isVoucher(item.type) && unusedOf(item) > 0))
    throw validationFailed({
      amount: ['The order sold gift cards: refund its lines, so that the cards are cancelled.']
    })
  const problems = chosen.flatMap(({ item, line, quantity }) => {
    if (item === null || quantity === 0 || !isVoucher(item.type)) return []
    const left = unusedOf(item)
    return left >= quantity
      ? []
      : [`Of the gift cards of line ${line}, ${left} are unused. Used ones cannot be refunded.`]
  })
  if (problems.length > 0) throw validationFailed({ items: problems })
}

function checkAmount({ currency }: OrderRow, amountMinor: number, sumMinor: number): void {
  if (Number.isSafeInteger(amountMinor) && amountMinor >= 0 && amountMinor <= sumMinor) return
  throw validationFailed({ amount: [`Must be at most ${formatMoney(sumMinor, currency)}, what these lines cost.`] })
}

function chooseItems(left: readonly Part[], items: readonly LineQuantity[]): Part[] {
  const problems: string[] = []
  const chosen = items.flatMap(({ line, quantity }, index) => {
    const part = left.find((each) => each.line === line)
    if (isRepeated(items, index)) problems.push(`Line ${line} is given twice.`)
    else if (part === undefined || part.item === null) problems.push(`The order has no line ${line}.`)
    else if (quantity > part.quantity)
      problems.push(`Of line ${line} (${part.item.name}), ${part.quantity} are left to refund.`)
    else return takeOf(part, quantity)
    return []
  })
  if (problems.length > 0) throw validationFailed({ items: problems })
  return chosen
}

/** Whether the line of an entry stands in an earlier one, too. */
function isRepeated(quantities: readonly LineQuantity[], index: number): boolean {
  return quantities.findIndex(({ line }) => line === quantities[index]?.line) < index
}

function takeOf(part: Part, quantity: number): Part {
  if (quantity === part.quantity) return part
  const amountMinor = shareMinor(part.amountMinor, [quantity, part.quantity - quantity])[0] ?? 0
  return { ...withAmount(part, amountMinor), quantity }
}

/** A part at another amount, with the tax in it. */
function withAmount(part: Part, amountMinor: number): Part {
  const [, taxMinor = 0] = shareMinor(amountMinor, [part.amountMinor - part.taxMinor, part.taxMinor])
  return { ...part, amountMinor, taxMinor }
}

function chooseShipping(order: OrderRow, left: readonly Part[], shipping: WantedRefund['shipping']): Part[] {
  if (shipping === undefined) return []
  const parts = left.filter(({ item }) => item === null)
  const sumMinor = parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const wantedMinor = shipping === 'all' ? sumMinor : shipping
  if (wantedMinor === 0 || wantedMinor > sumMinor) {
    const most = formatMoney(sumMinor, order.currency)
    throw validationFailed({ shipping: [`Must be above zero and at most ${most}, what is left of the shipping.`] })
  }
  return toAmount(parts, wantedMinor)
}

function toAmount(parts: readonly Part[], amountMinor: number): Part[] {
  const amounts = parts.map((part) => part.amountMinor)
  const sumMinor = amounts.reduce((sum, amount) => sum + amount, 0)
  if (amountMinor === sumMinor) return [...parts].filter(isSomething)
  const shares = shareMinor(amountMinor, amounts)
  return parts.map((part, index) => withAmount(part, shares[index] ?? 0)).filter(isSomething)
}

function isSomething({ quantity, amountMinor }: Part): boolean {
  return quantity > 0 || amountMinor > 0
}

function withRestock(parts: readonly Part[], restock: WantedRefund['restock']): ReturnedPart[] {
  if (restock === undefined || restock === 'none')
    return parts.map((part) => ({ ...part, restock: restock === 'none' ? 0 : null }))
  const problems = restock.flatMap(({ line, quantity }, index) => {
    if (isRepeated(restock, index)) return [`Line ${line} is given twice.`]
    const returned = parts.find((part) => part.item !== null && part.line === line)?.quantity ?? 0
    return quantity > returned ? [`The refund gives back ${returned} of line ${line}.`] : []
  })
  if (problems.length > 0) throw validationFailed({ restock: problems })
  return parts.map((part) => ({
    ...part,
    restock: restock.find(({ line }) => line === part.line)?.quantity ?? 0
  }))
}

/**
 * Divides a refund into one of an amount and the rest. The first has the goods; both have their share of each tax.
 *
 * @param firstMinor at most the amount of the refund
 */
export function splitRefund(refund: RefundOfThings, firstMinor: number): [first: RefundOfThings, rest: RefundOfThings] {
  const { amountMinor, parts, reason } = refund
  if (firstMinor === amountMinor) return [refund, { amountMinor: 0, parts: [], reason }]
  if (parts.length === 0)
    return [
      { amountMinor: firstMinor, parts, reason },
      { amountMinor: amountMinor - firstMinor, parts, reason }
    ]
  const amounts = shareMinor(
    firstMinor,
    parts.map((part) => part.amountMinor)
  )
  const first = parts.map((part, index) => ({ ...withAmount(part, amounts[index] ?? 0), restock: part.restock }))
  const rest = parts.map((part, index) => {
    const { amountMinor: taken = 0, taxMinor = 0 } = first[index] ?? {}
    const left = { amountMinor: part.amountMinor - taken, taxMinor: part.taxMinor - taxMinor }
    return { ...part, ...left, quantity: 0, restock: 0 }
  })
  return [
    { amountMinor: firstMinor, parts: first.filter(isSomething), reason },
    { amountMinor: amountMinor - firstMinor, parts: rest.filter(isSomething), reason }
  ]
}

/** Stores a refund that was requested. `recordRefund` applies it when the money is on its way. */
export function storeOrderRefund(
  tx: Tx,
  order: OrderRow,
  refund: RefundOfThings & Partial<Pick<OrderRefundRow, 'way' | 'giftCardId'>>,
  now: number
): OrderRefundRow {
  const { amountMinor, parts, reason, way = 'payment', giftCardId = null } = refund
  const ofItems = parts.reduce((sum, part) => sum + (part.item === null ? 0 : part.amountMinor), 0)
  const goodsMinor = parts.length > 0 ? ofItems : goodsShare(tx, order, amountMinor)
  const row = tx.orm
    .insert(orderRefunds)
    .values({ orderId: order.id, amountMinor, goodsMinor, reason, state: 'requested', way, giftCardId, createdAt: now })
    .returning()
    .get()
  for (const { item, taxRow, quantity, amountMinor, taxMinor, restock } of parts)
    tx.orm
      .insert(refundLines)
      .values({ refundId: row.id, orderItemId: item?.id ?? null, taxRow, quantity, amountMinor, taxMinor, restock })
      .run()
  return row
}

/** The goods in an amount that names no lines: in proportion to what is left of goods and shipping. */
function goodsShare(db: Db, order: OrderRow, amountMinor: number): number {
  const goodsLeft = goodsOf(db, order).lines.reduce((sum, line) => sum + line.goodsMinor - line.refundedMinor, 0)
  const left = order.totalMinor - order.refundedMinor
  if (goodsLeft >= left) return amountMinor
  return shareMinor(amountMinor, [goodsLeft, left - goodsLeft])[0] ?? 0
}

/** The goods of an order, from which its commission is computed, with what its refunds have returned of each line. */
export function goodsOf(db: Db, order: OrderRow): Goods {
  const parts = partsOf(db, order).flatMap(({ item, ...part }) => (item === null ? [] : [{ item, ...part }]))
  const withoutTax = parts.map(({ amountMinor, taxMinor }) => amountMinor - taxMinor)
  const isFree = withoutTax.every((amount) => amount === 0)
  const bases = isFree ? withoutTax : shareMinor(netGoodsMinor(order), withoutTax)
  const done = refundsOfOrder(db, order.id).filter(({ state }) => state === 'done')
  const refundedMinor = refundedOf(db, parts, done)
  const lines = parts.map(({ item, amountMinor }, index) => ({
    itemId: item.id,
    productId: item.productId,
    baseMinor: bases[index] ?? 0,
    goodsMinor: amountMinor,
    refundedMinor: refundedMinor[index] ?? 0,
    isVoucher: isVoucher(item.type)
  }))
  return { lines, couponIds: couponsOf(db, order.id).map(({ couponId }) => couponId) }
}

/** What refunds have returned of each part. An amount that names no lines is returned in proportion to what is left. */
function refundedOf(
  db: Db,
  parts: readonly { item: OrderItemRow; amountMinor: number }[],
  refunds: readonly OrderRefundRow[]
): number[] {
  const withLines = refunds.map((refund) => ({ refund, lines: linesOfRefund(db, refund.id) }))
  const named = parts.map(({ item }) =>
    withLines
      .flatMap(({ lines }) => lines)
      .reduce((sum, line) => sum + (line.orderItemId === item.id ? line.amountMinor : 0), 0)
  )
  const left = parts.map(({ amountMinor }, index) => Math.max(0, amountMinor - (named[index] ?? 0)))
  const leftMinor = left.reduce((sum, part) => sum + part, 0)
  const unnamedMinor = withLines.reduce(
    (sum, { refund, lines }) => sum + (lines.length === 0 ? refund.goodsMinor : 0),
    0
  )
  const shares = shareMinor(Math.min(unnamedMinor, leftMinor), left)
  return named.map((part, index) => part + (shares[index] ?? 0))
}

/** The refunds of an order, oldest first, also those that are not finished or failed. */
export function refundsOfOrder(db: Db, orderId: number): OrderRefundRow[] {
  return db.orm.select().from(orderRefunds).where(eq(orderRefunds.orderId, orderId)).orderBy(asc(orderRefunds.id)).all()
}

/** The refund with an id. */
export function findOrderRefund(db: Db, id: number): OrderRefundRow | undefined {
  return db.orm.select().from(orderRefunds).where(eq(orderRefunds.id, id)).get()
}

/** The refund of an order that was finished last. */
export function lastRefundOf(db: Db, orderId: number): OrderRefundRow | undefined {
  return db.orm
    .select()
    .from(orderRefunds)
    .where(eq(orderRefunds.orderId, orderId))
    .orderBy(desc(orderRefunds.doneAt), desc(orderRefunds.id))
    .limit(1)
    .get()
}

/** The lines of a refund; none for one of an amount. */
export function linesOfRefund(db: Db, refundId: number): RefundLineRow[] {
  return db.orm.select().from(refundLines).where(eq(refundLines.refundId, refundId)).orderBy(asc(refundLines.id)).all()
}

/** The lines of all refunds of an order that did not fail. */
function linesOfRefunds(db: Db, orderId: number): RefundLineRow[] {
  return refundsOfOrder(db, orderId).flatMap(({ id, state }) => (state === 'failed' ? [] : linesOfRefund(db, id)))
}

/** The lines of a refund by the number of their line in the order, and the shipping that it returns, in minor units. */
export function returnedLines(db: Db, orderId: number, lines: readonly RefundLineRow[]) {
  const items = itemsOf(db, orderId)
  const shipping = lines.filter(({ orderItemId }) => orderItemId === null)
  return {
    lines: lines
      .filter(({ orderItemId }) => orderItemId !== null)
      .map(({ orderItemId, quantity, amountMinor }) => {
        const index = items.findIndex(({ id }) => id === orderItemId)
        return { line: index + 1, name: items[index]?.name ?? '', quantity, amountMinor }
      }),
    shippingMinor: shipping.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  }
}

/** The refunds of an order in their public form, oldest first. */
export function listRefunds(db: Db, { id: orderId, currency }: Pick<OrderRow, 'id' | 'currency'>): RefundView[] {
  const major = (minor: number): number => toMajor(minor, currency)
  // What a change that was not paid for would have given back stays with the order.
  const shown = refundsOfOrder(db, orderId).filter(({ way, state }) => way !== 'order' || state !== 'failed')
  return shown.map(({ id, state, way, amountMinor, doneAt }) => {
    const { lines, shippingMinor } = returnedLines(db, orderId, linesOfRefund(db, id))
    return {
      refundedAt: toIsoOrNull(doneAt),
      state,
      way,
      amount: major(amountMinor),
      lines: lines.map(({ amountMinor, ...line }) => ({ ...line, amount: major(amountMinor) })),
      shipping: major(shippingMinor)
    }
  })
}

/** How many units of each line item the refunds of an order give back, by the item's id. */
export function returnedUnits(db: Db, orderId: number): ReadonlyMap<number, number> {
  const units = new Map<number, number>()
  for (const { orderItemId, quantity } of linesOfRefunds(db, orderId))
    if (orderItemId !== null) units.set(orderItemId, (units.get(orderItemId) ?? 0) + quantity)
  return units
}

/** Stores that a refund is finished or failed. */
export function setRefundState(tx: Tx, id: number, state: 'done' | 'failed', now: number): OrderRefundRow {
  return tx.orm
    .update(orderRefunds)
    .set({ state, doneAt: state === 'done' ? now : sql`${orderRefunds.doneAt}` })
    .where(eq(orderRefunds.id, id))
    .returning()
    .get()
}
