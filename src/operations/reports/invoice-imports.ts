import { amountCell, toCsv } from '../../platform/csv.ts'
import type { CsvCell } from '../../platform/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { setting } from '../../shop/settings/settings.ts'
import { rateLabel } from '../../shop/tax/terms.ts'
import { accountsOf, assertKeys } from './accounts.ts'
import type { PostedRow, Posting } from './accounts.ts'

/** A line of an imported invoice: what a document posts to one account at one rate, without tax. */
type Line = { row: PostedRow; posting: Posting; account: string; taxName: string; date: string }
type Columns = Readonly<Record<string, ((line: Line) => CsvCell) | null>>

const customerOf = ({ row }: Line): string => row.customer ?? 'Unknown customer'
const net = ({ row, posting }: Line): CsvCell => amountCell(posting.netMinor, row.currency)
const tax = ({ row, posting }: Line): CsvCell => amountCell(posting.taxMinor, row.currency)
const describe = ({ row }: Line): string => `Order ${row.orderId}, ${rateLabel(row)}`

/**
 * The columns of Xero's template for sales invoices (Business, Invoices, Import, Download template file). A negative amount
 * makes a credit note.
 */
const xeroColumns: Columns = {
  '*ContactName': customerOf,
  EmailAddress: null,
  POAddressLine1: ({ row }) => row.address?.address1 ?? null,
  POAddressLine2: ({ row }) => row.address?.address2 ?? null,
  POAddressLine3: null,
  POAddressLine4: null,
  POCity: ({ row }) => row.address?.city ?? null,
  PORegion: ({ row }) => row.address?.state ?? null,
  POPostalCode: ({ row }) => row.address?.postcode ?? null,
  POCountry: ({ row }) => (row.address?.country === undefined ? null : countryName(row.address.country)),
  '*InvoiceNumber': ({ row }) => row.number,
  Reference: ({ row }) => row.corrects ?? `Order ${row.orderId}`,
  '*InvoiceDate': ({ date }) => date,
  '*DueDate': ({ date }) => date,
  Total: null,
  InventoryItemCode: null,
  '*Description': describe,
  '*Quantity': () => 1,
  '*UnitAmount': net,
  Discount: null,
  '*AccountCode': ({ account }) => account,
  '*TaxType': ({ taxName }) => taxName,
  TaxAmount: tax,
  TrackingName1: null,
  TrackingOption1: null,
  TrackingName2: null,
  TrackingOption2: null,
  Currency: ({ row }) => row.currency,
  BrandingTheme: null
}

/** The columns of QuickBooks Online's sample file for invoices (Import data, Invoices). */
const quickbooksColumns: Columns = {
  '*InvoiceNo': ({ row }) => row.number,
  '*Customer': customerOf,
  '*InvoiceDate': ({ date }) => date,
  '*DueDate': ({ date }) => date,
  Terms: null,
  Location: null,
  Memo: ({ row }) => row.corrects ?? `Order ${row.orderId}`,
  'Item(Product/Service)': () => 'Sales',
  ItemDescription: describe,
  ItemQuantity: () => 1,
  ItemRate: net,
  '*ItemAmount': net,
  '*ItemTaxCode': ({ taxName }) => taxName,
  ItemTaxAmount: tax,
  Currency: ({ row }) => row.currency
}

/** The same for credit notes. QuickBooks imports them from a file of their own, with positive amounts and no due date. */
const quickbooksCreditColumns: Columns = {
  ...Object.fromEntries(Object.entries(quickbooksColumns).filter(([name]) => name !== '*DueDate')),
  ItemRate: (line) => net(positive(line)),
  '*ItemAmount': (line) => net(positive(line)),
  ItemTaxAmount: (line) => tax(positive(line))
}

function positive(line: Line): Line {
  const { key, netMinor, taxMinor } = line.posting
  return { ...line, posting: { key, netMinor: -netMinor, taxMinor: -taxMinor } }
}

/** @throws AppError CONFLICT for sales without an account or a tax name */
export function xeroFile(db: Db, rows: readonly PostedRow[]): string {
  assertKeys('account', rows, keysOf, accountsOf(db).accountOf)
  return fileOf(db, rows, xeroColumns)
}

/** The invoices, or the credit notes. @throws AppError CONFLICT for sales without a tax name */
export function quickbooksFile(db: Db, rows: readonly PostedRow[], kind: PostedRow['kind']): string {
  return fileOf(
    db,
    rows.filter((row) => row.kind === kind),
    kind === 'invoice' ? quickbooksColumns : quickbooksCreditColumns
  )
}

const keysOf = ({ postings }: PostedRow) => postings.map(({ key }) => key)

function fileOf(db: Db, rows: readonly PostedRow[], columns: Columns): string {
  const { accountOf, taxCodeOf } = accountsOf(db)
  assertKeys('tax name', rows, keysOf, taxCodeOf)
  const isAmerican = setting(db, 'shop.country') === 'US'
  const lines = rows.flatMap((row) =>
    row.postings.map((posting) => ({
      row,
      posting,
      account: accountOf(posting.key)?.number ?? '',
      taxName: taxCodeOf(posting.key) ?? '',
      date: dateOf(row.date, isAmerican)
    }))
  )
  const cells = Object.values(columns)
  return toCsv(
    Object.keys(columns),
    lines.map((line) => cells.map((cell) => cell?.(line) ?? null))
  )
}

/** A day as both programs read it: 31/12/2026, and 12/31/2026 in the United States. */
function dateOf(day: string, isAmerican: boolean): string {
  const [year = '', month = '', date = ''] = day.split('-')
  return (isAmerican ? [month, date, year] : [date, month, year]).join('/')
}
