import { and, desc, eq, gte, lt, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { personalFields } from '../../platform/db/personal.ts'
import { toIso } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import { emailKey, compareKey } from '../../platform/text.ts'
import { parseCursor, toCursor } from '../../platform/input-fields.ts'
import { findUserByEmail, getUser } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { couponsOf, getOrder, historyOf, ofPerson } from '../orders/find.ts'
import { findOrderView } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import { orders } from '../orders/schema.ts'
import type { OrderStatus } from '../orders/states.ts'
import { listRefunds } from '../orders/refund-lines.ts'
import type { OrderView, RefundView } from '../orders/shapes.ts'
import { listShipments } from '../shipments/find.ts'
import type { ShipmentView } from '../shipments/find.ts'
import { paymentStatusOf } from '../payments/attempts.ts'

/** What the operator sees of an order: its public form and what the buyer is not shown. Amounts in major units. */
export type AdminOrder = OrderView & {
  email: string | null
  discount: number
  refunded: number
  coupons: { code: string; discount: number }[]
  /** The gateway's status of the payment; null while none has been tried. */
  paymentStatus: string | null
}
/** Everything that is stored about an order and its buyer: for shipping, and for a privacy request. */
export type OrderRecord = AdminOrder &
  Pick<OrderRow, 'contact' | 'billingAddress' | 'shippingAddress' | 'notes'> & {
    shipments: ShipmentView[]
    refunds: RefundView[]
  }
export type HistoryEntry = { from: OrderStatus | null; to: OrderStatus; at: string; by: string; reason: string }

/** @throws AppError NOT_FOUND */
export function showOrder(db: Db, id: number): { order: OrderRecord; history: HistoryEntry[] } {
  return { order: toRecord(db, getOrder(db, id)), history: historyOf(db, id).map(toEntry) }
}

/** The buyer of the orders to list: an account, an email, or both; any buyer if neither is given. */
export type Buyer = { userId?: number | undefined; emailKey?: string | undefined }

/**
 * The buyer that an operator names by email or account id. An email finds the guest orders placed with it and the
 * orders of its account.
 *
 * @throws AppError NOT_FOUND when there is no account and no order
 */
export function findBuyer(db: Db, emailOrId: string): Buyer {
  if (!emailOrId.includes('@')) return { userId: getUser(db, emailOrId).id }
  const userId = findUserByEmail(db, emailOrId)?.id
  const key = emailKey(emailOrId)
  if (userId === undefined && !isEmailOfOrder(db, key)) {
    throw new AppError('NOT_FOUND', 'There is no account and no order with this email.')
  }
  return { userId, emailKey: key }
}

/** Whether any order was placed with an email, as a guest or not. */
export function isEmailOfOrder(db: Db, emailKey: string): boolean {
  const found = db.orm.select({ id: orders.id }).from(orders).where(eq(orders.emailKey, emailKey)).limit(1).get()
  return found !== undefined
}

export type OrderFilter = Buyer & {
  status?: OrderStatus | undefined
  /** A part of the buyer's email, name or company, or of the name in an address, in any case. */
  search?: string | undefined
  /** When the order was placed; `to` is not included. */
  from?: number | undefined
  to?: number | undefined
  /** The cursor of an earlier page. */
  cursor?: string | undefined
  limit: number
}

/** The newest orders of the shop that match. `nextCursor` is null on the last page. */
export function listAllOrders(db: Db, filter: OrderFilter): { orders: AdminOrder[]; nextCursor: string | null } {
  const { userId, emailKey, status, search, from, to, cursor, limit } = filter
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  const ofBuyer = or(
    userId === undefined ? undefined : eq(orders.userId, userId),
    emailKey === undefined ? undefined : eq(orders.emailKey, emailKey)
  )
  // A buyer has few orders and a state may have most of the shop's: the + keeps SQLite from searching by state then.
  const state = ofBuyer === undefined ? sql`${orders.status}` : sql`+${orders.status}`
  const conditions = [
    ofBuyer,
    status === undefined ? undefined : eq(state, status),
    search === undefined ? undefined : sql`instr(${buyerText}, ${compareKey(search)}) > 0`,
    from === undefined ? undefined : gte(orders.createdAt, from),
    to === undefined ? undefined : lt(orders.createdAt, to),
    after === undefined ? undefined : sql`(${orders.createdAt}, ${orders.id}) < (${after.order}, ${after.id})`
  ]
  const rows = db.orm
    .select()
    .from(orders)
    .where(and(...conditions))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .limit(limit + 1)
    .all()
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    orders: page.map((row) => toAdminOrder(db, row)),
    nextCursor: last === undefined ? null : toCursor({ order: last.createdAt, id: last.id })
  }
}

/** By what an operator finds an order again. */
const nameIn = (column: SQLiteColumn): SQL =>
  sql`concat_ws(' ', ${column} ->> '$.firstName', ${column} ->> '$.lastName', ${column} ->> '$.companyName', ${column} ->> '$.company')`
const buyerText = sql`compare_key(concat_ws(' | ', ${orders.email}, ${nameIn(orders.contact)}, ${nameIn(orders.shippingAddress)}, ${nameIn(orders.billingAddress)}))`

/**
 * Every order of a person with everything that is stored about it, newest first: those of the account, and the guest
 * orders with its email. Only a verified email proves that the guest orders are the same person's.
 */
export function listOrdersOfPerson(db: Db, user: Pick<UserRow, 'id' | 'emailKey' | 'emailVerifiedAt'>): OrderRecord[] {
  const rows = db.orm
    .select()
    .from(orders)
    .where(user.emailVerifiedAt === null ? eq(orders.userId, user.id) : ofPerson(user))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .all()
  return rows.map((row) => ({ ...personalFields(orders, row), ...toRecord(db, row) }))
}

function toAdminOrder(db: Db, order: OrderRow): AdminOrder {
  const view = findOrderView(db, order.id)
  if (view === undefined) throw new Error(`Order ${order.id} has a row and no view.`)
  const major = (minor: number): number => toMajor(minor, order.currency)
  return {
    ...view,
    email: order.email,
    discount: major(order.discountMinor),
    refunded: major(order.refundedMinor),
    coupons: couponsOf(db, order.id).map(({ code, discountMinor }) => ({ code, discount: major(discountMinor) })),
    paymentStatus: paymentStatusOf(db, order.id)
  }
}

/** An order with everything that is stored about it and its buyer. */
export function toRecord(db: Db, order: OrderRow): OrderRecord {
  const { contact, billingAddress, shippingAddress, notes } = order
  const shipments = listShipments(db, order.id)
  const refunds = listRefunds(db, order)
  return { ...toAdminOrder(db, order), contact, billingAddress, shippingAddress, notes, shipments, refunds }
}

function toEntry({ from, to, at, by, reason }: ReturnType<typeof historyOf>[number]): HistoryEntry {
  return { from, to, at: toIso(at), by, reason }
}
