import { eq } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { randomToken } from '../../platform/crypto/secrets.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { products } from '../catalog/schema.ts'
import { customerKeyOf } from './coupon-uses.ts'
import type { OrderAttributionRow, OrderItemRow, OrderRow } from './find.ts'
import { findOrder, itemsOf, lastMoveOf } from './find.ts'
import { orderRefunds, refundLines } from './refunds/schema.ts'
import { orderAttributions, orderCoupons, orderItems, orders, orderTaxes } from './schema.ts'
import type { ImportedRecord } from './schema.ts'
import { isReleasedStatus } from './states.ts'
import { defaultStrategy } from './strategies.ts'
import { lineAmountMinor, pricesFor } from './totals.ts'
import { recordMove } from './transition.ts'

/** A line of an order of another shop, in the order's currency. `productId` is null for what is not sold here. */
export type ImportedLine = Pick<OrderItemRow, 'name' | 'quantity' | 'taxClass' | 'taxRow' | 'sku' | 'variationId'> & {
  /** How the other shop names the line, for its refunds. */
  sourceId: string
  productId: number | null
  /** Before and after discounts; with tax if the order's prices include it. */
  subtotalMinor: number
  totalMinor: number
  /** What the line renews; nothing by default. */
  grants?: OrderItemRow['grants']
}

/** A refund. `lines` are empty for an amount; the line of the shipping has no `sourceId`. Amounts are with tax. */
export type ImportedRefund = {
  amountMinor: number
  reason: string | null
  at: number
  lines: { sourceId: string | null; quantity: number; amountMinor: number; taxMinor: number }[]
}

/** An order that another shop sold. */
export type ImportedOrder = Pick<
  OrderRow,
  | 'userId'
  | 'email'
  | 'status'
  | 'currency'
  | 'taxIncluded'
  | 'totalMinor'
  | 'contact'
  | 'billingAddress'
  | 'shippingAddress'
  | 'vatId'
  | 'notes'
  | 'paidAt'
  | 'createdAt'
  | 'updatedAt'
> & {
  /** The id of the order there, which it keeps if it is free here; 0 for none. */
  wantedId: number
  /** What shipping costs with each renewal of its lines. */
  renewalShippingMinor?: number
  lines: ImportedLine[]
  shipping: { name: string; pickup: boolean; amountMinor: number } | null
  goodsTaxMinor: number
  shippingTaxMinor: number
  taxes: Omit<typeof orderTaxes.$inferInsert, 'id' | 'orderId'>[]
  coupons: { couponId: number; code: string; discountMinor: number }[]
  refunds: ImportedRefund[]
  attribution: Pick<OrderAttributionRow, 'sourceType' | 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmContent'>
  record: ImportedRecord
  /** What the history says: where the order comes from. */
  reason: string
}

/** An order that was stored, and the ids of its lines by how the other shop names them. */
export type StoredOrder = { row: OrderRow; items: ReadonlyMap<string, number> }

/**
 * Stores an order of another shop as history: its buyer sees it, lists and exports contain it, and reports if they are
 * asked to. It takes no stock, no coupon use and no document number, and there is no event and no email.
 */
export function insertImportedOrder(tx: Tx, order: ImportedOrder): StoredOrder {
  const { email, currency, taxIncluded, totalMinor, goodsTaxMinor, shippingTaxMinor, status, createdAt } = order
  const taxMinor = goodsTaxMinor + shippingTaxMinor
  const beside = taxIncluded ? 0 : taxMinor
  const shippingMinor = Math.max(0, Math.min(order.shipping?.amountMinor ?? 0, totalMinor - beside))
  const lines = fittingLines(tx, order, totalMinor - beside - shippingMinor)
  const sum = (of: (line: FittingLine) => number): number => lines.reduce((total, line) => total + of(line), 0)
  const refundedMinor = order.refunds.reduce((total, refund) => total + refund.amountMinor, 0)
  const row = tx.orm
    .insert(orders)
    .values({
      ...(order.wantedId > 0 && findOrder(tx, order.wantedId) === undefined ? { id: order.wantedId } : {}),
      userId: order.userId,
      email,
      emailKey: email === null ? null : emailKey(email),
      status,
      currency,
      subtotalMinor: sum(lineAmountMinor),
      discountMinor: sum(({ discountMinor }) => discountMinor),
      shippingMinor,
      shippingMethod: methodOf(order),
      renewalShippingMinor: order.renewalShippingMinor ?? null,
      taxMinor,
      goodsTaxMinor,
      taxIncluded,
      totalMinor,
      refundedMinor: Math.min(totalMinor, refundedMinor),
      strategy: defaultStrategy,
      contact: order.contact,
      billingAddress: order.billingAddress,
      shippingAddress: order.shippingAddress,
      vatId: order.vatId,
      notes: order.notes,
      publicToken: randomToken(),
      imported: true,
      importedRecord: order.record,
      paidAt: order.paidAt,
      createdAt,
      updatedAt: order.updatedAt
    })
    .returning()
    .get()
  return { row, items: insertParts(tx, row, order, lines) }
}

/**
 * Brings what happened to an order in the other shop since it moved in: its state and payment, refunds and notes. A state
 * that an operator changed here since stays, and so does an order of an erased person.
 *
 * @returns the order with its lines, if they are still those that moved in, and what changed
 */
export function updateImportedOrder(
  tx: Tx,
  orderId: number,
  order: ImportedOrder,
  now: number
): { stored: StoredOrder | undefined; changes: string[] } {
  const before = findOrder(tx, orderId)
  const record = before?.importedRecord
  if (before === undefined || record === null || record === undefined) return { stored: undefined, changes: [] }
  const rows = itemsOf(tx, orderId)
  const names = order.lines.length === rows.length ? order.lines.map(({ sourceId }) => sourceId) : []
  const items = new Map(names.map((sourceId, index) => [sourceId, rows[index]?.id ?? 0]))
  const refundedMinor = addRefunds(tx, before, order, { items, now })
  const movedHere = lastMoveOf(tx, orderId)?.by !== 'import'
  const isMoved = order.record.status !== record.status && order.status !== before.status
  const status = isMoved && !movedHere ? order.status : before.status
  const isPaidSince = before.paidAt === null && order.paidAt !== null
  const changes = [
    ...(status === before.status ? [] : [`Orders are ${status} since`]),
    ...(isMoved && movedHere ? ['The state changed in both shops and stays as it is here'] : []),
    ...(refundedMinor > before.refundedMinor ? ['Refunds were made since'] : []),
    ...(isPaidSince ? ['Orders were paid since'] : []),
    ...(order.record.notes.length === record.notes.length ? [] : ['Notes were written since'])
  ]
  const row = { ...before, status, refundedMinor, paidAt: before.paidAt ?? order.paidAt, importedRecord: order.record }
  if (changes.length > 0) storeUpdate(tx, before, row, { reason: order.reason, now })
  return { stored: names.length === 0 ? undefined : { row, items }, changes }
}

function storeUpdate(
  tx: Tx,
  before: OrderRow,
  { id, status, refundedMinor, paidAt, importedRecord }: OrderRow,
  { reason, now }: { reason: string; now: number }
): void {
  const set = { status, refundedMinor, paidAt, importedRecord, updatedAt: now }
  tx.orm.update(orders).set(set).where(eq(orders.id, id)).run()
  if (status === before.status) return
  recordMove(tx, { orderId: id, from: before.status, to: status, by: 'import', reason, at: now })
  const counted = isReleasedStatus(status) ? 0 : 1
  tx.orm.update(orderCoupons).set({ counted }).where(eq(orderCoupons.orderId, id)).run()
}

/**
 * Stores the refunds that the other shop made since: those that are not here, or one of what is missing if only their sum is
 * known. @returns what is refunded now
 */
function addRefunds(
  tx: Tx,
  { id, totalMinor, refundedMinor }: OrderRow,
  { refunds }: ImportedOrder,
  { items, now }: { items: ReadonlyMap<string, number>; now: number }
): number {
  const sum = refunds.reduce((total, { amountMinor }) => total + amountMinor, 0)
  const wantedMinor = Math.min(totalMinor, sum)
  if (wantedMinor <= refundedMinor) return refundedMinor
  const here = tx.orm.select().from(orderRefunds).where(eq(orderRefunds.orderId, id)).all()
  const missing = refunds.filter(
    ({ at, amountMinor }) => !here.some((known) => known.createdAt === at && known.amountMinor === amountMinor)
  )
  const missingMinor = missing.reduce((total, { amountMinor }) => total + amountMinor, 0)
  const owedMinor = wantedMinor - refundedMinor
  const added = missingMinor === owedMinor ? missing : [{ amountMinor: owedMinor, reason: null, at: now, lines: [] }]
  for (const refund of added) insertRefund(tx, id, refund, items)
  return wantedMinor
}

function methodOf({ shipping }: ImportedOrder): OrderRow['shippingMethod'] {
  return shipping === null ? null : { id: 'imported', name: shipping.name, estimate: null, pickup: shipping.pickup }
}

type FittingLine = ImportedLine & Pick<OrderItemRow, 'productId' | 'type' | 'unitPriceMinor' | 'discountMinor'>

/**
 * The lines with prices that add up to what the goods cost. Shops round lines and sums differently and know fees below
 * zero: a difference goes to the most expensive line, or to all if that one is too cheap.
 */
function fittingLines(tx: Tx, { lines: found, record }: ImportedOrder, goodsMinor: number): FittingLine[] {
  const named = found.length > 0 || goodsMinor === 0 ? found : [otherLine(record.number, goodsMinor)]
  const lines = named.map((line) => ({ ...line, ...toPrice(line, line.totalMinor), ...productOf(tx, line) }))
  const missing = goodsMinor - lines.reduce((total, line) => total + line.totalMinor, 0)
  if (missing === 0) return lines
  const most = lines.reduce((best, line, index) => (line.totalMinor > (lines[best]?.totalMinor ?? 0) ? index : best), 0)
  const fitted = (lines[most]?.totalMinor ?? 0) + missing
  if (fitted >= 0) return lines.map((line, index) => (index === most ? { ...line, ...toPrice(line, fitted) } : line))
  const prices = pricesFor(lines, goodsMinor)
  return lines.map((line, index) => ({ ...line, ...prices[index] }))
}

/** The price of a unit, so that a discount of at least 0 leaves the total. */
function toPrice({ subtotalMinor, quantity }: ImportedLine, totalMinor: number) {
  const unitPriceMinor = Math.ceil(Math.max(subtotalMinor, totalMinor) / quantity)
  return { unitPriceMinor, discountMinor: unitPriceMinor * quantity - totalMinor, totalMinor }
}

function otherLine(number: string, totalMinor: number): ImportedLine {
  return {
    sourceId: '',
    productId: null,
    variationId: null,
    name: number,
    quantity: 1,
    sku: null,
    taxClass: 'standard',
    taxRow: null,
    subtotalMinor: totalMinor,
    totalMinor
  }
}

const standIn = 'no-longer-sold'

/** The product of a line. What is not sold here refers to one unpublished product, and keeps its own name. */
function productOf(tx: Tx, { productId }: ImportedLine): { productId: number; type: OrderItemRow['type'] } {
  const { id, type } = products
  const find = (wanted: SQL) => tx.orm.select({ productId: id, type }).from(products).where(wanted).get()
  const sold = productId === null ? undefined : find(eq(id, productId))
  const found = sold ?? find(eq(products.slug, standIn))
  if (found !== undefined) return found
  return tx.orm
    .insert(products)
    .values({
      slug: standIn,
      name: 'No longer sold',
      type: 'digital',
      priceMinor: 0,
      published: false,
      position: 0,
      createdAt: 0,
      updatedAt: 0
    })
    .returning({ productId: id, type })
    .get()
}

function insertParts(
  tx: Tx,
  row: OrderRow,
  order: ImportedOrder,
  lines: readonly FittingLine[]
): ReadonlyMap<string, number> {
  const { id: orderId, userId, createdAt } = row
  const items = new Map<string, number>()
  for (const { sourceId, subtotalMinor: _, ...line } of lines) {
    const values = { grants: [], ...line, orderId, stockTaken: 0 }
    items.set(sourceId, tx.orm.insert(orderItems).values(values).returning({ id: orderItems.id }).get().id)
  }
  for (const tax of order.taxes)
    tx.orm
      .insert(orderTaxes)
      .values({ ...tax, orderId })
      .run()
  const customerKey = customerKeyOf({ userId, emailKey: row.emailKey })
  const counted = isReleasedStatus(row.status) ? 0 : 1
  for (const coupon of order.coupons)
    tx.orm
      .insert(orderCoupons)
      .values({ ...coupon, orderId, customerKey, counted })
      .onConflictDoNothing()
      .run()
  for (const refund of order.refunds) insertRefund(tx, orderId, refund, items)
  const attribution = { ...order.attribution, affiliateRef: '', affiliateCampaign: '', candidates: [] }
  tx.orm
    .insert(orderAttributions)
    .values({ ...attribution, orderId })
    .run()
  recordMove(tx, { orderId, from: null, to: row.status, by: 'import', reason: order.reason, at: createdAt })
  return items
}

/** A refund whose lines do not add up to its amount is stored as an amount. */
function insertRefund(tx: Tx, orderId: number, refund: ImportedRefund, items: ReadonlyMap<string, number>): void {
  const { amountMinor, reason, at } = refund
  const sum = refund.lines.reduce((total, line) => total + line.amountMinor, 0)
  const lines = sum === amountMinor ? refund.lines.filter((line) => line.amountMinor > 0 || line.quantity > 0) : []
  const shipping = lines.filter(({ sourceId }) => sourceId === null || !items.has(sourceId))
  const goodsMinor = amountMinor - shipping.reduce((total, line) => total + line.amountMinor, 0)
  const values = { orderId, amountMinor, goodsMinor, reason, state: 'done' as const, createdAt: at, doneAt: at }
  const { id: refundId } = tx.orm.insert(orderRefunds).values(values).returning({ id: orderRefunds.id }).get()
  for (const { sourceId, quantity, amountMinor: lineMinor, taxMinor } of lines)
    tx.orm
      .insert(refundLines)
      .values({
        refundId,
        orderItemId: sourceId === null ? null : (items.get(sourceId) ?? null),
        quantity,
        amountMinor: lineMinor,
        taxMinor: Math.max(0, Math.min(taxMinor, lineMinor))
      })
      .run()
}
