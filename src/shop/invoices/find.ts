import { and, asc, count, eq, gt, gte, lte, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { invoices } from './schema.ts'

export type InvoiceRow = typeof invoices.$inferSelect
export type InvoiceKind = InvoiceRow['kind']

const ofOrder = statement((orm) =>
  orm
    .select()
    .from(invoices)
    .where(eq(invoices.orderId, sql.placeholder('orderId')))
    .orderBy(asc(invoices.id))
    .prepare()
)

/**
 * The documents of an order, oldest first: its invoice and the credit notes of that. A correction adds the credit note that
 * cancels the invoice, and the next invoice.
 */
export function documentsOf(db: Db, orderId: number): InvoiceRow[] {
  return ofOrder(db).all({ orderId })
}

/**
 * The documents that were issued in some days (YYYY-MM-DD, both included), in the order of issue. An open side has no
 * limit. Any number of them needs the memory of a few hundred.
 *
 * @param days with `after`, only the documents after the one with this id
 */
export function listDocuments(
  db: Db,
  { from = '', to = '~', after = 0 }: { from?: string; to?: string; after?: number }
): Iterable<InvoiceRow> {
  const next = (last: InvoiceRow | undefined, limit: number): InvoiceRow[] =>
    db.orm
      .select()
      .from(invoices)
      .where(and(gt(invoices.id, last?.id ?? after), gte(invoices.date, from), lte(invoices.date, to)))
      .orderBy(asc(invoices.id))
      .limit(limit)
      .all()
  return inParts(db, next, (rows) => rows)
}

/** How many documents were issued in some days. */
export function countDocuments(db: Db, { from = '', to = '~' }: { from?: string; to?: string }): number {
  const issued = and(gte(invoices.date, from), lte(invoices.date, to))
  return db.orm.select({ count: count() }).from(invoices).where(issued).get()?.count ?? 0
}

/** Whether the shop has issued any invoice. */
export function hasInvoices(db: Db): boolean {
  return db.orm.select({ id: invoices.id }).from(invoices).limit(1).get() !== undefined
}

/** The latest invoice of an order and the credit notes of that; without an invoice, none. */
export function currentDocuments(db: Db, orderId: number): { invoice: InvoiceRow | undefined; notes: InvoiceRow[] } {
  const documents = documentsOf(db, orderId)
  const at = documents.findLastIndex(({ kind }) => kind === 'invoice')
  return { invoice: documents[at], notes: at === -1 ? [] : documents.slice(at + 1) }
}

/** The latest invoice of an order; undefined for an order that was never paid, or was paid before the shop had invoices. */
export function findInvoice(db: Db, orderId: number): InvoiceRow | undefined {
  return currentDocuments(db, orderId).invoice
}

/**
 * The latest invoice of an order, or the document of it with a number.
 *
 * @throws AppError NOT_FOUND
 */
export function getDocument(db: Db, orderId: number, number: string | null): InvoiceRow {
  const found =
    number === null ? findInvoice(db, orderId) : documentsOf(db, orderId).find((row) => row.number === number)
  if (found === undefined) throw new AppError('NOT_FOUND', 'There is no such invoice.')
  return found
}
