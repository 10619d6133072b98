import { AppError } from '../../errors.ts'
import type { App } from '../../app.ts'
import { formatMoney } from '../../platform/money.ts'
import { documentsOf } from '../../shop/invoices/find.ts'
import { invoicePdf } from '../../shop/invoices/pdf.ts'
import type { InvoiceRow } from '../../shop/invoices/find.ts'
import { documentName, toInvoice } from '../../shop/invoices/text.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { issueMissingInvoice } from '../../shop/orders/invoice-order.ts'
import { documentUrl } from '../../shop/orders/view.ts'
import type { ShopCommand, Work } from '../run.ts'
import { writeNewFile, writeCsv } from '../terminal/files.ts'
import { parseId } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'
import { table } from '../terminal/table.ts'
import { packCsv, packingSlips } from '../../operations/packing/pack-list.ts'
import { setting } from '../../shop/settings/settings.ts'
import { listOrdersToPack } from '../../shop/shipments/pack-list.ts'
import type { OrderToPack } from '../../shop/shipments/pack-list.ts'
import { JsonList } from '../terminal/output.ts'
import type { Cell } from '../terminal/table.ts'

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
  runs(invoice, showInvoice)
}

async function showInvoice({ app, options, now }: Work<InvoiceOptions>, text: string): Promise<Answer> {
  const id = parseId(text)
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

type PackOptions = { csv?: string; html?: string }

/** Lists what to ship, as a table, CSV and packing slips. */
export function definePack(group: ShopCommand): void {
  const pack = addCommand(
    group,
    'pack',
    'list what to ship: paid orders with something that is not shipped yet',
    'orders pack --html slips.html'
  )
    .option('--csv <file>', 'write the lines to a new CSV file')
    .option('--html <file>', 'write the packing slips to a new HTML file')
  runs(pack, showPack)
}

function showPack({ app, options }: Work<PackOptions>): Answer {
  const orders = (): Generator<OrderToPack, void> => listOrdersToPack(app.db)
  const { csv, html } = options
  if (csv !== undefined) writeCsv(csv, packCsv(orders()))
  if (html !== undefined) writeNewFile(html, packingSlips(setting(app.db, 'shop.name'), [...orders()]))
  const files = [csv, html].filter((file) => file !== undefined)
  return {
    json: new JsonList('orders', orders()),
    human: [
      table(['Order', 'Paid', 'Line:qty', 'Item', 'Ship to'], orders().flatMap(toRows), 'There is nothing to ship.'),
      ...files.map((file) => `Written to ${file}.`)
    ]
  }
}

function toRows({ id, paidAt, shipTo, pickup, lines }: OrderToPack): Cell[][] {
  return lines.map(({ line, name, sku, quantity }, index) => [
    index === 0 ? id : '',
    index === 0 ? (paidAt?.slice(0, 10) ?? '') : '',
    `${line}:${quantity}`,
    sku === null ? name : `${name} (${sku})`,
    index === 0 ? `${pickup ? 'Pick-up: ' : ''}${shipTo.join(', ')}` : ''
  ])
}
