import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, minor, oneOf } from '../../platform/db/columns.ts'
import { deletedWithPerson } from '../../platform/db/personal.ts'
import { users } from '../accounts/schema.ts'
import { plans } from '../benefits/schema.ts'
import { products, variations } from '../catalog/schema.ts'

/** Customers with prices of their own, such as resellers or the members of a club. */
export const customerGroups = sqliteTable(
  'customer_groups',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    slug: text('slug').notNull(),
    /** Beside its prices, buyers read this name. */
    name: text('name').notNull(),
    /** What is taken off the regular price of what is not on the price list; null for nothing. */
    percentBps: integer('percent_bps'),
    /** How its buyers see prices; null for the way of the shop. */
    showsTax: text('shows_tax', { enum: ['with', 'without'] }),
    /** Accounts with an active membership of this plan are in the group, too. */
    planId: integer('plan_id').references(() => plans.id),
    createdAt: instant('created_at').notNull()
  },
  (t) => [
    uniqueIndex('customer_groups_slug').on(t.slug),
    check('customer_groups_percent', sql`${t.percentBps} BETWEEN 1 AND 10000`),
    check('customer_groups_shows_tax', oneOf(t.showsTax))
  ]
)

/** The accounts that an operator or an import put into a group. */
export const groupMembers = deletedWithPerson(
  sqliteTable(
    'group_members',
    {
      groupId: integer('group_id')
        .notNull()
        .references(() => customerGroups.id),
      userId: integer('user_id')
        .notNull()
        .references(() => users.id),
      addedAt: instant('added_at').notNull()
    },
    (t) => [primaryKey({ columns: [t.groupId, t.userId] }), index('group_members_by_user').on(t.userId)]
  )
)

/** The price list of a group, in the shop's currency, with or without tax as the prices of the catalog. */
export const groupPrices = sqliteTable(
  'group_prices',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    groupId: integer('group_id')
      .notNull()
      .references(() => customerGroups.id),
    productId: integer('product_id')
      .notNull()
      .references(() => products.id),
    /** Null for the product, and for those of its variations that have no price here. */
    variationId: integer('variation_id').references(() => variations.id),
    priceMinor: minor('price_minor').notNull()
  },
  (t) => [
    uniqueIndex('group_prices_of_product')
      .on(t.groupId, t.productId)
      .where(sql`variation_id IS NULL`),
    uniqueIndex('group_prices_of_variation')
      .on(t.groupId, t.variationId)
      .where(sql`variation_id IS NOT NULL`),
    index('group_prices_by_product').on(t.productId),
    check('group_prices_price', sql`${t.priceMinor} >= 0`)
  ]
)
