import { AppError } from '../errors.ts'
import type { App } from '../app.ts'
import { formatMoney } from '../platform/money.ts'
import { documentsOf } from '../shop/invoices/find.ts'
import { invoicePdf } from '../shop/invoices/pdf.ts'
import type { InvoiceRow } from '../shop/invoices/find.ts'
import { documentName, toInvoice } from '../shop/invoices/text.ts'
import { getOrder } from '../shop/orders/find.ts'
import { issueMissingInvoice } from '../shop/orders/invoice-order.ts'
import { documentUrl } from '../shop/orders/view.ts'
import type { ShopCommand } from './command.ts'
import { writeNewFile } from './csv-file.ts'
import { parseRowId } from './numbers.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'
import { table } from './table.ts'

type InvoiceOptions = { pdf?: string; number?: string; issue?: true }

/** Shows the invoice and the credit notes of an order, and writes them as PDF. */
export function defineInvoice(group: ShopCommand): void {
  const invoice = addCommand(
    group,
    'invoice <id>',
    'show the invoice and the credit notes of an order',
    'orders invoice 12 --pdf invoice-12.pdf'
  )
    .option('--pdf <file>', 'write the document to a new PDF file')
    .option('--number <number>', 'with --pdf: the document with this number instead of the invoice')
    .option('--issue', 'issue the invoice of an order that was paid before the shop had invoices')
  runs(invoice, 'migrated', showInvoice)
}

async function showInvoice({ app, options, now }: Work<InvoiceOptions>, text: string): Promise<Answer> {
  const id = parseRowId(text)
  if (options.issue) issueMissingInvoice(app.db, id, now)
  const order = getOrder(app.db, id)
  const documents = documentsOf(app.db, id)
  const [invoice, ...creditNotes] = documents
  if (invoice === undefined) throw missing(id, order.paidAt !== null)
  if (options.pdf !== undefined) await writePdf(app, documents, { ...options, pdf: options.pdf })
  const view = (row: InvoiceRow) => ({ ...toInvoice(row), url: documentUrl(app, order, row) })
  const rows = documents.map((row) => [
    documentName(row),
    row.date,
    formatMoney(row.totalMinor, row.currency),
    formatMoney(row.document.taxMinor, row.currency)
  ])
  return {
    json: { invoice: view(invoice), creditNotes: creditNotes.map(view) },
    human: [
      table(['Document', 'Date', 'Total', 'Tax'], rows),
      documentUrl(app, order, invoice),
      ...(options.pdf === undefined ? [] : [`PDF written to ${options.pdf}.`])
    ]
  }
}

async function writePdf(
  app: App,
  documents: readonly InvoiceRow[],
  { pdf, number }: { pdf: string; number?: string }
): Promise<void> {
  const row = documents.find((candidate) =>
    number === undefined ? candidate.kind === 'invoice' : candidate.number === number
  )
  if (row === undefined) throw new AppError('NOT_FOUND', `The order has no document ${number ?? ''}.`)
  const order = getOrder(app.db, row.orderId)
  writeNewFile(pdf, await invoicePdf(row, documentUrl(app, order, row)))
}

function missing(id: number, isPaid: boolean): AppError {
  if (!isPaid) return new AppError('CONFLICT', `Order ${id} has no invoice, because it has not been paid.`)
  const why = `Order ${id} was paid before the shop had invoices.`
  return new AppError('CONFLICT', `${why} "shopstead orders invoice ${id} --issue" issues its invoice now.`)
}
