import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { bool, instant, json, minor, oneOf } from '../../platform/db/columns.ts'
import { deletedWithPerson, notPersonal } from '../../platform/db/personal.ts'
import { users } from '../accounts/schema.ts'
import { orderRefunds } from '../orders/refunds/schema.ts'
import { orders } from '../orders/schema.ts'

/**
 * One attempt to pay an order, committed before the gateway is called, with random idempotency keys: order ids can repeat
 * after a restore or on a shared test account, these keys cannot.
 */
export const paymentAttempts = sqliteTable(
  'payment_attempts',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    gateway: text('gateway', { enum: ['stripe', 'sandbox', 'manual', 'none'] }).notNull(),
    /** `invoice`: the gateway collected another period of a subscription by itself. */
    kind: text('kind', { enum: ['checkout_session', 'payment_intent', 'invoice', 'manual', 'none'] }).notNull(),
    /** Random. The gateway's metadata carries it, which proves that an object belongs to this attempt. */
    token: notPersonal(text('token').notNull()),
    /** The idempotency keys at the gateway; empty after the outcome, as the page is. */
    createKey: notPersonal(text('create_key').notNull()),
    confirmKey: notPersonal(text('confirm_key').notNull()),
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    livemode: bool('livemode').notNull(),
    /** The id of the Checkout Session, PaymentIntent or Invoice, once known. */
    objectId: notPersonal(text('object_id')),
    paymentIntentId: notPersonal(text('payment_intent_id')),
    url: notPersonal(text('url')),
    /** The status in the gateway's own vocabulary. */
    gatewayStatus: notPersonal(text('gateway_status')),
    /** Null until it is final. */
    outcome: text('outcome', { enum: ['paid', 'failed', 'expired', 'abandoned'] }),
    /** The coupon at Stripe that carries the order's discount; null when there is none or it was deleted again. */
    discountCouponId: notPersonal(text('discount_coupon_id')),
    expiresAt: instant('expires_at'),
    settledAt: instant('settled_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('payment_attempts_token').on(t.token),
    uniqueIndex('payment_attempts_object').on(t.objectId),
    index('payment_attempts_by_intent').on(t.paymentIntentId),
    index('payment_attempts_by_order').on(t.orderId, t.id),
    index('payment_attempts_open')
      .on(t.updatedAt)
      .where(sql`outcome IS NULL`),
    index('payment_attempts_by_discount')
      .on(t.id)
      .where(sql`discount_coupon_id IS NOT NULL`),
    check('payment_attempts_gateway', oneOf(t.gateway)),
    check('payment_attempts_kind', oneOf(t.kind)),
    check('payment_attempts_outcome', oneOf(t.outcome)),
    check('payment_attempts_amount', sql`${t.amountMinor} >= 0`),
    check('payment_attempts_livemode', sql`${t.livemode} IN (0, 1)`)
  ]
)

/** One customer at Stripe for each account. The row is committed before Stripe is asked, so two checkouts make one. */
export const gatewayCustomers = deletedWithPerson(
  sqliteTable(
    'gateway_customers',
    {
      userId: integer('user_id')
        .notNull()
        .references(() => users.id),
      gateway: text('gateway', { enum: ['stripe', 'sandbox'] }).notNull(),
      livemode: bool('livemode').notNull(),
      /** Null until Stripe has answered. */
      customerId: text('customer_id'),
      createKey: text('create_key').notNull(),
      /** The email that the customer is created with. */
      email: text('email').notNull(),
      /** A hash of the email, name, phone and addresses that Stripe has; null before the first update. */
      details: text('details'),
      createdAt: instant('created_at').notNull()
    },
    (t) => [
      primaryKey({ columns: [t.userId, t.gateway, t.livemode] }),
      check('gateway_customers_gateway', oneOf(t.gateway)),
      check('gateway_customers_livemode', sql`${t.livemode} IN (0, 1)`)
    ]
  )
)

export const refunds = sqliteTable(
  'refunds',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    /** The payment that it returns: that of the order, or of another order whose credit pays it. */
    attemptId: integer('attempt_id').references(() => paymentAttempts.id),
    /** What it gives back; null until it counts for the order, if the shop did not request it. */
    orderRefundId: integer('order_refund_id').references(() => orderRefunds.id),
    amountMinor: minor('amount_minor').notNull(),
    currency: notPersonal(text('currency').notNull()),
    gatewayKey: notPersonal(text('gateway_key').notNull()),
    gatewayRefundId: notPersonal(text('gateway_refund_id')),
    state: text('state', { enum: ['requested', 'done', 'failed'] }).notNull(),
    by: notPersonal(text('by').notNull()),
    reason: notPersonal(text('reason').notNull()),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    index('refunds_by_order').on(t.orderId, t.id),
    index('refunds_by_attempt').on(t.attemptId),
    uniqueIndex('refunds_by_order_refund').on(t.orderRefundId),
    index('refunds_open')
      .on(t.id)
      .where(sql`state = 'requested'`),
    uniqueIndex('refunds_gateway_refund').on(t.gatewayRefundId),
    uniqueIndex('refunds_gateway_key').on(t.gatewayKey),
    check('refunds_state', oneOf(t.state)),
    check('refunds_amount', sql`${t.amountMinor} > 0`)
  ]
)

/** Gateway events that have been applied; the primary key admits one of two concurrent deliveries. */
export const webhookInbox = sqliteTable(
  'webhook_inbox',
  {
    eventId: text('event_id').primaryKey(),
    type: text('type').notNull(),
    objectId: text('object_id'),
    outcome: text('outcome').notNull(),
    eventCreatedAt: instant('event_created_at').notNull(),
    appliedAt: instant('applied_at').notNull()
  },
  (t) => [index('webhook_inbox_by_time').on(t.appliedAt)]
)

/** Warnings for the operator: a payment that does not match its order, a late payment, a dispute, a failed refund. */
export const paymentWarnings = sqliteTable(
  'payment_warnings',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id').references(() => orders.id),
    kind: notPersonal(text('kind').notNull()),
    objectId: notPersonal(text('object_id').notNull()),
    message: notPersonal(text('message').notNull()),
    createdAt: instant('created_at').notNull(),
    resolvedAt: instant('resolved_at')
  },
  (t) => [
    uniqueIndex('payment_warnings_once').on(t.kind, t.objectId),
    index('payment_warnings_open')
      .on(t.createdAt)
      .where(sql`resolved_at IS NULL`)
  ]
)

/** How the signatures of Stripe's webhooks fared: one row, which is written at most a few times a minute. */
export const webhookSignatures = sqliteTable(
  'webhook_signatures',
  {
    id: integer('id').primaryKey(),
    refused: integer('refused').notNull(),
    refusedSinceAccepted: integer('refused_since_accepted').notNull(),
    refusedAt: instant('refused_at'),
    acceptedAt: instant('accepted_at')
  },
  (t) => [check('webhook_signatures_one', sql`${t.id} = 1`)]
)

/** A delivery that arrived for a probe. `isAccepted`: the server's own secret verified it. */
const probeDelivery = z.object({ body: z.string(), signature: z.string(), isAccepted: z.boolean() })
export type ProbeDelivery = z.output<typeof probeDelivery>

/**
 * A round trip that `shopstead stripe setup` waits for: it creates an object at Stripe that carries the token, and the
 * server stores the deliveries that contain it.
 */
export const webhookProbes = sqliteTable('webhook_probes', {
  token: text('token').primaryKey(),
  deliveries: json('deliveries', z.array(probeDelivery)).notNull(),
  createdAt: instant('created_at').notNull()
})
