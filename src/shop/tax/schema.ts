import { sql } from 'drizzle-orm'
import { check, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { oneOf } from '../../platform/db/columns.ts'
import { taxClasses } from './input.ts'

/** The tax rates of countries and regions. */
export const taxRates = sqliteTable(
  'tax_rates',
  {
    country: text('country').notNull(),
    /** A state or province of the country as addresses contain it, in upper case; empty for the whole country. */
    region: text('region').notNull(),
    class: text('class', { enum: taxClasses }).notNull(),
    /** What buyers read, such as VAT. */
    name: text('name').notNull(),
    rateMillionths: integer('rate_millionths').notNull()
  },
  (t) => [
    primaryKey({ columns: [t.country, t.region, t.class] }),
    check('tax_rates_class', oneOf(t.class)),
    check('tax_rates_rate', sql`${t.rateMillionths} BETWEEN 0 AND 1000000`)
  ]
)
