import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, json, oneOf } from '../../platform/db/columns.ts'
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

/** What a buyer gets in exchange for goods that come back. */
export const exchangedItem = z.object({
  productId: z.number(),
  variationId: z.number().optional(),
  quantity: z.number()
})

/** Goods of an order that come back, or came. `received` has the order with what the buyer gets instead, or was refunded. */
export const orderReturns = sqliteTable(
  'order_returns',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    state: text('state', { enum: ['expected', 'received', 'dropped'] }).notNull(),
    askedBy: text('asked_by', { enum: ['operator', 'buyer'] }).notNull(),
    lines: notPersonal(json('lines', z.array(z.object({ itemId: z.number(), quantity: z.number() }))).notNull()),
    exchange: notPersonal(json('exchange', z.array(exchangedItem)).notNull()),
    additionId: integer('addition_id').references(() => orders.id),
    createdAt: instant('created_at').notNull(),
    receivedAt: instant('received_at')
  },
  (t) => [
    index('order_returns_by_order').on(t.orderId, t.id),
    index('order_returns_expected')
      .on(t.id)
      .where(sql`state = 'expected'`),
    check('order_returns_state', oneOf(t.state)),
    check('order_returns_asked_by', oneOf(t.askedBy))
  ]
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
