import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant, oneOf } from '../../platform/db/columns.ts'
import { taxClasses, viesOutcomes } from './input.ts'

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

/** The newest answer of VIES about each VAT id, for a day. An erasure deletes those about the ids of the person. */
export const vatChecks = sqliteTable(
  'vat_checks',
  {
    /** In the form of `readVatId`. */
    vatId: text('vat_id').primaryKey(),
    outcome: text('outcome', { enum: viesOutcomes }).notNull(),
    /** As the register discloses them; null if it does not. */
    name: text('name'),
    address: text('address'),
    /** The consultation number, which proves that the shop asked. */
    consultation: text('consultation'),
    checkedAt: instant('checked_at').notNull()
  },
  (t) => [index('vat_checks_by_time').on(t.checkedAt), check('vat_checks_outcome', oneOf(t.outcome))]
)
