import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import { itemsOf } from '../orders/find.ts'
import { isShipped } from '../catalog/product-types.ts'
import { shipments } from './schema.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { UserRow } from '../accounts/rows.ts'

export type ShipmentRow = typeof shipments.$inferSelect

/** A line of an order by its number, from 1, with what was shipped of it. */
export type LineProgress = { line: number; itemId: number; name: string; left: number; isShippable: boolean }

/** The lines of a shipment; `line` is the number of the line in the order, from 1. */
export type ShipmentLine = { line: number; name: string; quantity: number }

/** The shipments of an order, oldest first. */
export const shipmentsOf = rowsStatement(shipments, 'order_id = ? ORDER BY id')
/** The shipment with an id. */
export const findShipment = rowStatement(shipments, 'id = ?')

const itemsIn = rawStatement<[number], { itemId: number; quantity: number }>(
  'SELECT order_item_id AS itemId, quantity FROM shipment_items WHERE shipment_id = ?'
)
const shippedOf = rawStatement<[number], { itemId: number; quantity: number }>(`
  SELECT i.order_item_id AS itemId, sum(i.quantity) AS quantity
  FROM shipments s JOIN shipment_items i ON i.shipment_id = s.id
  WHERE s.order_id = ? GROUP BY i.order_item_id`)

/** Every line of an order with the quantity that is still to be shipped: 0 for a line that is not shipped at all. */
export function progressOf(db: Db, orderId: number): LineProgress[] {
  const shipped = new Map(
    shippedOf(db)
      .all(orderId)
      .map(({ itemId, quantity }) => [itemId, quantity])
  )
  return itemsOf(db, orderId).map(({ id: itemId, name, type, quantity }, index) => ({
    line: index + 1,
    itemId,
    name,
    isShippable: isShipped(type),
    left: isShipped(type) ? quantity - (shipped.get(itemId) ?? 0) : 0
  }))
}

/** What a shipment contains, in the order of the order's lines. */
export function linesOf(db: Db, { id, orderId }: Pick<ShipmentRow, 'id' | 'orderId'>): ShipmentLine[] {
  const quantities = new Map(
    itemsIn(db)
      .all(id)
      .map(({ itemId, quantity }) => [itemId, quantity])
  )
  return itemsOf(db, orderId).flatMap((item, index) => {
    const quantity = quantities.get(item.id)
    return quantity === undefined ? [] : { line: index + 1, name: item.name, quantity }
  })
}

/** A shipment in its public form. `url` is the carrier's page about it; what the shop does not know is null. */
export type ShipmentView = {
  shippedAt: string
  carrier: string | null
  tracking: string | null
  url: string | null
  lines: ShipmentLine[]
}

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

const forget = rawStatement<{ userId: number; emailKey: string }>(`
  UPDATE shipments SET tracking = NULL, url = NULL
  WHERE order_id IN (SELECT id FROM orders WHERE user_id = @userId OR (user_id IS NULL AND email_key = @emailKey))`)

/**
 * Removes the tracking numbers of an account's orders and of the guest orders with its email: the carrier's page can show
 * an address. It finds the guest orders by their email, so it runs before the orders lose it.
 */
export function forgetTracking(tx: Tx, { id: userId, emailKey }: Pick<UserRow, 'id' | 'emailKey'>): void {
  forget(tx).run({ userId, emailKey })
}
