import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { deletedWithPerson, internal, kept, notPersonal, personal } from '../../platform/db/personal.ts'
import { users } from '../accounts/schema.ts'
import { categories, coupons, products } from '../catalog/schema.ts'
import { creditSources } from '../settings/credit-sources.ts'

export const affiliates = sqliteTable(
  'affiliates',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id),
    /** Unique after an erasure, too: a code that is chosen for an affiliate cannot contain a space (parseCode). */
    code: personal(text('code').notNull(), sql`'erased ' || id`),
    codeKey: internal(text('code_key').notNull(), sql`'erased ' || id`),
    status: text('status', { enum: ['pending', 'active', 'inactive', 'rejected'] }).notNull(),
    termsVersion: notPersonal(text('terms_version')),
    termsAcceptedAt: instant('terms_accepted_at'),
    website: personal(text('website'), null),
    message: personal(text('message'), null),
    /** Of an erased account only: keyed hashes, which do not show the email and the code (former.ts). */
    mailboxHash: kept(text('mailbox_hash'), 'Accounting: what an erased affiliate owes is found again.'),
    codeHash: kept(text('code_hash'), 'Fraud: the links of an erased affiliate never earn for another person.'),
    /** The new account of an erased affiliate's mailbox, which what is owed counts for. */
    successorId: integer('successor_id').references((): AnySQLiteColumn => affiliates.id),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('affiliates_user').on(t.userId),
    uniqueIndex('affiliates_code_key').on(t.codeKey),
    index('affiliates_erased_mailbox')
      .on(t.mailboxHash)
      .where(sql`mailbox_hash IS NOT NULL`),
    index('affiliates_erased_code')
      .on(t.codeHash)
      .where(sql`code_hash IS NOT NULL`),
    index('affiliates_by_successor')
      .on(t.successorId)
      .where(sql`successor_id IS NOT NULL`),
    check('affiliates_status', oneOf(t.status))
  ]
)

/** One way in which an order names an affiliate, and what became of it. */
export const candidate = z.object({
  by: z.enum(creditSources),
  /** The ref, the coupon code, or the code of the customer's affiliate. */
  named: z.string(),
  /** Null if it names no affiliate of the shop. */
  affiliateId: z.int().nullable(),
  /** `outranked`: it would count, but another one takes precedence. */
  outcome: z.enum(['credited', 'outranked', 'unknown', 'not_active', 'self', 'expired', 'module_off'])
})
export type Candidate = z.infer<typeof candidate>

/** The coupons that belong to affiliates, who are credited with the orders that use them. */
export const affiliateCoupons = sqliteTable(
  'affiliate_coupons',
  {
    couponId: integer('coupon_id')
      .primaryKey()
      .references(() => coupons.id),
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    createdAt: instant('created_at').notNull()
  },
  (t) => [index('affiliate_coupons_by_affiliate').on(t.affiliateId)]
)

/**
 * Commission rates, with the days on which they count: of an affiliate, or of a product, a category or a coupon for all
 * affiliates or for one. Goods without one have the shop's `affiliates.rate`. Their amounts never change, and a new rate is
 * a new row, so the rate of each time can be found.
 */
export const commissionRates = sqliteTable(
  'commission_rates',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** Null for all affiliates. */
    affiliateId: integer('affiliate_id').references(() => affiliates.id),
    productId: integer('product_id').references(() => products.id),
    categoryId: integer('category_id').references(() => categories.id),
    couponId: integer('coupon_id').references(() => coupons.id),
    /** Basis points. Null: excluded, earns nothing whatever other rates say. */
    rateBps: integer('rate_bps'),
    startsAt: instant('starts_at').notNull(),
    /** Null without an end; the start for a planned rate that never began. */
    endsAt: instant('ends_at'),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    index('commission_rates_by_affiliate').on(t.affiliateId, t.startsAt),
    check('commission_rates_rate', sql`${t.rateBps} BETWEEN 0 AND 10000`),
    check(
      'commission_rates_target',
      sql`(${t.productId} IS NOT NULL) + (${t.categoryId} IS NOT NULL) + (${t.couponId} IS NOT NULL)
          BETWEEN (${t.affiliateId} IS NULL OR ${t.rateBps} IS NULL) AND 1`
    ),
    check('commission_rates_period', sql`${t.endsAt} >= ${t.startsAt}`)
  ]
)

/** The customers who registered by the link of an affiliate, while `affiliates.customerDays` is on. */
export const affiliateCustomers = deletedWithPerson(
  sqliteTable(
    'affiliate_customers',
    {
      userId: integer('user_id')
        .primaryKey()
        .references(() => users.id),
      affiliateId: integer('affiliate_id')
        .notNull()
        .references(() => affiliates.id),
      campaign: text('campaign'),
      boundAt: instant('bound_at').notNull()
    },
    (t) => [index('affiliate_customers_by_affiliate').on(t.affiliateId)]
  )
)

/** One row for each checkout that is credited to an affiliate. `orderId` has no foreign key, because affiliates must not import orders. */
export const visits = sqliteTable(
  'visits',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    orderId: integer('order_id').notNull(),
    campaign: notPersonal(text('campaign')),
    createdAt: instant('created_at').notNull()
  },
  (t) => [uniqueIndex('visits_order').on(t.orderId), index('visits_by_affiliate').on(t.affiliateId, t.campaign)]
)

/** How often the links of an affiliate were opened on a day: one row for each campaign, however many clicks. */
export const affiliateClicks = sqliteTable(
  'affiliate_clicks',
  {
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    /** `YYYY-MM-DD` in the shop's time zone. */
    day: notPersonal(text('day').notNull()),
    /** Empty for links without one, and for those beyond the campaigns that a day may have. */
    campaign: notPersonal(text('campaign').notNull().default('')),
    clicks: integer('clicks').notNull()
  },
  (t) => [
    primaryKey({ columns: [t.affiliateId, t.day, t.campaign] }),
    check('affiliate_clicks_positive', sql`${t.clicks} > 0`)
  ]
)
