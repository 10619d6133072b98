import type { Tx } from '../../platform/db/database.ts'
import { shipmentItems, shipments } from './schema.ts'
import { trackingUrl } from './ship-order.ts'

/** Who sent a parcel that moved in. */
export const importer = 'import'

/** A parcel of another shop. `lines` are the order's line items with the quantity in the parcel. */
export type ImportedShipment = Pick<
  typeof shipments.$inferSelect,
  'orderId' | 'carrier' | 'tracking' | 'url' | 'shippedAt'
> & { lines: readonly { orderItemId: number; quantity: number }[] }

/** Stores a parcel of another shop as history, without an event and an email. The order keeps its state. */
export function insertImportedShipment(tx: Tx, { lines, ...columns }: ImportedShipment): void {
  const url = columns.url ?? trackingUrl(tx, columns.carrier, columns.tracking)
  const values = { ...columns, url, by: importer }
  const { id: shipmentId } = tx.orm.insert(shipments).values(values).returning({ id: shipments.id }).get()
  for (const { orderItemId, quantity } of lines)
    tx.orm.insert(shipmentItems).values({ shipmentId, orderItemId, quantity }).run()
}
