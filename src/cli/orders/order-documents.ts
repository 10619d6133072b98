import { Option } from 'commander'
import { AppError } from '../../errors.ts'
import type { App } from '../../app.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { checksumFile, documentFiles } from '../../operations/document-archive.ts'
import { parseOpenDays, quarterOption } from '../../operations/reports/days.ts'
import { documentsOf, findInvoice } from '../../shop/invoices/find.ts'
import { correctInvoiceOf, invoiceBuyerChanges } from '../../shop/corrections/correct-invoice.ts'
import type { InvoiceBuyerChanges } from '../../shop/corrections/correct-invoice.ts'
import { confirmVatId } from '../../shop/tax/vat-checks.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { by } from './order-answer.ts'
import { documentFile, documentFormats } from '../../shop/invoices/e-invoice-file.ts'
import type { DocumentFormat } from '../../shop/invoices/e-invoice-file.ts'
import type { InvoiceRow } from '../../shop/invoices/find.ts'
import { documentName, toInvoice } from '../../shop/invoices/text.ts'
import { getOrder } from '../../shop/orders/find.ts'
import type { OrderRow } from '../../shop/orders/find.ts'
import { issueMissingInvoice, whyNoInvoice } from '../../shop/orders/invoice-order.ts'
import { documentUrl } from '../../shop/orders/view.ts'
import type { ShopCommand, Work } from '../run.ts'
import { writeNewFile, writeNewFolder, writeCsv } from '../terminal/files.ts'
import { countOf, parseId } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, assertPublicUrl, confirmOrRefuse, runs } from '../run.ts'
import { table } from '../terminal/table.ts'
import { addressLabels, packCsv, packingSlips } from '../../operations/packing/pack-list.ts'
import { shopDay } from '../../shop/settings/shop-days.ts'
import { setting } from '../../shop/settings/settings.ts'
import { listOrdersToPack } from '../../shop/shipments/pack-list.ts'
import type { OrderToPack } from '../../shop/shipments/pack-list.ts'
import { JsonList, showProgress } from '../terminal/output.ts'
import type { Cell } from '../terminal/table.ts'

const correctable = [
  'first-name',
  'last-name',
  'company',
  'address1',
  'address2',
  'postcode',
  'city',
  'state',
  'country',
  'vat-id'
] as const

type InvoiceOptions = InvoiceBuyerChanges & {
  file?: string
  format?: DocumentFormat
  number?: string
  issue?: true
  correct?: true
  yes?: boolean
}

/** Shows the invoice and the credit notes of an order, and writes one of them to a file. */
export function defineInvoice(group: ShopCommand): void {
  const invoice = addCommand(
    group,
    'invoice <id>',
    'show the invoice and the credit notes of an order, or correct the invoice',
    'orders invoice 12 --correct --company "Slow Coast Ltd" --vat-id IE6388047V'
  )
    .option('--file <file>', 'write the document to a new file')
    .addOption(
      new Option(
        '--format <format>',
        'with --file: pdf, facturx (a PDF with the data of EN 16931) or xrechnung (XML)'
      ).choices(documentFormats)
    )
    .option('--number <number>', 'with --file: the document with this number instead of the latest invoice')
    .option('--issue', 'issue the invoice of an order that was paid before the shop had invoices')
    .option(
      '--correct',
      'cancel the invoice with a credit note and issue it again, with these parts of the buyer changed'
    )
  for (const part of correctable) invoice.option(`--${part} <text>`, 'with --correct; an empty text removes it')
  runs(invoice.option('--yes', 'do not ask for confirmation'), showInvoice)
}

async function showInvoice(work: Work<InvoiceOptions>, text: string): Promise<Answer> {
  const { app, options, now } = work
  if (options.file === undefined) {
    if (options.format !== undefined) throw new AppError('USAGE', '--format needs --file, the file to write.')
    assertPublicUrl(app)
  }
  const id = parseId(text)
  if (options.issue) issueMissingInvoice(app.db, id, now)
  const order = getOrder(app.db, id)
  if (findInvoice(app.db, id) === undefined) throw missing(order)
  const corrected = await correctOne(work, id)
  const documents = documentsOf(app.db, id)
  const invoice = findInvoice(app.db, id)
  if (invoice === undefined) throw missing(order)
  if (options.file !== undefined) await writeDocument(app, documents, { ...options, file: options.file })
  const view = (row: InvoiceRow) => ({ ...toInvoice(row), url: documentUrl(app, order, row) })
  const rows = documents.map((row) => [
    documentName(row),
    row.date,
    formatMoney(row.totalMinor, row.currency),
    formatMoney(row.document.taxMinor, row.currency)
  ])
  return {
    json: {
      invoice: view(invoice),
      creditNotes: documents.filter(({ kind }) => kind === 'credit_note').map(view),
      cancelled: documents.filter(({ kind, number }) => kind === 'invoice' && number !== invoice.number).map(view)
    },
    human: [
      ...corrected,
      table(['Document', 'Date', 'Total', 'Tax'], rows),
      documentUrl(app, order, invoice),
      ...(options.file === undefined ? [] : [`Document written to ${options.file}.`])
    ]
  }
}

/** Corrects the invoice if --correct says so, after a confirmation. @throws AppError USAGE, CONFLICT, VALIDATION_FAILED */
async function correctOne({ app, options, now, terminal }: Work<InvoiceOptions>, id: number): Promise<string[]> {
  const { firstName, lastName, company, vatId, address1, address2, postcode, city, state, country } = options
  const typed = definedFields({
    firstName,
    lastName,
    company,
    vatId,
    address1,
    address2,
    postcode,
    city,
    state,
    country
  })
  if (options.correct !== true) {
    if (Object.keys(typed).length > 0) throw new AppError('USAGE', 'The parts of the buyer need --correct.')
    return []
  }
  const changes = parseWith(invoiceBuyerChanges, typed)
  await confirmVatId(app, vatId ?? null, null)
  const number = findInvoice(app.db, id)?.number ?? ''
  await confirmOrRefuse(terminal, `Cancel invoice ${number} of order ${id} and issue it again?`, options)
  const invoice = correctInvoiceOf(app.db, id, changes, by, now)
  return [
    `Invoice ${number} is cancelled, invoice ${invoice.number} replaces it.`,
    `"shopstead mail resend ${id}" sends the buyer a receipt with the link to it.`
  ]
}

async function writeDocument(
  app: App,
  documents: readonly InvoiceRow[],
  { file, format = 'pdf', number }: { file: string; format?: DocumentFormat; number?: string }
): Promise<void> {
  const row =
    number === undefined
      ? documents.findLast(({ kind }) => kind === 'invoice')
      : documents.find((each) => each.number === number)
  if (row === undefined) throw new AppError('NOT_FOUND', `The order has no document ${number ?? ''}.`)
  const order = getOrder(app.db, row.orderId)
  const { content } = await documentFile(row, format, { pageUrl: documentUrl(app, order, row) })
  writeNewFile(file, content)
}

function missing(order: OrderRow): AppError {
  const { id } = order
  const issue = `"shopstead orders invoice ${id} --issue" issues its invoice now.`
  const why = whyNoInvoice(order) ?? `Order ${id} was paid before the shop had invoices. ${issue}`
  return new AppError('CONFLICT', why)
}

type DocumentsOptions = { from?: string; to?: string; quarter?: string }

/** Writes the documents of some days into a folder. */
export function defineDocuments(group: ShopCommand): void {
  const documents = addCommand(
    group,
    'documents <folder>',
    'write the invoices and credit notes of some days into a new folder, with an index and checksums: PDF, and for businesses electronic invoices',
    'orders documents 2026-q1 --from 2026-01-01 --to 2026-03-31'
  )
    .option('--from <date>', 'only documents of this day or later')
    .option('--to <date>', 'only documents of this day or earlier')
    .option(quarterOption.flags, quarterOption.about)
  runs(documents, exportDocuments)
}

async function exportDocuments(work: Work<DocumentsOptions>, folder: string): Promise<Answer> {
  const { app, options } = work
  const days = parseOpenDays(options)
  const progress = showProgress(work)
  let count = 0
  const fill = async (append: (name: string, content: string | Uint8Array) => void): Promise<void> => {
    const files = documentFiles(app, days, (documents) => {
      count = documents
      progress.step(`${count} documents written`)
    })
    for await (const { name, content } of files) append(name, content)
  }
  await writeNewFolder(folder, fill).finally(progress.done)
  return {
    json: { folder, documents: count },
    human: `${countOf(count, 'document')} written to ${folder}. "sha256sum --check ${checksumFile}" there checks them.`
  }
}

type PackOptions = { csv?: string; html?: string; labels?: string }

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
    .option('--labels <file>', 'write the address labels to a new HTML file')
  runs(pack, showPack)
}

function showPack({ app, options }: Work<PackOptions>): Answer {
  const orders = (): Generator<OrderToPack, void> => listOrdersToPack(app.db)
  const { csv, html, labels } = options
  if (csv !== undefined) writeCsv(csv, packCsv(orders()))
  if (html !== undefined) writeNewFile(html, packingSlips(setting(app.db, 'shop.name'), [...orders()]))
  if (labels !== undefined) writeNewFile(labels, addressLabels(app.db, [...orders()]))
  const files = [csv, html, labels].filter((file) => file !== undefined)
  return {
    json: new JsonList('orders', orders()),
    human: [
      table(
        ['Order', 'Paid', 'Line:qty', 'Item', 'Ship to'],
        orders().flatMap((order) => toRows(app.db, order)),
        'There is nothing to ship.'
      ),
      ...files.map((file) => `Written to ${file}.`)
    ]
  }
}

function toRows(db: Db, { id, packWith, paidAt, shipTo, pickup, lines }: OrderToPack): Cell[][] {
  return lines.map(({ line, name, sku, quantity }, index) => [
    index === 0 ? (packWith === null ? id : `${id}, with ${packWith}`) : '',
    index === 0 ? (paidAt === null ? '' : shopDay(db, Date.parse(paidAt))) : '',
    `${line}:${quantity}`,
    sku === null ? name : `${name} (${sku})`,
    index === 0 ? `${pickup ? 'Pick-up: ' : ''}${shipTo.join(', ')}` : ''
  ])
}
