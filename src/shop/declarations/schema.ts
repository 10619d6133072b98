import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { bool, instant, json, oneOf } from '../../platform/db/columns.ts'
import { internal, notPersonal, personal } from '../../platform/db/personal.ts'
import { orders } from '../orders/schema.ts'

export const declarationKinds = ['withdrawal', 'cancellation'] as const

/**
 * What buyers declared about their contracts without a login: that they withdraw from one (directive 2011/83/EU, article
 * 11a), or that they cancel a subscription (§ 312k BGB). A row is the record of what arrived and when, and stays as it is.
 */
export const declarations = sqliteTable(
  'declarations',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    kind: text('kind', { enum: declarationKinds }).notNull(),
    /** Null if the declaration does not match an order: then an operator finds it. */
    orderId: integer('order_id').references(() => orders.id),
    /** How the buyer named the contract, such as the number of the order. */
    contract: personal(text('contract').notNull(), ''),
    name: personal(text('name').notNull(), ''),
    email: personal(text('email'), null),
    emailKey: internal(text('email_key'), null),
    /** The ids of the line items that the buyer chose; null if they wrote which ones, or mean all of them. */
    itemIds: notPersonal(json('item_ids', z.array(z.int()))),
    message: personal(text('message'), null),
    /** Whether a subscription is cancelled for cause, which can end it at once. */
    isForCause: bool('is_for_cause').notNull().default(false),
    /** The day (YYYY-MM-DD) on which a subscription should end; null for as soon as possible. */
    wantedEnd: notPersonal(text('wanted_end')),
    /** When the subscription ends; null while that is not known. */
    endsAt: instant('ends_at'),
    language: notPersonal(text('language').notNull()),
    receivedAt: instant('received_at').notNull()
  },
  (t) => [
    index('declarations_by_order').on(t.orderId, t.id),
    index('declarations_by_email').on(t.emailKey, t.id),
    index('declarations_with_buyer')
      .on(t.receivedAt)
      .where(sql`email IS NOT NULL`),
    check('declarations_kind', oneOf(t.kind)),
    check('declarations_for_cause', sql`${t.isForCause} IN (0, 1)`)
  ]
)
