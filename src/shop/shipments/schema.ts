import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant } from '../../platform/db/columns.ts'
import { notPersonal, personal } from '../../platform/db/personal.ts'
import { orderItems, orders } from '../orders/schema.ts'

/** Goods of an order that were handed to a carrier. Erasing the buyer removes `tracking` and `url`. */
export const shipments = sqliteTable(
  'shipments',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    carrier: notPersonal(text('carrier')),
    tracking: personal(text('tracking'), null),
    /** The carrier's page that shows where the goods are. */
    url: personal(text('url'), null),
    by: notPersonal(text('by').notNull()),
    shippedAt: instant('shipped_at').notNull()
  },
  (t) => [index('shipments_by_order').on(t.orderId, t.id)]
)

export const shipmentItems = sqliteTable(
  'shipment_items',
  {
    shipmentId: integer('shipment_id')
      .notNull()
      .references(() => shipments.id),
    orderItemId: integer('order_item_id')
      .notNull()
      .references(() => orderItems.id),
    quantity: integer('quantity').notNull()
  },
  (t) => [
    primaryKey({ columns: [t.shipmentId, t.orderItemId] }),
    index('shipment_items_by_item').on(t.orderItemId),
    check('shipment_items_quantity', sql`${t.quantity} > 0`)
  ]
)
