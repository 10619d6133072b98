import { and, asc, eq, getTableColumns, inArray, or, sum } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { z } from 'zod'
import type { Db, Tx } from '../../platform/db/database.ts'
import { eraseRows } from '../../platform/db/personal.ts'
import { toIso } from '../../platform/iso-time.ts'
import { time } from '../../platform/public-fields.ts'
import { isShipped } from '../catalog/product-types.ts'
import { getOrder, itemsOf, ofPerson } from '../orders/find.ts'
import type { Person } from '../orders/find.ts'
import { returnedUnits } from '../orders/refunds/refund-lines.ts'
import { orders } from '../orders/schema.ts'
import { orderReturns, shipmentItems, shipments } from './schema.ts'

export type ShipmentRow = typeof shipments.$inferSelect

/** A line of an order by its number, from 1, with what was shipped of it. */
export type LineProgress = { line: number; itemId: number; name: string; left: number; isShippable: boolean }

/** The lines of a shipment; `line` is the number of the line in the order, from 1. */
export type ShipmentLine = ShipmentView['lines'][number]

/** The shipments of an order, oldest first. */
export function shipmentsOf(db: Db, orderId: number): ShipmentRow[] {
  return db.orm.select().from(shipments).where(eq(shipments.orderId, orderId)).orderBy(asc(shipments.id)).all()
}

/** The shipment with an id. */
export function findShipment(db: Db, id: number): ShipmentRow | undefined {
  return db.orm.select().from(shipments).where(eq(shipments.id, id)).get()
}

/** A shipment with those of the same parcel: of the order that its order adds to, and of others that add to it. */
export function shipmentsInParcel(db: Db, { orderId, shippedAt, by }: ShipmentRow): ShipmentRow[] {
  const { addedTo } = getOrder(db, orderId)
  const root = addedTo ?? orderId
  return db.orm
    .select(getTableColumns(shipments))
    .from(shipments)
    .innerJoin(orders, eq(orders.id, shipments.orderId))
    .where(
      and(or(eq(orders.id, root), eq(orders.addedTo, root)), eq(shipments.shippedAt, shippedAt), eq(shipments.by, by))
    )
    .orderBy(asc(shipments.id))
    .all()
}

/** How much of each line item was shipped: in all shipments of an order, or in one of them. */
function shippedBy(db: Db, which: { orderId: number } | { shipmentId: number }): ReadonlyMap<number, number> {
  const where = 'orderId' in which ? eq(shipments.orderId, which.orderId) : eq(shipments.id, which.shipmentId)
  const rows = db.orm
    .select({ itemId: shipmentItems.orderItemId, quantity: sum(shipmentItems.quantity).mapWith(Number) })
    .from(shipments)
    .innerJoin(shipmentItems, eq(shipmentItems.shipmentId, shipments.id))
    .where(where)
    .groupBy(shipmentItems.orderItemId)
    .all()
  return new Map(rows.map(({ itemId, quantity }) => [itemId, quantity ?? 0]))
}

/**
 * Every line of an order with the quantity that is still to be shipped: not what was shipped, or given back without having
 * left.
 */
export function progressOf(db: Db, orderId: number): LineProgress[] {
  const shipped = shippedBy(db, { orderId })
  const returned = returnedUnits(db, orderId)
  const cameBack = unitsBack(db, orderId)
  return itemsOf(db, orderId).map(({ id: itemId, name, type, quantity }, index) => {
    const unsent = Math.max(0, (returned.get(itemId) ?? 0) - (cameBack.get(itemId) ?? 0))
    const left = isShipped(type) ? Math.max(0, quantity - (shipped.get(itemId) ?? 0) - unsent) : 0
    return { line: index + 1, itemId, name, isShippable: isShipped(type), left }
  })
}

/** How many units of each line item left, and came back. */
function unitsBack(db: Db, orderId: number): ReadonlyMap<number, number> {
  const units = new Map<number, number>()
  const rows = db.orm.select().from(orderReturns).where(eq(orderReturns.orderId, orderId)).all()
  for (const { itemId, quantity } of rows.flatMap(({ state, lines }) => (state === 'received' ? lines : [])))
    units.set(itemId, (units.get(itemId) ?? 0) + quantity)
  return units
}

/** What a shipment contains, in the order of the order's lines. */
export function linesOf(db: Db, { id, orderId }: Pick<ShipmentRow, 'id' | 'orderId'>): ShipmentLine[] {
  const quantities = shippedBy(db, { shipmentId: id })
  return itemsOf(db, orderId).flatMap((item, index) => {
    const quantity = quantities.get(item.id)
    return quantity === undefined ? [] : { line: index + 1, name: item.name, quantity }
  })
}

/** A shipment in its public form. `url` is the carrier's page about it; what the shop does not know is null. */
export const shipment = z
  .object({
    shippedAt: time,
    carrier: z.string().nullable().meta({ example: 'DHL' }),
    tracking: z.string().nullable().meta({ example: '00340434161094042557' }),
    url: z
      .string()
      .nullable()
      .meta({ description: "The carrier's page.", example: 'https://carrier.example/00340434161094042557' }),
    lines: z.array(
      z.object({
        line: z.int().meta({ description: 'The number of the line in the order, from 1.', example: 1 }),
        name: z.string().meta({ example: 'Storm lantern' }),
        quantity: z.int().meta({ example: 2 })
      })
    )
  })
  .meta({ id: 'Shipment', description: 'Goods that were handed to a carrier.' })
export type ShipmentView = z.infer<typeof shipment>

/** The shipments of an order, oldest first. */
export function listShipments(db: Db, orderId: number): ShipmentView[] {
  return shipmentsOf(db, orderId).map((shipment) => ({
    shippedAt: toIso(shipment.shippedAt),
    carrier: shipment.carrier,
    tracking: shipment.tracking,
    url: shipment.url,
    lines: linesOf(db, shipment)
  }))
}

/**
 * Removes the tracking numbers of an account's orders and of the guest orders with its email: the carrier's page can show
 * an address. It finds the guest orders by their email, so it runs before the orders lose it.
 */
export function forgetTracking(tx: Tx, person: Person): void {
  forgetTrackingOf(tx, ofPerson(person))
}

/** Removes the tracking numbers of the orders that match. */
export function forgetTrackingOf(tx: Tx, whose: SQL | undefined): void {
  const ids = tx.orm.select({ id: orders.id }).from(orders).where(whose)
  eraseRows(tx, shipments, inArray(shipments.orderId, ids))
}
