import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { internal, notPersonal, personal } from '../../platform/db/personal.ts'
import { users } from '../accounts/schema.ts'

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
    /** Basis points; null for the shop's `affiliates.rate`. */
    rateBps: integer('rate_bps'),
    termsVersion: notPersonal(text('terms_version')),
    termsAcceptedAt: instant('terms_accepted_at'),
    website: personal(text('website'), null),
    message: personal(text('message'), null),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull()
  },
  (t) => [
    uniqueIndex('affiliates_user').on(t.userId),
    uniqueIndex('affiliates_code_key').on(t.codeKey),
    check('affiliates_status', oneOf(t.status)),
    check('affiliates_rate', sql`${t.rateBps} BETWEEN 0 AND 10000`)
  ]
)

/** One row for each checkout with a valid ref. `orderId` has no foreign key, because affiliates must not import orders. */
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

/** How often the links of an affiliate were opened on a day: one row for each, however many clicks. */
export const affiliateClicks = sqliteTable(
  'affiliate_clicks',
  {
    affiliateId: integer('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    /** `YYYY-MM-DD` in UTC. */
    day: notPersonal(text('day').notNull()),
    clicks: integer('clicks').notNull()
  },
  (t) => [primaryKey({ columns: [t.affiliateId, t.day] }), check('affiliate_clicks_positive', sql`${t.clicks} > 0`)]
)
