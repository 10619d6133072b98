import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AnySQLiteColumn, SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { bool, instant, json, minor, oneOf } from '../../platform/db/columns.ts'
import {
  deletedWithPerson,
  hasPersonalData,
  internal,
  kept,
  notPersonal,
  personal
} from '../../platform/db/personal.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { users } from '../accounts/schema.ts'
import { affiliates, candidate, visits } from '../affiliates/schema.ts'
import { coupons, products, variations } from '../catalog/schema.ts'
import { grantSchema } from '../catalog/grants.ts'
import { productTypes } from '../catalog/product-types.ts'
import { taxCategoryNames } from '../tax/categories.ts'
import { taxClasses, vatCheck } from '../tax/input.ts'
import { orderAddress, orderContact } from './address.ts'
import { chosenMethod } from '../shipping/input.ts'
import { creditSources } from '../settings/credit-sources.ts'
import { orderStatuses } from './states.ts'
import { strategyNames } from './strategies.ts'

/** What an order was in the shop that sold it. Times are epoch milliseconds, amounts minor units of the order's currency. */
export const importedRecord = z.object({
  /** The number that the buyer knows. */
  number: z.string(),
  status: z.string(),
  /** The name of the payment method, and the payment's id at the gateway. */
  payment: z.string(),
  transactionId: z.string(),
  /** The discount as that shop computed it. Here, a line whose price is not a multiple of its quantity has a discount. */
  discountMinor: z.number(),
  fees: z.array(z.object({ name: z.string(), totalMinor: z.number(), taxMinor: z.number() })),
  notes: z.array(z.object({ at: z.number(), text: z.string(), toCustomer: z.boolean() }))
})
export type ImportedRecord = z.output<typeof importedRecord>

/** To whom the gift cards of an order are sent, and when: a day, as YYYY-MM-DD. */
const giftRecipient = z.object({ email: z.string(), message: z.string().nullable(), sendOn: z.string().nullable() })

export const orders = sqliteTable(
  'orders',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** Null for a guest's order until an account with the same, verified email claims it. */
    userId: integer('user_id').references(() => users.id),
    email: personal(text('email'), null),
    emailKey: internal(text('email_key'), null),
    status: text('status', { enum: orderStatuses }).notNull(),
    currency: notPersonal(text('currency').notNull()),
    /** The sum of the lines before discounts. */
    subtotalMinor: minor('subtotal_minor').notNull(),
    discountMinor: minor('discount_minor').notNull(),
    /** What the buyer pays for shipping, and how it is shipped. Both stay when the shop's shipping methods change. */
    shippingMinor: minor('shipping_minor').notNull().default(0),
    shippingMethod: notPersonal(json('shipping_method', chosenMethod)),
    /** What the shipping costs with the tax that a business elsewhere in the EU does not pay; null if it is the same. */
    listShippingMinor: minor('list_shipping_minor'),
    /** What shipping the goods that renew costs alone, at its list price; null if none of them is shipped. */
    renewalShippingMinor: minor('renewal_shipping_minor'),
    /** The tax of the goods and of the shipping. If `taxIncluded`, the other amounts include it. */
    taxMinor: minor('tax_minor').notNull().default(0),
    /** The part of the tax that is on the goods. The rest is on the shipping. */
    goodsTaxMinor: minor('goods_tax_minor').notNull().default(0),
    taxIncluded: bool('tax_included').notNull().default(true),
    /** What the buyer pays. */
    totalMinor: minor('total_minor').notNull(),
    refundedMinor: minor('refunded_minor').notNull().default(0),
    strategy: text('strategy', { enum: strategyNames }).notNull(),
    contact: personal(json('contact', orderContact).notNull(), {}),
    billingAddress: personal(json('billing_address', orderAddress), null),
    shippingAddress: personal(json('shipping_address', orderAddress), null),
    notes: personal(text('notes'), null),
    /** To whom its gift cards are sent. */
    giftRecipient: personal(json('gift_recipient', giftRecipient), null),
    /** The VAT id of a business buyer. */
    vatId: personal(text('vat_id'), null),
    /** What VIES knew of it; null if the shop does not ask, or if it changes no tax. */
    vatCheck: personal(json('vat_check', vatCheck), null),
    /** What a business wants to read on its electronic invoice, such as the Leitweg-ID of an authority. */
    buyerReference: personal(text('buyer_reference'), null),
    /** The language tag of the buyer, for emails and documents; null for that of the shop. */
    language: notPersonal(text('language')),
    returnUrl: notPersonal(text('return_url')),
    cancelUrl: notPersonal(text('cancel_url')),
    /** Identifies the order in the addresses of its hosted pages. */
    publicToken: notPersonal(text('public_token').notNull()),
    /** The end of a pending order's hold on stock and coupons. */
    holdEndsAt: instant('hold_ends_at'),
    /** For a subscription's renewal: the order that started the subscription. */
    renewalOf: integer('renewal_of').references((): AnySQLiteColumn => orders.id),
    /** For an order that an operator made to change another one (shop/corrections): that order, with which it is packed. */
    addedTo: integer('added_to').references((): AnySQLiteColumn => orders.id),
    paidAt: instant('paid_at'),
    /** When the buyer agreed that files are delivered at once, and that the right to withdraw is lost by that. */
    deliveryConsentAt: instant('delivery_consent_at'),
    /** What the gateway gives for the number of the card, to compare it with the cards of an affiliate. */
    cardFingerprint: internal(text('card_fingerprint'), null),
    /**
     * The country of the bank that issued the card. Beside the billing address, it is the second piece of evidence of where
     * a buyer of downloads is (Implementing Regulation (EU) 282/2011, article 24f).
     */
    cardCountry: notPersonal(text('card_country')),
    /** The country of the client as the proxy named it (tax.countryHeader), another piece of evidence. */
    ipCountry: notPersonal(text('ip_country')),
    /** Whether the order was sold by another shop and moved in: it has no document here (imported-order.ts). */
    imported: bool('imported').notNull().default(false),
    importedRecord: personal(json('imported_record', importedRecord), null),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('orders_public_token').on(t.publicToken),
    index('orders_by_user').on(t.userId, t.createdAt, t.id),
    index('orders_completed_by_user')
      .on(t.userId)
      .where(sql`status = 'completed'`),
    index('orders_by_status').on(t.status, t.createdAt, t.id),
    index('orders_by_email').on(t.emailKey, t.id),
    index('orders_by_renewal')
      .on(t.renewalOf)
      .where(sql`renewal_of IS NOT NULL`),
    index('orders_by_addition')
      .on(t.addedTo)
      .where(sql`added_to IS NOT NULL`),
    // A covering index for reports, which read every paid order of a period.
    index('orders_paid')
      .on(
        t.paidAt,
        t.currency,
        t.subtotalMinor,
        t.discountMinor,
        t.shippingMinor,
        t.taxMinor,
        t.totalMinor,
        t.refundedMinor,
        t.imported
      )
      .where(sql`paid_at IS NOT NULL`),
    index('orders_by_time').on(t.createdAt, t.id),
    index('orders_unpaid_guests')
      .on(t.createdAt)
      .where(sql.raw(guestWithData(t, 'unpaid'))),
    index('orders_paid_guests')
      .on(t.createdAt)
      .where(sql.raw(guestWithData(t, 'paid'))),
    index('orders_held')
      .on(t.holdEndsAt)
      .where(sql`status = 'pending'`),
    check('orders_status', oneOf(t.status)),
    check('orders_strategy', oneOf(t.strategy)),
    check('orders_subtotal', sql`${t.subtotalMinor} >= 0`),
    check('orders_discount', sql`${t.discountMinor} BETWEEN 0 AND ${t.subtotalMinor}`),
    check('orders_shipping', sql`${t.shippingMinor} >= 0`),
    check('orders_tax', sql`${t.goodsTaxMinor} BETWEEN 0 AND ${t.taxMinor}`),
    check('orders_imported', sql`${t.imported} IN (0, 1)`),
    check('orders_tax_included', sql`${t.taxIncluded} IN (0, 1)`),
    check(
      'orders_total',
      sql`${t.totalMinor} = ${t.subtotalMinor} - ${t.discountMinor} + ${t.shippingMinor} + (1 - ${t.taxIncluded}) * ${t.taxMinor}`
    ),
    check('orders_refunded', sql`${t.refundedMinor} BETWEEN 0 AND ${t.totalMinor}`)
  ]
)

/** The SQL condition of an order without an account, paid or never paid, that still has personal data. */
export function guestWithData(columns: Readonly<Record<string, SQLiteColumn>>, which: 'paid' | 'unpaid'): string {
  return `user_id IS NULL AND paid_at IS ${which === 'paid' ? 'NOT NULL' : 'NULL'} AND (${hasPersonalData(columns)})`
}

export const orderItems = sqliteTable(
  'order_items',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    variationId: integer('variation_id').references(() => variations.id),
    name: notPersonal(text('name').notNull()),
    /** The variation's SKU at the time of the order; null for a product without variations. */
    sku: notPersonal(text('sku')),
    quantity: integer('quantity').notNull(),
    unitPriceMinor: minor('unit_price_minor').notNull(),
    /** The price with the tax that a business elsewhere in the EU does not pay; null if it is the same. */
    listPriceMinor: minor('list_price_minor'),
    discountMinor: minor('discount_minor').notNull(),
    /** After its share of the discounts. The lines add up to the order's subtotal minus its discount. */
    totalMinor: minor('total_minor').notNull(),
    /** The product's type, tax class, weight of one unit and grants at the time of the order. */
    type: text('type', { enum: productTypes }).notNull(),
    taxClass: text('tax_class', { enum: taxClasses }).notNull().default('standard'),
    weightGrams: integer('weight_grams'),
    grants: notPersonal(json('grants', z.array(grantSchema)).notNull()),
    /** Which of the order's taxes is on this line, from 0 in the order of their ids; null for a line without tax. */
    taxRow: integer('tax_row'),
    /** Units that this line takes from the product's stock and that have not left the shop. */
    stockTaken: integer('stock_taken').notNull()
  },
  (t) => [
    // A covering index for reports about products.
    index('order_items_by_order').on(t.orderId, t.id, t.productId, t.variationId, t.quantity, t.totalMinor),
    index('order_items_by_product').on(t.productId),
    check('order_items_quantity', sql`${t.quantity} > 0`),
    check('order_items_type', oneOf(t.type)),
    check('order_items_tax_class', oneOf(t.taxClass)),
    check('order_items_discount', sql`${t.discountMinor} >= 0`),
    // Without the tax, a line costs its whole price without it, and not its units' rounded prices.
    check(
      'order_items_total',
      sql`${t.totalMinor} + ${t.discountMinor} = ${t.unitPriceMinor} * ${t.quantity}
        OR (${t.listPriceMinor} IS NOT NULL AND abs(${t.totalMinor} + ${t.discountMinor} - ${t.unitPriceMinor} * ${t.quantity}) < 100 * ${t.quantity})`
    ),
    check('order_items_stock_taken', sql`${t.stockTaken} BETWEEN 0 AND ${t.quantity}`)
  ]
)

/** The taxes of an order: one row for each rate. A change of the shop's rates does not change them. */
export const orderTaxes = sqliteTable(
  'order_taxes',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    category: text('category', { enum: taxCategoryNames }).notNull().default('taxed'),
    name: notPersonal(text('name').notNull()),
    country: notPersonal(text('country').notNull()),
    region: notPersonal(text('region').notNull()),
    /** The country of the buyer, or to which the goods go. */
    destination: notPersonal(text('destination').notNull().default('')),
    rateMillionths: integer('rate_millionths').notNull(),
    /** What is taxed, without the tax. */
    baseMinor: minor('base_minor').notNull(),
    amountMinor: minor('amount_minor').notNull()
  },
  (t) => [
    index('order_taxes_by_order').on(t.orderId, t.id),
    check('order_taxes_category', oneOf(t.category)),
    check('order_taxes_base', sql`${t.baseMinor} >= 0`),
    check('order_taxes_amount', sql`${t.amountMinor} >= 0`)
  ]
)

/** Who holds an unpaid order (holds.ts). The row is deleted some time after the order is paid or released. */
export const orderHolders = sqliteTable(
  'order_holders',
  {
    orderId: integer('order_id')
      .primaryKey()
      .references(() => orders.id),
    buyer: kept(text('buyer').notNull(), 'A keyed hash; the row is deleted when the order is over.'),
    /** A keyed hash of what the checkout asked for. Null in rows of older versions. */
    cartKey: kept(text('cart_key'), 'A keyed hash; the row is deleted when the order is over.'),
    isGuest: bool('is_guest').notNull(),
    /** A keyed hash of the client address. */
    addressKey: kept(text('address_key').notNull(), 'A keyed hash; the row is deleted when the order is over.')
  },
  (t) => [index('order_holders_by_buyer').on(t.buyer), index('order_holders_by_address').on(t.addressKey)]
)

/**
 * Written in the transaction that creates the order, before any payment. It changes when a coupon is added to the unpaid
 * order, and when an operator credits an order whose affiliate was missed.
 */
export const orderAttributions = sqliteTable(
  'order_attributions',
  {
    orderId: integer('order_id')
      .primaryKey()
      .references(() => orders.id),
    affiliateId: integer('affiliate_id').references(() => affiliates.id),
    visitId: integer('visit_id').references(() => visits.id),
    affiliateRef: notPersonal(text('affiliate_ref').notNull()),
    affiliateCampaign: notPersonal(text('affiliate_campaign').notNull()),
    sourceType: text('source_type', { enum: ['referral', 'utm', 'typein'] }).notNull(),
    utmSource: notPersonal(text('utm_source')),
    utmMedium: notPersonal(text('utm_medium')),
    utmCampaign: notPersonal(text('utm_campaign')),
    utmContent: notPersonal(text('utm_content')),
    marketingUtmSource: notPersonal(text('marketing_utm_source')),
    marketingUtmMedium: notPersonal(text('marketing_utm_medium')),
    marketingUtmCampaign: notPersonal(text('marketing_utm_campaign')),
    marketingUtmContent: notPersonal(text('marketing_utm_content')),
    /** Everything that named an affiliate, in the order of precedence, for `orders explain`. */
    candidates: notPersonal(json('candidates', z.array(candidate)).notNull()),
    /** What credits the affiliate; null without one. `import`: another shop did. */
    creditedBy: text('credited_by', { enum: [...creditSources, 'operator', 'import'] })
  },
  (t) => [
    index('order_attributions_by_affiliate').on(t.affiliateId),
    check('order_attributions_source_type', oneOf(t.sourceType)),
    check('order_attributions_credited_by', oneOf(t.creditedBy))
  ]
)

export const orderCoupons = sqliteTable(
  'order_coupons',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    couponId: integer('coupon_id')
      .notNull()
      .references(() => coupons.id),
    code: notPersonal(text('code').notNull()),
    discountMinor: minor('discount_minor').notNull(),
    /** The customer for the limit per customer: `user:7`, `email:a@b.example`, or null while the buyer is unknown. */
    customerKey: internal(text('customer_key'), null),
    /** The keyed hash of the buyer's email (db/keyed-hash.ts), once the order has lost it. */
    mailboxHash: kept(text('mailbox_hash'), 'A coupon that each customer may use once stays used.'),
    /** 1 while the order counts as a use of the coupon. */
    counted: integer('counted').notNull()
  },
  (t) => [
    uniqueIndex('order_coupons_once').on(t.orderId, t.couponId),
    index('order_coupons_by_customer').on(t.couponId, t.customerKey),
    index('order_coupons_by_mailbox')
      .on(t.mailboxHash)
      .where(sql`mailbox_hash IS NOT NULL`),
    check('order_coupons_counted', sql`${t.counted} IN (0, 1)`),
    check('order_coupons_discount', sql`${t.discountMinor} >= 0`)
  ]
)

/** The audit row of each move; `from` is null for the first. */
export const orderHistory = sqliteTable(
  'order_history',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    from: text('from_status', { enum: orderStatuses }),
    to: text('to_status', { enum: orderStatuses }).notNull(),
    by: notPersonal(text('by').notNull()),
    reason: notPersonal(text('reason').notNull()),
    at: instant('at').notNull()
  },
  (t) => [index('order_history_by_order').on(t.orderId, t.id)]
)

/** What can be corrected in an order. A change stores only the parts that differ. */
export const orderDetails = orderContact.extend({
  email: z.string().exactOptional(),
  shipTo: orderAddress.exactOptional(),
  shippingMethod: z.string().exactOptional(),
  lines: z.array(z.object({ name: z.string(), quantity: z.number() })).exactOptional(),
  totalMinor: z.number().exactOptional()
})
export type OrderDetails = z.output<typeof orderDetails>

/** What an operator changed in an order after it was placed. */
export const orderChanges = sqliteTable(
  'order_changes',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id')
      .notNull()
      .references(() => orders.id),
    /** The order that adds what was added. */
    additionId: integer('addition_id').references(() => orders.id),
    before: personal(json('before', orderDetails).notNull(), {}),
    after: personal(json('after', orderDetails).notNull(), {}),
    by: notPersonal(text('by').notNull()),
    at: instant('at').notNull()
  },
  (t) => [index('order_changes_by_order').on(t.orderId, t.id)]
)

/** What the people of the shop note about an order or an account. */
export const notes = deletedWithPerson(
  sqliteTable(
    'notes',
    {
      id: integer('id').primaryKey({ autoIncrement: true }),
      orderId: integer('order_id').references(() => orders.id),
      userId: integer('user_id').references(() => users.id),
      text: text('text').notNull(),
      by: text('by').notNull(),
      at: instant('at').notNull()
    },
    (t) => [
      index('notes_by_order').on(t.orderId, t.id),
      index('notes_by_user').on(t.userId, t.id),
      check('notes_subject', sql`(order_id IS NULL) <> (user_id IS NULL)`)
    ]
  )
)

/** The number of orders of each customer, maintained by triggers, so that a page of orders does not count them. */
export const customerOrderTotals = sqliteTable('customer_order_totals', {
  userId: integer('user_id').primaryKey(),
  total: integer('total').notNull()
})

const refuse = (reason: string): string => `SELECT RAISE(ABORT, '${reason}')`
const appendOnly = 'the audit rows are append-only'
export const triggers: readonly Trigger[] = [
  {
    name: 'orders_counted',
    event: 'AFTER INSERT',
    on: orders,
    when: 'NEW.user_id IS NOT NULL',
    run: `INSERT INTO customer_order_totals (user_id, total) VALUES (NEW.user_id, 1)
          ON CONFLICT (user_id) DO UPDATE SET total = total + 1`
  },
  {
    name: 'orders_moved',
    event: 'AFTER UPDATE OF user_id',
    on: orders,
    when: 'OLD.user_id IS NOT NEW.user_id',
    run: `UPDATE customer_order_totals SET total = total - 1 WHERE user_id = OLD.user_id;
          INSERT INTO customer_order_totals (user_id, total) SELECT NEW.user_id, 1 WHERE NEW.user_id IS NOT NULL
          ON CONFLICT (user_id) DO UPDATE SET total = total + 1`
  },
  { name: 'orders_kept', event: 'BEFORE DELETE', on: orders, run: refuse('orders are never deleted') },
  { name: 'order_history_unchanged', event: 'BEFORE UPDATE', on: orderHistory, run: refuse(appendOnly) },
  { name: 'order_history_kept', event: 'BEFORE DELETE', on: orderHistory, run: refuse(appendOnly) }
]
