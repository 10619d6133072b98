import { isDeepStrictEqual } from 'node:util'
import { validationFailed } from '../../errors.ts'
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
import { editBuyer } from './edit-order.ts'
import type { BuyerEdits } from './edit-order.ts'

/**
 * Changes an order for an operator. The invoice of a paid order is corrected if it names another buyer, the history says
 * what was changed, and the buyer gets an email with old and new.
 *
 * @returns the names of what is different now; none if nothing is
 * @throws AppError as editBuyer; for an unpaid order as changeUnpaid, whose payment pages are closed first
 */
export async function changeOrder(
  shop: ShopContext,
  orderId: number,
  edits: BuyerEdits,
  by: string
): Promise<string[]> {
  if (Object.keys(definedFields(edits)).length === 0) throw validationFailed({ _body: ['Nothing to change is given.'] })
  if (getOrder(shop.db, orderId).paidAt === null)
    return changeUnpaid(shop, orderId, by, (tx, order, now) => apply(tx, order, { edits, by }, now))
  return writeWhenFree(shop.db, (tx) => apply(tx, getOrder(tx, orderId), { edits, by }, shop.clock.now()))
}

function apply(tx: Tx, order: OrderRow, { edits, by }: { edits: BuyerEdits; by: string }, now: number): string[] {
  const details = detailsOf(tx, order)
  const changed = editBuyer(tx, order, edits, now)
  const fields = recordChange(tx, { before: order, order: changed }, { details, by }, now)
  if (fields.includes('email') && changed.paidAt !== null) mailClaim(tx, changed, now)
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
