import { and, desc, eq, gte, inArray, lt, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { personalFields } from '../../platform/db/personal.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import { emailKey, compareKey } from '../../platform/text.ts'
import { parseCursor, toCursor } from '../../platform/input-fields.ts'
import { findUserByEmail, getUser } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { variations } from '../catalog/schema.ts'
import { productBySlug, productsBySku } from '../catalog/stored-product.ts'
import { additionsOf } from '../corrections/additions.ts'
import { dueMinor } from '../orders/refunds/credits.ts'
import { changesOf, couponsOf, getOrder, historyOf, ofPerson, placedAsGuest } from '../orders/find.ts'
import { getOrderView } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import { orderItems, orders } from '../orders/schema.ts'
import type { OrderStatus } from '../orders/states.ts'
import { listRefunds } from '../orders/refunds/refund-lines.ts'
import type { OrderView, RefundProgress, RefundView } from '../orders/shapes.ts'
import { listShipments } from '../shipments/find.ts'
import { listReturns } from '../shipments/returns.ts'
import type { ReturnView } from '../shipments/returns.ts'
import type { ShipmentView } from '../shipments/find.ts'
import type { VatCheck } from '../tax/input.ts'
import { listNotes } from './notes.ts'
import type { NoteView } from './notes.ts'
import { paidBy, paymentStatusOf } from '../payments/attempts.ts'

/** What the operator sees of an order: its public form and what the buyer is not shown. Amounts in major units. */
export type AdminOrder = OrderView &
  RefundProgress & {
    email: string | null
    discount: number
    refunded: number
    coupons: { code: string; discount: number }[]
    /** The gateway's status of the payment; null while none has been tried. */
    paymentStatus: string | null
    paidAt: string | null
    /** When the buyer agreed that files are delivered at once; null without that. */
    deliveryConsentAt: string | null
    /**
     * How it was paid: at a gateway, `by_hand` (a transfer or cash), or by the `credit` of another order alone; null while it is
     * unpaid, and if it cost nothing.
     */
    paidBy: ReturnType<typeof paidBy>
  }
/** Everything that is stored about an order and its buyer: for shipping, and for a privacy request. */
export type OrderRecord = AdminOrder &
  Pick<OrderRow, 'contact' | 'billingAddress' | 'shippingAddress' | 'notes' | 'vatId'> & {
    /** Where the buyer of downloads is: the countries of the billing address, of the card's bank and of the client. */
    evidence: { billingCountry: string | null; cardCountry: string | null; ipCountry: string | null }
    /** What VIES knew of the VAT id; null if it was not asked. */
    vatCheck: VatCheckView | null
    shipments: ShipmentView[]
    refunds: RefundView[]
    returns: ReturnView[]
    /** What the people of the shop noted about it. */
    shopNotes: NoteView[]
    /** The orders that add to it, with what is due of them. */
    additions: { id: number; status: OrderStatus; due: number }[]
    /** What operators changed, oldest first: each part as it was and as it is. */
    changes: { at: string; by: string; before: object; after: object }[]
    /** What the order was in the shop that sold it; null for one of this shop, and after an erasure. */
    imported: ImportedView | null
  }
type VatCheckView = Omit<VatCheck, 'checkedAt'> & { checkedAt: string | null }
export type ImportedView = ReturnType<typeof toImported>
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

/** A product, or one of its variations; several if they share a SKU. */
export type Sold = readonly { productId: number; variationId: number | null }[]

/**
 * The products and variations that an operator names by a slug or a SKU, such as for a recall.
 *
 * @throws AppError NOT_FOUND
 */
export function findSold(db: Db, slugOrSku: string): Sold {
  const product = productBySlug(db, slugOrSku)
  if (product !== undefined) return [{ productId: product.id, variationId: null }]
  const { id: variationId, productId, sku } = variations
  const found = [
    ...productsBySku(db, slugOrSku).map((row) => ({ productId: row.id, variationId: null })),
    ...db.orm.select({ productId, variationId }).from(variations).where(eq(sku, slugOrSku)).all()
  ]
  if (found.length === 0) throw new AppError('NOT_FOUND', `No product has the slug or SKU ${slugOrSku}.`)
  return found
}

/** Matches the orders with a line of these. */
function contains(db: Db, sold: Sold): SQL {
  const lines = sold.map(({ productId, variationId }) =>
    and(eq(orderItems.productId, productId), variationId === null ? undefined : eq(orderItems.variationId, variationId))
  )
  return inArray(
    orders.id,
    db.orm
      .select({ id: orderItems.orderId })
      .from(orderItems)
      .where(or(...lines))
  )
}

export type OrderFilter = Buyer & {
  status?: OrderStatus | undefined
  /** A part of the buyer's email, name or company, or of the name in an address, in any case. */
  search?: string | undefined
  /** With one of these in it, as `findSold` returns them. */
  sold?: Sold | undefined
  /** When the order was placed; `to` is not included. */
  from?: number | undefined
  to?: number | undefined
  /** The cursor of an earlier page. */
  cursor?: string | undefined
  limit: number
}

/** The newest orders of the shop that match. `nextCursor` is null on the last page. */
export function listAllOrders(db: Db, filter: OrderFilter): { orders: AdminOrder[]; nextCursor: string | null } {
  const { userId, emailKey, status, search, sold, from, to, cursor, limit } = filter
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
    sold === undefined ? undefined : contains(db, sold),
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
export function listOrdersOfPerson(
  db: Db,
  { id, emailKey, emailVerifiedAt }: Pick<UserRow, 'id' | 'emailKey' | 'emailVerifiedAt'>
): OrderRecord[] {
  return recordsOf(db, emailVerifiedAt === null ? eq(orders.userId, id) : ofPerson({ id, emailKey }))
}

/** Every order that a guest placed with an email, as `listOrdersOfPerson`. The operator knows that it is theirs. */
export function listOrdersOfGuest(db: Db, emailKey: string): OrderRecord[] {
  return recordsOf(db, placedAsGuest(emailKey))
}

function recordsOf(db: Db, whose: SQL | undefined): OrderRecord[] {
  const rows = db.orm.select().from(orders).where(whose).orderBy(desc(orders.createdAt), desc(orders.id)).all()
  return rows.map((row) => ({ ...personalFields(orders, row), ...toRecord(db, row) }))
}

function toAdminOrder(db: Db, order: OrderRow): AdminOrder {
  const view = getOrderView(db, order.id)
  const major = (minor: number): number => toMajor(minor, order.currency)
  return {
    ...view,
    email: order.email,
    discount: major(order.discountMinor),
    refunded: major(order.refundedMinor),
    coupons: couponsOf(db, order.id).map(({ code, discountMinor }) => ({ code, discount: major(discountMinor) })),
    paymentStatus: paymentStatusOf(db, order.id),
    paidAt: toIsoOrNull(order.paidAt),
    deliveryConsentAt: toIsoOrNull(order.deliveryConsentAt),
    paidBy: paidBy(db, order)
  }
}

/** An order with everything that is stored about it and its buyer. */
export function toRecord(db: Db, order: OrderRow): OrderRecord {
  const { contact, billingAddress, shippingAddress, notes, vatId, vatCheck, cardCountry, ipCountry } = order
  const shipments = listShipments(db, order.id)
  const refunds = listRefunds(db, order)
  return {
    ...toAdminOrder(db, order),
    contact,
    billingAddress,
    shippingAddress,
    notes,
    vatId,
    vatCheck: vatCheck && { ...vatCheck, checkedAt: toIsoOrNull(vatCheck.checkedAt) },
    evidence: { billingCountry: billingAddress?.country ?? null, cardCountry, ipCountry },
    shipments,
    refunds,
    returns: listReturns(db, order.id),
    shopNotes: listNotes(db, { orderId: order.id }),
    additions: additionsOf(db, order.id).map((each) => ({
      id: each.id,
      status: each.status,
      due: each.paidAt === null ? toMajor(dueMinor(db, each), order.currency) : 0
    })),
    changes: changesOf(db, order.id).map(({ at, by, before, after }) => ({ at: toIso(at), by, before, after })),
    imported: toImported(order)
  }
}

function toImported({ importedRecord, currency }: OrderRow) {
  if (importedRecord === null) return null
  const { number, status, payment, transactionId, discountMinor, fees, notes } = importedRecord
  return {
    number,
    status,
    payment,
    transactionId,
    discount: toMajor(discountMinor, currency),
    fees: fees.map(({ name, totalMinor, taxMinor }) => ({
      name,
      total: toMajor(totalMinor, currency),
      tax: toMajor(taxMinor, currency)
    })),
    notes: notes.map(({ at, text, toCustomer }) => ({ at: toIso(at), text, toCustomer }))
  }
}

function toEntry({ from, to, at, by, reason }: ReturnType<typeof historyOf>[number]): HistoryEntry {
  return { from, to, at: toIso(at), by, reason }
}
