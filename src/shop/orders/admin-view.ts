import { and, desc, eq, or, sql } from 'drizzle-orm'
import { toIso } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { toMajor } from '../../platform/money.ts'
import type { UserRow } from '../accounts/rows.ts'
import { couponsOf, getOrder, historyOf } from './find.ts'
import { placedAsGuest } from './guest-orders.ts'
import { findOrderView } from './list-orders.ts'
import type { OrderRow } from './rows.ts'
import { orders } from './schema.ts'
import type { OrderStatus } from './states.ts'
import type { OrderView } from './view.ts'

/** What the operator sees of an order: its public form and what the buyer is not shown. Amounts in major units. */
export type AdminOrder = OrderView & {
  email: string | null
  discount: number
  refunded: number
  coupons: { code: string; discount: number }[]
  /** The gateway's word for the payment; null while nothing has been tried. */
  paymentStatus: string | null
}
/** All that is kept of an order and of who placed it: for whoever ships it, and for a privacy request. */
export type OrderRecord = AdminOrder & Pick<OrderRow, 'contact' | 'billingAddress' | 'shippingAddress' | 'notes'>
export type HistoryEntry = { from: OrderStatus | null; to: OrderStatus; at: string; by: string; reason: string }

/** Payments stand above orders, so their word is asked of the caller. */
export type PaymentStatusOf = (orderId: number) => string | null

/** @throws AppError NOT_FOUND */
export function showOrder(
  db: Db,
  id: number,
  paymentStatusOf: PaymentStatusOf
): { order: OrderRecord; history: HistoryEntry[] } {
  return { order: toRecord(db, getOrder(db, id), paymentStatusOf), history: historyOf(db, id).map(toEntry) }
}

/** Whose orders are looked for: an account's, those with an email, or both together; everybody's by neither. */
export type Whose = { userId?: number | undefined; emailKey?: string | undefined }

/** The newest orders of the shop, or of one customer or state. */
export function listAllOrders(
  db: Db,
  filter: Whose & { status?: OrderStatus; limit: number },
  paymentStatusOf: PaymentStatusOf
): AdminOrder[] {
  const { userId, emailKey, status } = filter
  const whose = or(
    userId === undefined ? undefined : eq(orders.userId, userId),
    emailKey === undefined ? undefined : eq(orders.emailKey, emailKey)
  )
  // A person has few orders and a state may have most of the shop's: the + keeps SQLite from looking by state then.
  const state = whose === undefined ? sql`${orders.status}` : sql`+${orders.status}`
  const conditions = [whose, status === undefined ? undefined : eq(state, status)]
  const rows = db.orm
    .select()
    .from(orders)
    .where(and(...conditions))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .limit(filter.limit)
    .all()
  return rows.map((row) => toAdminOrder(db, row, paymentStatusOf))
}

/** Whether anybody ordered with an email, as a guest or not. */
export function isEmailOfOrder(db: Db, emailKey: string): boolean {
  const found = db.orm.select({ id: orders.id }).from(orders).where(eq(orders.emailKey, emailKey)).limit(1).get()
  return found !== undefined
}

/**
 * Every order of a person with all that is kept of it, newest first: those of the account, and those placed as a guest
 * with its email, which only a verified email proves to be the same person's.
 */
export function listOrdersOfPerson(
  db: Db,
  { id, emailKey, emailVerifiedAt }: Pick<UserRow, 'id' | 'emailKey' | 'emailVerifiedAt'>,
  paymentStatusOf: PaymentStatusOf
): OrderRecord[] {
  const ofAccount = eq(orders.userId, id)
  const rows = db.orm
    .select()
    .from(orders)
    .where(emailVerifiedAt === null ? ofAccount : or(ofAccount, placedAsGuest(emailKey)))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .all()
  return rows.map((row) => toRecord(db, row, paymentStatusOf))
}

function toAdminOrder(db: Db, order: OrderRow, paymentStatusOf: PaymentStatusOf): AdminOrder {
  const view = findOrderView(db, order.id)
  if (view === undefined) throw new Error(`Order ${order.id} has a row and no view.`)
  const major = (minor: number): number => toMajor(minor, order.currency)
  return {
    ...view,
    email: order.email,
    discount: major(order.discountMinor),
    refunded: major(order.refundedMinor),
    coupons: couponsOf(db, order.id).map(({ code, discountMinor }) => ({ code, discount: major(discountMinor) })),
    paymentStatus: paymentStatusOf(order.id)
  }
}

function toRecord(db: Db, order: OrderRow, paymentStatusOf: PaymentStatusOf): OrderRecord {
  const { contact, billingAddress, shippingAddress, notes } = order
  return { ...toAdminOrder(db, order, paymentStatusOf), contact, billingAddress, shippingAddress, notes }
}

function toEntry({ from, to, at, by, reason }: ReturnType<typeof historyOf>[number]): HistoryEntry {
  return { from, to, at: toIso(at), by, reason }
}
