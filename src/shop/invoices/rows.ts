import type { invoices } from './schema.ts'

export type InvoiceRow = typeof invoices.$inferSelect
export type InvoiceKind = InvoiceRow['kind']
