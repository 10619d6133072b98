import type { Db } from '../../platform/db/database.ts'
import { rawStatement, rowStatement, rowsStatement } from '../../platform/db/statements.ts'
import { itemsOf } from '../orders/find.ts'
import { isShipped } from '../catalog/product-types.ts'
import { shipments } from './schema.ts'

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
