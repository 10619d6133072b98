import type { Db } from '../../platform/db/database.ts'
import { toIso } from '../../platform/iso-time.ts'
import { linesOf, shipmentsOf } from './find.ts'
import type { ShipmentLine } from './find.ts'

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
