import { isDeepStrictEqual } from 'node:util'
import { validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { dryRun } from '../../platform/db/dry-run.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { keysOf } from '../../platform/typed.ts'
import { shipToOf } from '../../platform/postal/address.ts'
import { settleTotal } from '../checkout/order-form.ts'
import type { ShopContext } from '../context.ts'
import { mailBuyer, mailClaim } from '../orders/order-mails.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { correctBuyer } from '../orders/invoice-order.ts'
import { describeOverLimit, couponsOverLimit } from '../orders/coupon-uses.ts'
import { orderChanges } from '../orders/schema.ts'
import type { OrderDetails } from '../orders/schema.ts'
import { recordMove } from '../orders/transition.ts'
import { changeUnpaid } from '../payments/end-hold.ts'
import { runWithRefunds } from '../payments/refund.ts'
import type { UnitOfWork } from '../payments/warnings.ts'
import { emit } from '../webhooks/emit.ts'
import { additionsOf, linesNow, moveWith, rootOf, totalNow } from './additions.ts'
import { changePaid, goodsOf, noChange } from './change-paid.ts'
import type { Changed } from './change-paid.ts'
import { editUnpaidLines } from './edit-lines.ts'
import type { LineEdits } from './edit-lines.ts'
import { assertOpen, editBuyer } from './edit-order.ts'
import type { BuyerEdits } from './edit-order.ts'

/** What an operator changes in an order: its buyer and shipping, and its lines. */
export type OrderEdits = { buyer: BuyerEdits } & LineEdits & {
    /** How long what is added to a paid order waits for its payment. */
    holdMinutes: number
  }

/** What a change has led to: the names of what is different now, the order that adds to it, and what goes back. */
export type OrderChange = { fields: string[] } & Changed

/**
 * Changes an order for an operator. The invoice of a paid order is corrected if it names another buyer, the history says
 * what was changed, and the buyer gets an email with the old and the new. What is taken from a paid order is given back, and what is
 * added is an order of its own (change-paid.ts).
 *
 * @throws AppError as editBuyer, editUnpaidLines and changePaid; for an unpaid order as changeUnpaid, whose payment pages are
 *   closed first; as requestRefund, when the change is stored
 */
export async function changeOrder(
  shop: ShopContext,
  orderId: number,
  edits: OrderEdits,
  by: string
): Promise<OrderChange> {
  const { buyer, lines, add } = edits
  if (Object.keys(definedFields(buyer)).length + lines.length + add.length === 0)
    throw validationFailed({ _body: ['Nothing to change is given.'] })
  const { paidAt } = getOrder(shop.db, orderId)
  if (paidAt === null) {
    const fields = await changeUnpaid(shop, orderId, by, (tx, order, now) =>
      editUnpaid(tx, shop, order, { edits, by }, now)
    )
    return { fields, ...noChange }
  }
  return runWithRefunds(shop, by, (unit) => editPaid(unit, shop, orderId, edits))
}

/**
 * What `changeOrder` would do with a paid order, for the operator to confirm. Nothing is stored.
 *
 * @throws AppError as changeOrder, for everything that is known before the gateway is asked to refund
 */
export function planChange(shop: ShopContext, orderId: number, edits: OrderEdits, by: string): OrderChange {
  const now = shop.clock.now()
  return dryRun(shop.db, (tx) => editPaid({ tx, log: shop.log, by, now }, shop, orderId, edits))
}

function editUnpaid(
  tx: Tx,
  shop: ShopContext,
  order: OrderRow,
  { edits, by }: { edits: OrderEdits; by: string },
  now: number
): string[] {
  assertOpen(order)
  const { buyer, lines, add } = edits
  const goodsChanged = lines.length + add.length > 0
  const details = detailsOf(tx, order)
  const changed = goodsChanged ? editUnpaidLines(tx, order, { lines, add }, now) : order
  const edited = editBuyer(tx, changed, { ...buyer, goodsChanged }, now)
  const fields = recordChange(tx, { before: order, order: edited }, { details, by, additionId: null }, now)
  if (goodsChanged) settleTotal(tx, shop, edited, 'lines', now)
  return fields
}

function editPaid(unit: UnitOfWork, shop: ShopContext, orderId: number, edits: OrderEdits): OrderChange {
  const { tx, by, now } = unit
  const order = getOrder(tx, orderId)
  assertOpen(order)
  const { buyer, holdMinutes, ...lineEdits } = edits
  const details = detailsOf(tx, order)
  const edited = editBuyer(tx, order, { ...buyer, goodsChanged: false }, now)
  for (const addition of additionsOf(tx, orderId)) moveWith(tx, addition, edited)
  const change = { ...goodsOf(tx, edited, lineEdits), methodId: buyer.shippingMethod, holdMinutes }
  const isSame = change.back.length + change.add.length === 0 && buyer.shippingMethod === undefined
  const changed = isSame ? noChange : changePaid(unit, shop, edited, change)
  const additionId = changed.addition?.id ?? null
  const fields = recordChange(tx, { before: order, order: getOrder(tx, orderId) }, { details, by, additionId }, now)
  if (fields.includes('email')) mailClaim(tx, getOrder(tx, orderId), now)
  return { fields, ...changed }
}

/** The parts of an order that an operator can correct, with what was added to it. */
export function detailsOf(db: Db, order: OrderRow): OrderDetails {
  const { contact, email } = order
  const shipTo = shipToOf(order) ?? order.shippingAddress
  const root = rootOf(db, order)
  const { shippingMethod } = additionsOf(db, root.id).findLast((each) => each.shippingMethod !== null) ?? order
  return {
    ...contact,
    ...(email === null ? {} : { email }),
    ...(shipTo === null ? {} : { shipTo }),
    ...(shippingMethod === null ? {} : { shippingMethod: shippingMethod.name }),
    lines: linesNow(db, root),
    totalMinor: totalNow(db, root)
  }
}

/**
 * Records that an order was changed: its invoice is corrected, the history and an event name what is different, and the
 * buyer gets an email. Without a difference, nothing is recorded.
 *
 * @param details what the order had before
 * @param additionId the order that adds what is added
 * @returns the names of what is different
 */
export function recordChange(
  tx: Tx,
  { before, order }: { before: OrderRow; order: OrderRow },
  { details, by, additionId }: { details: OrderDetails; by: string; additionId: number | null },
  now: number
): string[] {
  const after = detailsOf(tx, order)
  const fields = keysOf({ ...details, ...after }).filter((key) => !isDeepStrictEqual(details[key], after[key]))
  if (fields.length === 0) return []
  const { id: orderId, status } = order
  const { id: changeId } = tx.orm
    .insert(orderChanges)
    .values({ orderId, additionId, before: only(details, fields), after: only(after, fields), by, at: now })
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
  // What is added counts when it is paid.
  const done = additionId === null ? fields : fields.filter((field) => field !== 'lines' && field !== 'totalMinor')
  if (done.length > 0) emit(tx, 'order.changed', { orderId, fields: done }, now)
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
