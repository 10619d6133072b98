import { createHash, hash } from 'node:crypto'
import { toCsv, toCsvRows } from '../platform/csv.ts'
import { describeError } from '../platform/log.ts'
import { toDecimalText } from '../platform/money.ts'
import { csvMark } from '../platform/text.ts'
import { zipStream } from './zip.ts'
import type { ZipFile } from './zip.ts'
import type { ShopContext } from '../shop/context.ts'
import { documentFile, isForBusiness } from '../shop/invoices/e-invoice-file.ts'
import type { DocumentFormat } from '../shop/invoices/e-invoice-file.ts'
import { obstacleOf } from '../shop/invoices/e-invoice.ts'
import { listDocuments } from '../shop/invoices/find.ts'
import type { InvoiceRow } from '../shop/invoices/find.ts'
import { getOrder } from '../shop/orders/find.ts'
import { documentUrl } from '../shop/orders/view.ts'
import type { Days } from './reports/days.ts'

const indexFile = 'index.csv'
export const checksumFile = 'SHA256SUMS'
const indexColumns = [
  'number',
  'kind',
  'date',
  'order',
  'corrects',
  'currency',
  'total',
  'tax',
  'file',
  'sha256',
  'xml',
  'xmlSha256'
]

/** What comes next in a file. Only those of the index and of the checksums have more than one part. */
type FilePart = { name: string; content: string | Uint8Array }

/**
 * The documents of some days as files, with an index and their checksums. Those of businesses have the data of Factur-X in
 * them, and XRechnung beside them, as far as they name what those ask for.
 *
 * @param onDocument is called with the number of documents so far
 */
export async function* documentFiles(
  shop: ShopContext,
  days: Partial<Days>,
  onDocument: (count: number) => void = () => undefined
): AsyncGenerator<FilePart, void> {
  const checksums = createHash('sha256')
  const index = (content: string): FilePart => {
    checksums.update(content)
    return { name: indexFile, content }
  }
  yield index(csvMark + toCsv(indexColumns, []))
  let count = 0
  for (const row of listDocuments(shop.db, days)) {
    const files = await filesOf(shop, row)
    for (const { name, content, sha256 } of files) {
      yield { name, content }
      yield { name: checksumFile, content: `${sha256}  ${name}\n` }
    }
    yield index(toCsvRows([indexRow(row, files)]))
    onDocument((count += 1))
  }
  yield { name: checksumFile, content: `${checksums.digest('hex')}  ${indexFile}\n` }
}

type MadeFile = { name: string; content: Uint8Array; sha256: string }

async function filesOf(shop: ShopContext, row: InvoiceRow): Promise<MadeFile[]> {
  const pageUrl = documentUrl(shop, getOrder(shop.db, row.orderId), row)
  const files: MadeFile[] = []
  for (const format of formatsOf(row)) {
    const { content } = await documentFile(row, format, { pageUrl })
    // The prefix of numbers can contain a slash, and never a plus sign.
    const name = `${row.number.replaceAll('/', '+')}.${format === 'xrechnung' ? 'xml' : 'pdf'}`
    files.push({ name, content, sha256: hash('sha256', content, 'hex') })
  }
  return files
}

/** The files of a document: a PDF, and XML if it can be an XRechnung. */
function formatsOf(row: InvoiceRow): DocumentFormat[] {
  const can = (format: 'facturx' | 'xrechnung'): boolean => isForBusiness(row) && obstacleOf(row, format) === undefined
  return [can('facturx') ? 'facturx' : 'pdf', ...(can('xrechnung') ? (['xrechnung'] as const) : [])]
}

function indexRow(row: InvoiceRow, [pdf, xml]: readonly MadeFile[]) {
  const { number, kind, date, orderId, currency, totalMinor, document } = row
  const [total = null, tax = null] = [totalMinor, document.taxMinor].map((minor) => toDecimalText(minor, currency))
  const sums = [currency, total, tax]
  const names = [pdf?.name ?? null, pdf?.sha256 ?? null, xml?.name ?? null, xml?.sha256 ?? null]
  return [number, kind, date, orderId, document.corrects?.number ?? null, ...sums, ...names]
}

/** The most documents of an archive. The index of so many fits into memory, and the archive into 4 GiB. */
export const mostInArchive = 5000

/** The documents of some days as a ZIP archive, at most `mostInArchive`. The index and the checksums are its last files. */
export function documentArchive(shop: ShopContext, days: Partial<Days>, now: number): ReadableStream<Uint8Array> {
  return zipStream(zipFiles(shop, days, now))
}

async function* zipFiles(shop: ShopContext, days: Partial<Days>, modifiedAt: number): AsyncGenerator<ZipFile, void> {
  const lists = new Map([
    [indexFile, ''],
    [checksumFile, '']
  ])
  try {
    for await (const { name, content } of documentFiles(shop, days)) {
      if (typeof content === 'string') lists.set(name, `${lists.get(name) ?? ''}${content}`)
      else yield { name, content, modifiedAt }
    }
  } catch (error) {
    // The response has begun, so the reader only sees that it breaks off.
    shop.log.error('an archive of documents failed', { error: describeError(error) })
    throw error
  }
  for (const [name, text] of lists) yield { name, content: new TextEncoder().encode(text), modifiedAt }
}
