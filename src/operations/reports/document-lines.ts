import { z } from 'zod'
import type { InvoiceDocument, InvoiceLine } from '../../shop/invoices/document.ts'
import { listDocuments } from '../../shop/invoices/find.ts'
import type { InvoiceRow } from '../../shop/invoices/find.ts'
import { openDays } from './days.ts'
import { amount, defineReport, money } from './report.ts'
import type { Column } from './report.ts'

/** A line of a document, its shipping, or a part that does not belong to one line. Amounts of credit notes are negative. */
type DocumentLine = Pick<InvoiceRow, 'kind' | 'number' | 'date' | 'orderId' | 'currency' | 'buyer'> & {
  document: InvoiceDocument
  tax: InvoiceDocument['taxes'][number]
  /** Its number in the document. */
  line: number
  name: string
  sku: string | null
  quantity: number | null
  unitPriceMinor: number | null
  discountMinor: number | null
  netMinor: number
  taxMinor: number
}

const columns: readonly Column<DocumentLine>[] = [
  { key: 'document', kind: 'text', value: ({ number }) => number },
  { key: 'kind', kind: 'text', value: ({ kind }) => kind },
  { key: 'date', csv: 'document_date', kind: 'text', value: ({ date }) => date },
  { key: 'suppliedOn', kind: 'text', value: ({ document }) => document.suppliedOn },
  { key: 'orderId', csv: 'order', kind: 'count', value: ({ orderId }) => orderId },
  { key: 'corrects', kind: 'text', value: ({ document }) => document.corrects?.number },
  { key: 'customer', kind: 'text', value: ({ buyer }) => buyer?.lines[0] },
  { key: 'vatId', kind: 'text', value: ({ buyer }) => buyer?.vatId },
  { key: 'country', kind: 'text', value: ({ tax }) => tax.country },
  { key: 'line', kind: 'count', value: ({ line }) => line },
  { key: 'sku', kind: 'text', value: ({ sku }) => sku },
  { key: 'name', kind: 'text', value: ({ name }) => name },
  { key: 'quantity', kind: 'count', value: ({ quantity }) => quantity },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'unitPrice', kind: 'money', value: amount(({ unitPriceMinor }) => unitPriceMinor) },
  { key: 'discount', csv: 'line_discount', kind: 'money', value: amount(({ discountMinor }) => discountMinor) },
  { key: 'ratePercent', csv: 'tax_percent', kind: 'percent', value: ({ tax }) => tax.rateMillionths / 10_000 },
  { key: 'category', csv: 'tax_category', kind: 'text', value: ({ tax }) => tax.category },
  { key: 'net', ...money, value: amount(({ netMinor }) => netMinor) },
  { key: 'tax', csv: 'tax_amount', ...money, value: amount(({ taxMinor }) => taxMinor) },
  { key: 'gross', ...money, value: amount(({ netMinor, taxMinor }) => netMinor + taxMinor) }
]

/**
 * The documents of some days line by line, with refunds as rows of their own day: `orders export --by document`. The rows
 * come from the stored documents, so those of past days do not change, and add up to the journal.
 */
export const documentLines = defineReport({
  name: 'lines',
  title: 'Lines of documents',
  about: 'each line of the invoices and credit notes of some days',
  example: 'orders export --by document --quarter 2026Q1 --csv q1.csv',
  period: openDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  read: ({ shop: { db }, period: days }) => ({
    rows: Iterator.from(listDocuments(db, days)).flatMap(linesOf).toArray(),
    notes: []
  })
})

type Part = Omit<DocumentLine, keyof InvoiceRow | 'tax' | 'line'> & { taxRow: number }

function linesOf({ kind, number, date, orderId, currency, buyer, document }: InvoiceRow): DocumentLine[] {
  const sign = kind === 'invoice' ? 1 : -1
  const { lines, shipping, taxes } = document
  const shipped = (shipping?.parts ?? []).map((part) => ({ ...unnamed, ...part, name: shipping?.name ?? '' }))
  const parts: Part[] = [...lines.map(partOf), ...shipped]
  const rest = taxes.map((tax, taxRow): Part => {
    const own = parts.filter((part) => part.taxRow === taxRow)
    const netMinor = own.reduce((left, part) => left - part.netMinor, tax.baseMinor)
    return { ...unnamed, taxRow, netMinor, taxMinor: own.reduce((left, part) => left - part.taxMinor, tax.amountMinor) }
  })
  // A refund of an amount gives nothing back by its line, and one of things can carry the rest of another refund.
  const all = [...parts, ...rest.filter(({ netMinor, taxMinor }) => netMinor !== 0 || taxMinor !== 0)]
  return all.flatMap(({ taxRow, ...part }, index) => {
    const tax = taxes[taxRow]
    if (tax === undefined) return []
    const amounts = { netMinor: sign * part.netMinor, taxMinor: sign * part.taxMinor }
    return [{ ...part, ...amounts, kind, number, date, orderId, currency, buyer, document, tax, line: index + 1 }]
  })
}

const unnamed = { name: '', sku: null, quantity: null, unitPriceMinor: null, discountMinor: null }

function partOf({ name, sku, quantity, unitPriceMinor, discountMinor, netMinor, taxMinor, taxRow }: InvoiceLine): Part {
  return { name, sku, quantity, unitPriceMinor, discountMinor, netMinor, taxMinor, taxRow }
}
