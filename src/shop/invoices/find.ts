import { asc, eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
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

/** The invoice of an order, then its credit notes, oldest first. */
export function documentsOf(db: Db, orderId: number): InvoiceRow[] {
  return ofOrder(db).all({ orderId })
}

/** Whether the shop has issued any invoice. */
export function hasInvoices(db: Db): boolean {
  return db.orm.select({ id: invoices.id }).from(invoices).limit(1).get() !== undefined
}

/** The invoice of an order; undefined for an order that was never paid, or was paid before the shop had invoices. */
export function findInvoice(db: Db, orderId: number): InvoiceRow | undefined {
  return documentsOf(db, orderId).find(({ kind }) => kind === 'invoice')
}

/**
 * The invoice of an order, or the document of it with a number.
 *
 * @throws AppError NOT_FOUND
 */
export function getDocument(db: Db, orderId: number, number: string | null): InvoiceRow {
  const found = documentsOf(db, orderId).find((row) =>
    number === null ? row.kind === 'invoice' : row.number === number
  )
  if (found === undefined) throw new AppError('NOT_FOUND', 'There is no such invoice.')
  return found
}
