import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement, rowsStatement } from '../../platform/db/statements.ts'
import { invoices } from './schema.ts'

/** The invoice of an order, then its credit notes, oldest first. */
export const documentsOf = rowsStatement(invoices, 'order_id = ? ORDER BY id')

const anyInvoice = rawStatement<[], { id: number }>('SELECT id FROM invoices LIMIT 1')

/** Whether the shop has issued any invoice. */
export function hasInvoices(db: Db): boolean {
  return anyInvoice(db).get() !== undefined
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

export type InvoiceRow = typeof invoices.$inferSelect
export type InvoiceKind = InvoiceRow['kind']
