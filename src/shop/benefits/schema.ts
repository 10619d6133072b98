import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bool, instant, minor, oneOf } from '../../platform/db/columns.ts'
import { notPersonal } from '../../platform/db/personal.ts'
import { users } from '../accounts/schema.ts'
import { products } from '../catalog/schema.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { raiseRevision } from '../settings/schema.ts'

export const plans = sqliteTable(
  'plans',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    module: text('module', { enum: ['A', 'B'] }).notNull(),
    /** The active membership with the highest rank is a person's primary plan. */
    rank: integer('rank').notNull(),
    isPro: bool('is_pro').notNull()
  },
  (t) => [
    uniqueIndex('plans_slug').on(t.slug),
    check('plans_module', oneOf(t.module)),
    check('plans_is_pro', sql`${t.isPro} IN (0, 1)`)
  ]
)

export const campaigns = sqliteTable(
  'campaigns',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    slug: text('slug').notNull(),
    name: text('name').notNull()
  },
  (t) => [uniqueIndex('campaigns_slug').on(t.slug)]
)

/**
 * The order and line of a benefit, or nulls for an operator's grant. Without a foreign key, because orders are a layer
 * above.
 */
const source = () => ({ orderId: integer('order_id'), orderItemId: integer('order_item_id') })

export const memberships = sqliteTable(
  'memberships',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    planId: integer('plan_id')
      .notNull()
      .references(() => plans.id),
    startedAt: instant('started_at').notNull(),
    /** Null for life. */
    expiresAt: instant('expires_at'),
    cancelledAt: instant('cancelled_at'),
    ...source()
  },
  (t) => [index('memberships_by_user').on(t.userId), index('memberships_by_order').on(t.orderId)]
)

export const subscriptions = sqliteTable(
  'subscriptions',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    interval: text('interval', { enum: ['month', 'year'] }).notNull(),
    isPro: bool('is_pro').notNull(),
    startedAt: instant('started_at').notNull(),
    currentPeriodEnd: instant('current_period_end').notNull(),
    cancelAtPeriodEnd: bool('cancel_at_period_end').notNull().default(false),
    pastDueSince: instant('past_due_since'),
    cancelledAt: instant('cancelled_at'),
    /**
     * Stripe's id if Stripe renews it; null for a fixed period. A subscription at Stripe contains all subscription
     * products of its cart, so several rows can have the same id.
     */
    gatewayId: notPersonal(text('gateway_id')),
    ...source()
  },
  (t) => [
    index('subscriptions_by_user').on(t.userId),
    index('subscriptions_by_order').on(t.orderId),
    index('subscriptions_by_gateway').on(t.gatewayId),
    index('subscriptions_to_end')
      .on(t.gatewayId)
      .where(sql`cancelled_at IS NOT NULL AND gateway_id IS NOT NULL`),
    check('subscriptions_interval', oneOf(t.interval)),
    check('subscriptions_is_pro', sql`${t.isPro} IN (0, 1)`),
    check('subscriptions_cancel_at_period_end', sql`${t.cancelAtPeriodEnd} IN (0, 1)`)
  ]
)

/**
 * The gateway's subscriptions by their orders, whether or not an account has the benefit: the gateway also charges for
 * a guest's order and for an order on hold, until the subscription is ended.
 */
export const gatewaySubscriptions = sqliteTable(
  'gateway_subscriptions',
  {
    gatewayId: notPersonal(text('gateway_id').primaryKey()),
    orderId: integer('order_id').notNull(),
    /** The end of the paid period. */
    currentPeriodEnd: instant('current_period_end').notNull(),
    /** When the shop learned that it ended at the gateway. The gateway is not asked again. */
    endedAt: instant('ended_at'),
    /** Whether it ends with the paid period. A guest's order has no row in `subscriptions` that says so. */
    cancelAtPeriodEnd: bool('cancel_at_period_end').notNull().default(false),
    /**
     * The latest failed attempt to charge a renewal that an email reported: the invoice and the number of the attempt.
     */
    reportedTry: notPersonal(text('reported_try'))
  },
  (t) => [
    index('gateway_subscriptions_by_order').on(t.orderId),
    index('gateway_subscriptions_open')
      .on(t.gatewayId)
      .where(sql`ended_at IS NULL`),
    check('gateway_subscriptions_cancel', sql`${t.cancelAtPeriodEnd} IN (0, 1)`)
  ]
)

/** The period of each paid renewal invoice, with the order of the renewal. */
export const subscriptionInvoices = sqliteTable(
  'subscription_invoices',
  {
    invoiceId: notPersonal(text('invoice_id').primaryKey()),
    orderId: integer('order_id').notNull(),
    gatewayId: notPersonal(text('gateway_id').notNull()),
    periodStart: instant('period_start').notNull(),
    periodEnd: instant('period_end').notNull()
  },
  (t) => [
    uniqueIndex('subscription_invoices_order').on(t.orderId),
    index('subscription_invoices_by_gateway').on(t.gatewayId, t.periodEnd)
  ]
)

export const enrolments = sqliteTable(
  'enrolments',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    course: notPersonal(text('course').notNull()),
    startedAt: instant('started_at').notNull(),
    revokedAt: instant('revoked_at'),
    ...source()
  },
  (t) => [index('enrolments_by_user').on(t.userId), index('enrolments_by_order').on(t.orderId)]
)

export const downloadPermissions = sqliteTable(
  'download_permissions',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** Null for a guest's order, whose page has the links. */
    userId: integer('user_id').references(() => users.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    file: notPersonal(text('file').notNull()),
    startedAt: instant('started_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    ...source()
  },
  (t) => [index('download_permissions_by_user').on(t.userId), index('download_permissions_by_order').on(t.orderId)]
)

export const donations = sqliteTable(
  'donations',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    campaignId: integer('campaign_id').references(() => campaigns.id),
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    createdAt: instant('created_at').notNull(),
    revokedAt: instant('revoked_at'),
    ...source()
  },
  (t) => [
    index('donations_by_user').on(t.userId, t.id),
    index('donations_by_order').on(t.orderId),
    check('donations_amount', sql`${t.amountMinor} >= 0`)
  ]
)

/** The page of a product names the plan that it gives. */
export const triggers: readonly Trigger[] = [
  { name: 'plans_inserted', event: 'AFTER INSERT', on: plans, run: raiseRevision('catalog') },
  { name: 'plans_updated', event: 'AFTER UPDATE OF name', on: plans, run: raiseRevision('catalog') }
]
