import { and, asc, desc, eq, getTableColumns, inArray, ne, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { readSnapshot, statement } from '../../platform/db/database.ts'
import type { Db, Orm } from '../../platform/db/database.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import type { DocumentFormat } from '../invoices/e-invoice-file.ts'
import { findInvoice } from '../invoices/find.ts'
import type { InvoiceRow } from '../invoices/find.ts'
import { invoices } from '../invoices/schema.ts'
import { referrals } from '../referrals/schema.ts'
import { isAccepted } from '../referrals/states.ts'
import { isModuleOn } from '../settings/settings.ts'
import type { OrderItemRow, OrderRow } from './find.ts'
import { orderCredits, orderRefunds } from './refunds/schema.ts'
import { customerOrderTotals, orderAttributions, orderItems, orders } from './schema.ts'
import { isPaidStatus } from './states.ts'
import type { OrderTotals, OrderView, RefundProgress, RefundState } from './shapes.ts'
import type { SumColumns } from './totals.ts'
import type { Pagination } from '../../platform/public-fields.ts'

/** Reads what the public form of an order shows: its row, its attribution if it has one, and its referral. */
function selectFacts(orm: Orm) {
  const { id, status, currency, createdAt, updatedAt, renewalOf, buyerReference } = orders
  const { subtotalMinor, discountMinor, shippingMinor, taxMinor, taxIncluded, totalMinor, refundedMinor } = orders
  const {
    orderId: _order,
    affiliateId: _affiliate,
    candidates: _candidates,
    ...attribution
  } = getTableColumns(orderAttributions)
  return orm
    .select({
      id,
      status,
      currency,
      subtotalMinor,
      discountMinor,
      shippingMinor,
      taxMinor,
      taxIncluded,
      totalMinor,
      refundedMinor,
      createdAt,
      updatedAt,
      addedTo: orders.addedTo,
      creditedMinor: credited(orm),
      buyerReference,
      renewalOf,
      ...attribution,
      referralId: referrals.id,
      referralStatus: referrals.status,
      refundState: newestRefund(orm, orderRefunds.state),
      newestRefundMinor: newestRefund(orm, orderRefunds.amountMinor)
    })
    .from(orders)
    .leftJoin(orderAttributions, eq(orderAttributions.orderId, orders.id))
    .leftJoin(referrals, eq(referrals.orderId, orders.id))
}

/** What credits pay of the order that is selected. */
function credited(orm: Orm) {
  const ofOrder = and(eq(orderCredits.orderId, orders.id), ne(orderCredits.state, 'returned'))
  const sums = orm.select({ value: sql`coalesce(sum(${orderCredits.amountMinor}), 0)` }).from(orderCredits)
  return sql<number>`(${sums.where(ofOrder)})`
}

/** A column of the newest refund of the order that is selected; null without one. */
function newestRefund<C extends SQLiteColumn>(orm: Orm, column: C) {
  const newestOfOrder = orm
    .select({ value: column })
    .from(orderRefunds)
    .where(and(eq(orderRefunds.orderId, orders.id), ne(orderRefunds.way, 'order')))
    .orderBy(desc(orderRefunds.id))
    .limit(1)
  return sql<C['_']['data'] | null>`(${newestOfOrder})`
}

type ListedOrder = OrderView & { totals: OrderTotals } & RefundProgress
type OrderFacts = ReturnType<ReturnType<typeof selectFacts>['all']>[number]
type OrderLine = Pick<OrderItemRow, 'name' | 'quantity' | 'totalMinor'>

/** The public form of an order (docs/interface.md 2.5): amounts in major units, times in ISO 8601 UTC. */
function toOrder(order: OrderFacts, lines: readonly OrderLine[]): ListedOrder {
  return {
    id: order.id,
    status: order.status,
    currency: order.currency,
    total: toMajor(order.totalMinor, order.currency),
    totals: toTotals(order),
    ...toRefundProgress(order),
    createdAt: toIso(order.createdAt),
    updatedAt: toIso(order.updatedAt),
    buyerReference: order.buyerReference,
    renewalOf: order.renewalOf,
    addedTo: order.addedTo,
    credited: toMajor(order.creditedMinor, order.currency),
    lineItems: lines.map((line) => ({
      name: line.name,
      quantity: line.quantity,
      total: toMajor(line.totalMinor, order.currency)
    })),
    affiliateRef: order.affiliateRef ?? '',
    affiliateCampaign: order.affiliateCampaign ?? '',
    affiliateReferralCreated: order.referralId !== null,
    affiliateVisitId: order.visitId,
    affiliateReferralId: order.referralId,
    affiliateVisitConverted: isVisitConverted(order),
    orderAttributionSourceType: order.sourceType,
    orderAttributionUtmSource: order.utmSource,
    orderAttributionUtmMedium: order.utmMedium,
    orderAttributionUtmCampaign: order.utmCampaign,
    orderAttributionUtmContent: order.utmContent,
    marketingUtmSource: order.marketingUtmSource,
    marketingUtmMedium: order.marketingUtmMedium,
    marketingUtmCampaign: order.marketingUtmCampaign,
    marketingUtmContent: order.marketingUtmContent
  }
}

type RefundFacts = Pick<
  OrderFacts,
  'status' | 'currency' | 'totalMinor' | 'refundedMinor' | 'refundState' | 'newestRefundMinor'
>

function toRefundProgress(order: RefundFacts): RefundProgress {
  const state = stateOf(order.refundState, order.totalMinor - order.refundedMinor)
  return { refundState: state, refundOwed: toMajor(owedMinor(order), order.currency) }
}

/** What is missing of a full refund; of a partial one, the newest refund until it is done. */
function owedMinor({ status, totalMinor, refundedMinor, refundState, newestRefundMinor }: RefundFacts): number {
  const newest = newestRefundMinor ?? 0
  if (status !== 'refunded') return refundState === 'done' ? 0 : newest
  return Math.max(totalMinor - refundedMinor, refundState === 'requested' ? newest : 0)
}

function stateOf(newest: RefundFacts['refundState'], missingMinor: number): RefundState {
  if (newest === null) return 'none'
  if (newest === 'requested') return 'pending'
  return newest === 'failed' ? 'failed' : missingMinor > 0 ? 'partial' : 'done'
}

/** The parts of an order's total in major units: subtotal - discount + shipping (+ tax unless included) = total. */
export function toTotals(order: Omit<SumColumns, 'goodsTaxMinor'> & Pick<OrderRow, 'currency'>): OrderTotals {
  const major = (minor: number): number => toMajor(minor, order.currency)
  return {
    subtotal: major(order.subtotalMinor),
    discount: major(order.discountMinor),
    shipping: major(order.shippingMinor),
    tax: major(order.taxMinor),
    taxIncluded: order.taxIncluded,
    total: major(order.totalMinor)
  }
}

/** An email with the first character of its local part only, as `a…@example.com`. */
export function maskedEmail(email: string): string {
  const [first = ''] = email
  return `${first}…${email.slice(email.lastIndexOf('@'))}`
}

/** Whether the visit converted: the order is paid and its referral is accepted. Null without a visit. */
export function isVisitConverted({
  status,
  visitId,
  referralStatus
}: Pick<OrderFacts, 'status' | 'visitId' | 'referralStatus'>): boolean | null {
  if (visitId === null) return null
  return isPaidStatus(status) && referralStatus !== null && isAccepted(referralStatus)
}

export type Page = { page: number; perPage: number }

const ofCustomer = eq(orders.userId, sql.placeholder('userId'))
const newestFirst = [desc(orders.createdAt), desc(orders.id)]

const totalOfCustomer = statement((orm) =>
  orm
    .select({ total: customerOrderTotals.total })
    .from(customerOrderTotals)
    .where(eq(customerOrderTotals.userId, sql.placeholder('userId')))
    .prepare()
)

/** Reads the ids of the page only from the covering index, so that skipping to a late page reads no rows. */
const pageOfCustomer = statement((orm) => {
  const ids = orm
    .select({ id: orders.id })
    .from(orders)
    .where(ofCustomer)
    .orderBy(...newestFirst)
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
  return selectFacts(orm)
    .where(inArray(orders.id, ids))
    .orderBy(...newestFirst)
    .prepare()
})

const linesOfOrders = statement((orm) =>
  orm
    .select({
      orderId: orderItems.orderId,
      name: orderItems.name,
      quantity: orderItems.quantity,
      totalMinor: orderItems.totalMinor
    })
    .from(orderItems)
    .where(sql`${orderItems.orderId} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`)
    .orderBy(asc(orderItems.orderId), asc(orderItems.id))
    .prepare()
)

/** One page of a customer's orders, newest first. Runs three statements, regardless of the number of orders. */
export function listOrders(
  db: Db,
  userId: number,
  { page, perPage }: Page
): { orders: ListedOrder[]; pagination: Pagination } {
  return readSnapshot(db, () => {
    if (!isModuleOn(db, 'commerce')) return { orders: [], pagination: { page, perPage, total: 0, totalPages: 0 } }
    const total = totalOfCustomer(db).get({ userId })?.total ?? 0
    const offset = (page - 1) * perPage
    const rows = offset >= total ? [] : pageOfCustomer(db).all({ userId, limit: perPage, offset })
    return { orders: withLines(db, rows), pagination: { page, perPage, total, totalPages: Math.ceil(total / perPage) } }
  })
}

/** The public form of an order, which exists because the caller has its row. */
export function getOrderView(db: Db, id: number): ListedOrder {
  const [view] = withLines(db, selectFacts(db.orm).where(eq(orders.id, id)).all())
  if (view === undefined) throw new Error(`order ${id} is missing`)
  return view
}

/** Adds the lines of all rows with one statement. */
function withLines(db: Db, rows: readonly OrderFacts[]): ListedOrder[] {
  if (rows.length === 0) return []
  const ids = JSON.stringify(rows.map((row) => row.id))
  const byOrder = Map.groupBy(linesOfOrders(db).all({ ids }), (line) => line.orderId)
  return rows.map((row) => toOrder(row, byOrder.get(row.id) ?? []))
}

const anyCompleted = statement((orm) =>
  orm
    .select({ id: orders.id })
    .from(orders)
    // Written as in the partial index, otherwise SQLite does not use it.
    .where(and(ofCustomer, sql`status = 'completed'`))
    .limit(1)
    .prepare()
)
const newest = statement((orm) =>
  orm
    .select({
      id: orders.id,
      status: orders.status,
      currency: orders.currency,
      totalMinor: orders.totalMinor,
      createdAt: orders.createdAt
    })
    .from(orders)
    .where(ofCustomer)
    .orderBy(...newestFirst)
    .limit(sql.placeholder('limit'))
    .prepare()
)

export type OrdersSummary = { hasAnyCompletedOrder: boolean; totalOrders: number; lastOrderAt: string | null }
export type NewestOrder = ReturnType<typeof newestOrders>[number]

/** The summary of a customer's orders; `lastOrderAt` in ISO 8601 UTC. */
export function orderSummary(db: Db, userId: number): OrdersSummary {
  return {
    hasAnyCompletedOrder: anyCompleted(db).get({ userId }) !== undefined,
    totalOrders: totalOfCustomer(db).get({ userId })?.total ?? 0,
    lastOrderAt: toIsoOrNull(newest(db).get({ userId, limit: 1 })?.createdAt)
  }
}

/** A customer's newest orders in the short form of entitlements (docs/contract.md 4.4). */
export function newestOrders(db: Db, userId: number, limit: number) {
  return newest(db)
    .all({ userId, limit })
    .map(({ id, status, currency, totalMinor, createdAt }) => ({
      id,
      status,
      currency,
      total: toMajor(totalMinor, currency),
      createdAt: toIso(createdAt)
    }))
}

/**
 * The address of an order's own page, for the buyer. The token in it is all that is needed to read and cancel the order.
 * It is stored and not derived, because links in emails must outlive a change of the shop's secret, and because a backup
 * contains the secret anyway.
 */
export function statusUrl(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>
): string {
  return `${shop.publicUrl()}/checkout/done/${publicToken}`
}

/** The address of the page on which an order is paid, by the same token. */
export function payUrl(shop: Pick<ShopContext, 'publicUrl'>, { publicToken }: Pick<OrderRow, 'publicToken'>): string {
  return `${shop.publicUrl()}/checkout/${publicToken}`
}

/**
 * The address of an order's invoice, by the same token; null for an order without an invoice.
 *
 * @param proof shows the name and the address (`invoiceProof`); only for the buyer
 */
export function invoiceUrl(
  shop: Pick<ShopContext, 'publicUrl' | 'db'>,
  order: Pick<OrderRow, 'id' | 'publicToken'>,
  proof: string | null = null
): string | null {
  return findInvoice(shop.db, order.id) === undefined ? null : urlOf(shop, order, null, { proof })
}

const withInvoice = statement((orm) =>
  orm
    .select({
      id: orders.id,
      createdAt: orders.createdAt,
      publicToken: orders.publicToken
    })
    .from(invoices)
    .innerJoin(orders, eq(orders.id, invoices.orderId))
    .where(
      and(
        // The plus keeps SQLite from reading all invoices of the shop by their kind.
        sql`+${invoices.kind} = 'invoice'`,
        sql`${invoices.orderId} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`
      )
    )
    .prepare()
)

/** The addresses of the invoices of some orders for their buyer, by the id of the order. */
export function invoiceUrls(
  shop: Pick<ShopContext, 'publicUrl' | 'db'>,
  orderIds: readonly number[],
  proofOf: (order: Pick<OrderRow, 'id' | 'createdAt'>) => string
): ReadonlyMap<number, string> {
  const rows = withInvoice(shop.db).all({ ids: JSON.stringify(orderIds) })
  return new Map(rows.map((row) => [row.id, urlOf(shop, row, null, { proof: proofOf(row) })]))
}

type Shown = { format?: 'page' | DocumentFormat; proof?: string | null }

/**
 * The address of an invoice or a credit note, as a page or as a file. `proof` shows the name and the address. That of the
 * latest invoice has no number, so that it stays right when the invoice is corrected.
 */
export function documentUrl(
  shop: Pick<ShopContext, 'publicUrl' | 'db'>,
  order: Pick<OrderRow, 'id' | 'publicToken'>,
  { number }: Pick<InvoiceRow, 'number'>,
  shown: Shown = {}
): string {
  return urlOf(shop, order, findInvoice(shop.db, order.id)?.number === number ? null : number, shown)
}

function urlOf(
  shop: Pick<ShopContext, 'publicUrl'>,
  { publicToken }: Pick<OrderRow, 'publicToken'>,
  number: string | null,
  { format = 'page', proof = null }: Shown
): string {
  const query = new URLSearchParams({
    ...(number === null ? {} : { number }),
    ...(proof === null ? {} : { proof }),
    ...(format === 'page' ? {} : { format })
  }).toString()
  return `${shop.publicUrl()}/checkout/invoice/${publicToken}${query === '' ? '' : `?${query}`}`
}
