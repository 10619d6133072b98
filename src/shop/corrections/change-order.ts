import { isDeepStrictEqual } from 'node:util'
import { AppError, validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { keysOf } from '../../platform/typed.ts'
import { shipToOf } from '../../platform/postal/address.ts'
import type { ShopContext } from '../context.ts'
import { mailBuyer, mailClaim } from '../orders/order-mails.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { correctBuyer } from '../orders/invoice-order.ts'
import { describeOverLimit, couponsOverLimit } from '../orders/coupon-uses.ts'
import { orderChanges } from '../orders/schema.ts'
import type { OrderDetails } from '../orders/schema.ts'
import { recordMove } from '../orders/transition.ts'
import { changeUnpaid } from '../payments/end-hold.ts'
import { emit } from '../webhooks/emit.ts'
import { editUnpaidLines, settleTotal } from './edit-lines.ts'
import type { LineEdits } from './edit-lines.ts'
import { assertOpen, editBuyer } from './edit-order.ts'
import type { BuyerEdits } from './edit-order.ts'

/** What an operator changes in an order: its buyer and shipping, and its lines. */
export type OrderEdits = { buyer: BuyerEdits } & LineEdits

/**
 * Changes an order for an operator. The invoice of a paid order is corrected if it names another buyer, the history says
 * what was changed, and the buyer gets an email with old and new.
 *
 * @returns the names of what is different now; none if nothing is
 * @throws AppError as editBuyer and editUnpaidLines; for an unpaid order as changeUnpaid, whose payment pages are closed
 *   first
 */
export async function changeOrder(
  shop: ShopContext,
  orderId: number,
  edits: OrderEdits,
  by: string
): Promise<string[]> {
  const { buyer, lines, add } = edits
  const changesLines = lines.length + add.length > 0
  if (Object.keys(definedFields(buyer)).length === 0 && !changesLines)
    throw validationFailed({ _body: ['Nothing to change is given.'] })
  const { paidAt } = getOrder(shop.db, orderId)
  if (paidAt === null)
    return changeUnpaid(shop, orderId, by, (tx, order, now) => apply(tx, shop, order, { edits, by }, now))
  if (changesLines) throw new AppError('CONFLICT', `Order ${orderId} is paid, so its lines cannot be changed.`)
  return writeWhenFree(shop.db, (tx) => apply(tx, shop, getOrder(tx, orderId), { edits, by }, shop.clock.now()))
}

function apply(
  tx: Tx,
  shop: ShopContext,
  order: OrderRow,
  { edits, by }: { edits: OrderEdits; by: string },
  now: number
): string[] {
  assertOpen(order)
  const { buyer, ...lineEdits } = edits
  const goodsChanged = lineEdits.lines.length + lineEdits.add.length > 0
  const details = detailsOf(tx, order)
  const changed = goodsChanged ? editUnpaidLines(tx, order, lineEdits, now) : order
  const edited = editBuyer(tx, changed, { ...buyer, goodsChanged }, now)
  const fields = recordChange(tx, { before: order, order: edited }, { details, by }, now)
  if (fields.includes('email') && edited.paidAt !== null) mailClaim(tx, edited, now)
  if (goodsChanged) settleTotal(tx, shop, edited, now)
  return fields
}

/** The parts of an order that an operator can correct. */
export function detailsOf(db: Db, order: OrderRow): OrderDetails {
  const { contact, email, shippingMethod, totalMinor } = order
  const shipTo = shipToOf(order) ?? order.shippingAddress
  return {
    ...contact,
    ...(email === null ? {} : { email }),
    ...(shipTo === null ? {} : { shipTo }),
    ...(shippingMethod === null ? {} : { shippingMethod: shippingMethod.name }),
    lines: itemsOf(db, order.id).map(({ name, quantity }) => ({ name, quantity })),
    totalMinor
  }
}

/**
 * Records that an order was changed: its invoice is corrected, the history and an event name what is different, and the
 * buyer gets an email. Without a difference, nothing is recorded.
 *
 * @param details what the order had before
 * @returns the names of what is different
 */
export function recordChange(
  tx: Tx,
  { before, order }: { before: OrderRow; order: OrderRow },
  { details, by }: { details: OrderDetails; by: string },
  now: number
): string[] {
  const after = detailsOf(tx, order)
  const fields = keysOf({ ...details, ...after }).filter((key) => !isDeepStrictEqual(details[key], after[key]))
  if (fields.length === 0) return []
  const { id: orderId, status } = order
  const { id: changeId } = tx.orm
    .insert(orderChanges)
    .values({ orderId, before: only(details, fields), after: only(after, fields), by, at: now })
    .returning({ id: orderChanges.id })
    .get()
  const invoice = correctBuyer(tx, { before, order }, now)
  const { email } = order
  const overLimit = describeOverLimit(
    fields.includes('email') && email !== null ? couponsOverLimit(tx, orderId, email) : []
  )
  const reason = [
    `changed: ${fields.map((field) => words[field]).join(', ')}`,
    ...(invoice === undefined ? [] : [`invoice ${invoice.cancelled} replaced by ${invoice.number}`]),
    ...(overLimit === null ? [] : [overLimit])
  ].join('; ')
  recordMove(tx, { orderId, from: status, to: status, by, reason, at: now })
  emit(tx, 'order.changed', { orderId, fields }, now)
  mailBuyer(tx, order, { template: 'order_changed', data: { orderId, changeId } }, now)
  return fields
}

const words = {
  firstName: 'first name',
  lastName: 'last name',
  companyName: 'company',
  phone: 'phone',
  email: 'email',
  shipTo: 'address',
  shippingMethod: 'shipping method',
  lines: 'lines',
  totalMinor: 'total'
} as const satisfies Record<keyof OrderDetails, string>

function only(details: OrderDetails, fields: readonly string[]): OrderDetails {
  return Object.fromEntries(Object.entries(details).filter(([name]) => fields.includes(name)))
}
