import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bool, minor } from '../../platform/db/columns.ts'

/** Countries with the same shipping methods. */
export const shippingZones = sqliteTable(
  'shipping_zones',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    position: integer('position').notNull()
  },
  (t) => [uniqueIndex('shipping_zones_name').on(t.name)]
)

/** The zone of a country. A country is in one zone at most; `*` stands for all countries that are in no zone. */
export const shippingCountries = sqliteTable(
  'shipping_countries',
  {
    country: text('country').primaryKey(),
    zoneId: integer('zone_id')
      .notNull()
      .references(() => shippingZones.id)
  },
  (t) => [index('shipping_countries_by_zone').on(t.zoneId)]
)

/** A way to ship to a zone. Two zones can have methods with the same id, so that a choice survives another country. */
export const shippingMethods = sqliteTable(
  'shipping_methods',
  {
    zoneId: integer('zone_id')
      .notNull()
      .references(() => shippingZones.id),
    id: text('id').notNull(),
    name: text('name').notNull(),
    amountMinor: minor('amount_minor').notNull(),
    /** From this sum of the goods after discounts, shipping costs nothing. */
    freeFromMinor: minor('free_from_minor'),
    /** Added to the amount for each kilogram, in proportion to the weight. */
    perKgMinor: minor('per_kg_minor'),
    /** A heavier cart does not have this method. */
    maxWeightGrams: integer('max_weight_grams'),
    estimate: text('estimate'),
    position: integer('position').notNull(),
    /** The buyer picks the goods up in the shop: no address is needed, and every country has the method. */
    pickup: bool('pickup').notNull().default(false)
  },
  (t) => [
    primaryKey({ columns: [t.zoneId, t.id] }),
    check('shipping_methods_pickup', sql`${t.pickup} IN (0, 1)`),
    check('shipping_methods_amount', sql`${t.amountMinor} >= 0`),
    check('shipping_methods_free_from', sql`${t.freeFromMinor} >= 0`),
    check('shipping_methods_per_kg', sql`${t.perKgMinor} >= 0`),
    check('shipping_methods_max_weight', sql`${t.maxWeightGrams} > 0`)
  ]
)
