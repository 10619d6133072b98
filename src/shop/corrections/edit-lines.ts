import { eq } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { returnStock } from '../catalog/stock.ts'
import { findLines, toNewLine } from '../checkout/cart.ts'
import type { Item } from '../checkout/cart.ts'
import { sessionRefusals, addedLines } from '../checkout/refusals.ts'
import { buyerPrices } from '../groups/prices.ts'
import type { NewLine } from '../orders/create-order.ts'
import { itemsOf } from '../orders/find.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { countedStock, takeUnits } from '../orders/holds.ts'
import { cartRefused, notEnough, refusal } from '../orders/problems.ts'
import type { LineQuantity } from '../orders/refunds/refund-lines.ts'
import { repriceOrder } from '../orders/reprice-order.ts'
import { orderItems } from '../orders/schema.ts'
import { chargedPrice, termsOfOrder } from '../orders/totals.ts'

/** Other quantities of lines, by their number from 1, where 0 removes a line; and what is added. */
export type LineEdits = { lines: readonly LineQuantity[]; add: readonly Item[] }

/** @throws AppError VALIDATION_FAILED (`lines`) for a line that does not exist or is given twice */
export function assertLines(items: readonly OrderItemRow[], lines: readonly LineQuantity[]): void {
  const problems = lines.flatMap(({ line }, index) => {
    if (lines.findIndex((each) => each.line === line) < index) return [`Line ${line} is given twice.`]
    return items[line - 1] === undefined ? [`The order has no line ${line}.`] : []
  })
  if (problems.length > 0) throw validationFailed({ lines: problems })
}

/**
 * What is added to an order, at the prices that its buyer has at the moment. A product that is there already is a line of its own.
 *
 * @throws AppError VALIDATION_FAILED (`items.N`) for what cannot be sold
 */
export function addedLinesOf(tx: Tx, order: OrderRow, add: readonly Item[], now: number): NewLine[] {
  const { lines, refusals } = findLines(tx, add, buyerPrices(tx, order.userId, now))
  if (refusals.length > 0) throw cartRefused(refusals, 'Some items cannot be bought.')
  const terms = termsOfOrder(tx, order)
  return lines.flatMap((line) => {
    const { sellable } = line
    if (sellable === null) return []
    const kind = { type: sellable.type, taxClass: sellable.product.taxClass }
    const catalog = { catalogMinor: sellable.unitPriceMinor, quantity: line.quantity }
    return toNewLine(line, sellable, chargedPrice(terms, kind, catalog, order.currency), 0)
  })
}

/**
 * Changes the lines of an order that is not paid, its stock, discounts and taxes. What was ordered keeps its price.
 * `editBuyer` computes the shipping for the new lines.
 *
 * @throws AppError VALIDATION_FAILED (`lines`, `items.N`)
 */
export function editUnpaidLines(tx: Tx, order: OrderRow, { lines, add }: LineEdits, now: number): OrderRow {
  assertLines(itemsOf(tx, order.id), lines)
  for (const [index, item] of itemsOf(tx, order.id).entries()) {
    const wanted = lines.find(({ line }) => line === index + 1)
    if (wanted !== undefined) setQuantity(tx, item, wanted.quantity)
  }
  for (const line of addedLinesOf(tx, order, add, now)) addLine(tx, order, line)
  const items = itemsOf(tx, order.id)
  if (items.length === 0) throw validationFailed({ lines: ['Nothing would be left. Cancel the order instead.'] })
  const refusals = sessionRefusals(
    items.map((item, index) => ({ ...item, path: `items.${index}` })),
    addedLines(tx)
  )
  if (refusals.length > 0) throw cartRefused(refusals, 'Some items cannot be bought together.')
  return repriceOrder(tx, order, now)
}

function setQuantity(tx: Tx, item: OrderItemRow, quantity: number): void {
  const { id, unitPriceMinor, stockTaken } = item
  const back = Math.max(0, stockTaken - quantity)
  if (back > 0) returnStock(tx, item, back)
  if (quantity === 0) {
    tx.orm.delete(orderItems).where(eq(orderItems.id, id)).run()
    return
  }
  const more = Math.max(0, quantity - item.quantity)
  const taken = more === 0 ? 0 : take(tx, item, more)
  const amounts = { quantity, discountMinor: 0, totalMinor: unitPriceMinor * quantity }
  tx.orm
    .update(orderItems)
    .set({ ...amounts, stockTaken: stockTaken - back + taken })
    .where(eq(orderItems.id, id))
    .run()
}

/** Takes units from the stock. @throws AppError VALIDATION_FAILED when there are too few */
function take(tx: Tx, item: Pick<OrderItemRow, 'productId' | 'variationId' | 'name'>, quantity: number): number {
  const taken = takeUnits(tx, item, quantity)
  if (taken !== null) return taken
  throw cartRefused([refusal(notEnough('items', item.name, countedStock(tx, item)?.units ?? 0))])
}

/** What the order has at the same price becomes more; anything else is a line of its own. */
function addLine(tx: Tx, { id: orderId }: OrderRow, { path: _path, ...line }: NewLine): void {
  const same = itemsOf(tx, orderId).find(
    ({ productId, variationId, unitPriceMinor }) =>
      productId === line.productId && variationId === line.variationId && unitPriceMinor === line.unitPriceMinor
  )
  if (same !== undefined) return setQuantity(tx, same, same.quantity + line.quantity)
  const stockTaken = take(tx, line, line.quantity)
  tx.orm
    .insert(orderItems)
    .values({ ...line, orderId, stockTaken, taxRow: null })
    .run()
}
