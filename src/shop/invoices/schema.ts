import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, json, minor, oneOf } from '../../platform/db/columns.ts'
import { kept, notPersonal } from '../../platform/db/personal.ts'
import type { Trigger } from '../../platform/db/trigger.ts'
import { invoiceBuyer, invoiceDocument } from './document.ts'

/** Invoices and credit notes. Append-only: triggers refuse gaps in the numbers, changes and deletion. */
export const invoices = sqliteTable(
  'invoices',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    orderId: integer('order_id').notNull(),
    kind: text('kind', { enum: ['invoice', 'credit_note'] }).notNull(),
    /** The year in the time zone of the shop. Each kind counts from 1 in each year. */
    year: integer('year').notNull(),
    sequence: integer('sequence').notNull(),
    /** As printed: prefix, year and sequence. */
    number: notPersonal(text('number').notNull()),
    /** The day of issue in the time zone of the shop, as YYYY-MM-DD. */
    date: notPersonal(text('date').notNull()),
    currency: notPersonal(text('currency').notNull()),
    totalMinor: minor('total_minor').notNull(),
    /** Null after an erased buyer's documents have passed the time that the law requires. */
    buyer: kept(json('buyer', invoiceBuyer), 'Accounting law; the clean-up removes it when its time is over.'),
    document: notPersonal(json('document', invoiceDocument).notNull()),
    issuedAt: instant('issued_at').notNull()
  },
  (t) => [
    uniqueIndex('invoices_number').on(t.number),
    uniqueIndex('invoices_sequence').on(t.kind, t.year, t.sequence),
    uniqueIndex('invoices_of_order')
      .on(t.orderId)
      .where(sql`kind = 'invoice'`),
    index('invoices_by_order').on(t.orderId, t.id),
    index('invoices_by_date').on(t.date, t.id),
    index('invoices_credited')
      .on(t.date, t.currency, t.totalMinor)
      .where(sql`kind = 'credit_note'`),
    check('invoices_kind', oneOf(t.kind)),
    check('invoices_total', sql`${t.totalMinor} >= 0`)
  ]
)

const refuse = (reason: string): string => `SELECT RAISE(ABORT, '${reason}')`
const frozen = 'id, order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at'
export const triggers: readonly Trigger[] = [
  {
    name: 'invoices_gapless',
    event: 'BEFORE INSERT',
    on: invoices,
    when: `NEW.sequence <> 1 + (SELECT coalesce(max(sequence), 0) FROM invoices WHERE kind = NEW.kind AND year = NEW.year)`,
    run: refuse('the numbers of invoices have no gaps')
  },
  {
    name: 'invoices_unchanged',
    event: `BEFORE UPDATE OF ${frozen}`,
    on: invoices,
    run: refuse('an invoice never changes')
  },
  {
    name: 'invoices_buyer_unchanged',
    event: 'BEFORE UPDATE OF buyer',
    on: invoices,
    when: 'NEW.buyer IS NOT NULL',
    run: refuse('an invoice never changes')
  },
  { name: 'invoices_kept', event: 'BEFORE DELETE', on: invoices, run: refuse('invoices are never deleted') }
]
