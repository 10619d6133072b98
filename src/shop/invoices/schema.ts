import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bool, instant, json, minor, oneOf } from '../../platform/db/columns.ts'
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
    /** The year in the time zone of the shop. Each kind counts from `invoice.firstNumber` in each year. */
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
    /** Whether the document belongs to the correction of an invoice: no sale and no refund, only new papers for them. */
    correction: bool('correction').notNull().default(false),
    /** What it sells to consumers in other member states of the EU, without tax: the threshold of EUR 10,000 counts it. */
    crossBorderMinor: minor('cross_border_minor').notNull().default(0),
    issuedAt: instant('issued_at').notNull()
  },
  (t) => [
    uniqueIndex('invoices_number').on(t.number),
    uniqueIndex('invoices_sequence').on(t.kind, t.year, t.sequence),
    index('invoices_by_order').on(t.orderId, t.id),
    index('invoices_by_date').on(t.date, t.id),
    index('invoices_credited')
      .on(t.date, t.currency, t.totalMinor)
      .where(sql`kind = 'credit_note' AND correction = 0`),
    index('invoices_cross_border')
      .on(t.date, t.kind, t.currency, t.crossBorderMinor)
      .where(sql`cross_border_minor > 0`),
    check('invoices_kind', oneOf(t.kind)),
    check('invoices_correction', sql`${t.correction} IN (0, 1)`),
    check('invoices_total', sql`${t.totalMinor} >= 0`)
  ]
)

const refuse = (reason: string): string => `SELECT RAISE(ABORT, '${reason}')`
const frozen =
  'id, order_id, kind, year, sequence, number, date, currency, total_minor, document, correction, cross_border_minor, issued_at'
export const triggers: readonly Trigger[] = [
  {
    name: 'invoices_gapless',
    event: 'BEFORE INSERT',
    on: invoices,
    when: `NEW.sequence <> max(
      1 + (SELECT coalesce(max(sequence), 0) FROM invoices WHERE kind = NEW.kind AND year = NEW.year),
      coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE key = 'invoice.firstNumber'), 1))`,
    run: refuse('the numbers of invoices have no gaps')
  },
  {
    name: 'invoices_one_at_a_time',
    event: 'BEFORE INSERT',
    on: invoices,
    when: `NEW.kind = 'invoice' AND 0 < (SELECT coalesce(sum(iif(kind = 'invoice', total_minor, -total_minor)), 0) FROM invoices WHERE order_id = NEW.order_id)`,
    run: refuse('an order has one invoice at a time')
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
