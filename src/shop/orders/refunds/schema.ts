import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, minor, oneOf } from '../../../platform/db/columns.ts'
import { notPersonal } from '../../../platform/db/personal.ts'
import type { Trigger } from '../../../platform/db/trigger.ts'
import { giftCards } from '../../gift-cards/schema.ts'
import { orderItems, orders } from '../schema.ts'

/** What was given back to the buyer. A refund without lines is an amount, such as one made in the gateway's dashboard. */
export const orderRefunds = sqliteTable(
  'order_refunds',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    amountMinor: minor('amount_minor').notNull(),
    /** The part of the amount that returns goods. The rest returns shipping. */
    goodsMinor: minor('goods_minor').notNull(),
    /** What the operator says. */
    reason: notPersonal(text('reason')),
    /** `failed`: the money did not reach the buyer, so nothing was given back. */
    state: text('state', { enum: ['requested', 'done', 'failed'] }).notNull(),
    /** Where the money goes: back the way it was paid, to the payment of another order (order_credits), or onto a gift card. */
    way: text('way', { enum: ['payment', 'order', 'gift_card'] })
      .notNull()
      .default('payment'),
    /** The card to which it goes back. */
    giftCardId: integer('gift_card_id').references(() => giftCards.id),
    createdAt: instant('created_at').notNull(),
    doneAt: instant('done_at')
  },
  (t) => [
    index('order_refunds_by_order').on(t.orderId, t.id),
    check('order_refunds_way', oneOf(t.way)),
    check('order_refunds_gift_card', sql`(${t.way} = 'gift_card') = (${t.giftCardId} IS NOT NULL)`),
    check('order_refunds_state', oneOf(t.state)),
    check('order_refunds_goods', sql`${t.goodsMinor} BETWEEN 0 AND ${t.amountMinor}`)
  ]
)

/** A line item that a refund gives back, or the shipping at one tax rate. The lines add up to the refund's amount. */
export const refundLines = sqliteTable(
  'refund_lines',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    refundId: integer('refund_id')
      .notNull()
      .references(() => orderRefunds.id),
    /** Null for shipping. */
    orderItemId: integer('order_item_id').references(() => orderItems.id),
    /** As in the line item. */
    taxRow: integer('tax_row'),
    quantity: integer('quantity').notNull(),
    /** With tax. */
    amountMinor: minor('amount_minor').notNull(),
    taxMinor: minor('tax_minor').notNull(),
    /** Units that go back to the stock; null for those that never left the shop. */
    restock: integer('restock'),
    /** Units that the line item held in stock and that this refund released. */
    released: integer('released').notNull().default(0)
  },
  (t) => [
    index('refund_lines_by_refund').on(t.refundId, t.id),
    check('refund_lines_quantity', sql`${t.quantity} >= 0`),
    check('refund_lines_amount', sql`${t.amountMinor} >= 0`),
    check('refund_lines_tax', sql`${t.taxMinor} BETWEEN 0 AND ${t.amountMinor}`)
  ]
)

/**
 * What pays an order besides the payment of its buyer: what another order gives back, or a gift card. It is held until the
 * order is paid, and returned when the order ends without a payment.
 */
export const orderCredits = sqliteTable(
  'order_credits',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** The order that it pays. */
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    refundId: integer('refund_id').references(() => orderRefunds.id),
    giftCardId: integer('gift_card_id').references(() => giftCards.id),
    /** Of a gift card, it follows the total of an unpaid order, and can be 0. */
    amountMinor: minor('amount_minor').notNull(),
    state: text('state', { enum: ['held', 'spent', 'returned'] }).notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    index('order_credits_by_order').on(t.orderId, t.id),
    uniqueIndex('order_credits_by_refund').on(t.refundId),
    uniqueIndex('order_credits_by_gift_card').on(t.giftCardId, t.orderId),
    check('order_credits_state', oneOf(t.state)),
    check('order_credits_source', sql`(${t.refundId} IS NULL) <> (${t.giftCardId} IS NULL)`),
    check('order_credits_amount', sql`${t.amountMinor} > 0 OR (${t.giftCardId} IS NOT NULL AND ${t.amountMinor} = 0)`)
  ]
)

/** What a credit holds of a gift card, which refuses to be held twice (`gift_cards_held`). */
const heldBy = (row: 'NEW' | 'OLD'): string => `(${row}.state = 'held') * ${row}.amount_minor`
export const triggers: readonly Trigger[] = [
  {
    name: 'order_credits_hold_card',
    event: 'AFTER INSERT',
    on: orderCredits,
    when: 'NEW.gift_card_id IS NOT NULL',
    run: `UPDATE gift_cards SET held_minor = held_minor + ${heldBy('NEW')} WHERE id = NEW.gift_card_id`
  },
  {
    name: 'order_credits_held_card',
    event: 'AFTER UPDATE OF state, amount_minor',
    on: orderCredits,
    when: 'NEW.gift_card_id IS NOT NULL',
    run: `UPDATE gift_cards SET held_minor = held_minor - ${heldBy('OLD')} + ${heldBy('NEW')} WHERE id = NEW.gift_card_id`
  }
]
