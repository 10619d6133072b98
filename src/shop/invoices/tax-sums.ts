import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { invoiceTax } from './document.ts'
import type { InvoiceTax } from './document.ts'
import type { InvoiceKind } from './find.ts'

/** What the invoices minus the credit notes of some days say about one tax rate in one currency. */
export type TaxSum = Pick<InvoiceTax, 'category' | 'name' | 'country' | 'region' | 'destination' | 'rateMillionths'> & {
  currency: string
  netMinor: number
  taxMinor: number
  invoices: number
  creditNotes: number
}

const taxesOf = z.array(invoiceTax)

type Days = { from: string; to: string }
type Row = { kind: InvoiceKind; currency: string; suppliedOn: string; sellerCountry: string; taxes: string }

const documents = rawStatement<Days, Row>(`
  SELECT kind, currency, document ->> '$.suppliedOn' AS suppliedOn, document ->> '$.seller.country' AS sellerCountry,
    document -> '$.taxes' AS taxes
  FROM invoices WHERE date BETWEEN @from AND @to`)

/** A tax of a document. The amounts of a credit note count as negative: `sign` is -1. */
export type TaxEntry = Omit<Row, 'taxes'> & { sign: 1 | -1; tax: InvoiceTax }

/**
 * The taxes of the documents that were issued in some days (YYYY-MM-DD, both included). They are read one by one, so the
 * memory does not depend on their number.
 */
export function* taxEntries(db: Db, days: Days): Generator<TaxEntry, void> {
  for (const { taxes, ...row } of documents(db).iterate(days)) {
    const sign = row.kind === 'invoice' ? 1 : -1
    for (const tax of taxesOf.parse(JSON.parse(taxes))) yield { ...row, sign, tax }
  }
}

/**
 * The sums of the documents that were issued in some days, by country, region, rate, category and destination. SQLite would
 * sort all documents to group them.
 */
export function taxSums(db: Db, days: Days): TaxSum[] {
  const sums = new Map<string, TaxSum>()
  for (const entry of taxEntries(db, days)) add(sums, entry)
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

function add(sums: Map<string, TaxSum>, { kind, currency, sign, tax }: TaxEntry): void {
  const { category, country, region, destination, name, rateMillionths, baseMinor, amountMinor } = tax
  // The highest rate of a place comes first.
  const key = [currency, country, region, 9_999_999 - rateMillionths, name, category, destination].join('\n')
  const sum = sums.get(key) ?? {
    category,
    country,
    region,
    destination,
    name,
    rateMillionths,
    currency,
    netMinor: 0,
    taxMinor: 0,
    invoices: 0,
    creditNotes: 0
  }
  sum.netMinor += sign * baseMinor
  sum.taxMinor += sign * amountMinor
  if (kind === 'invoice') sum.invoices += 1
  else if (baseMinor + amountMinor > 0) sum.creditNotes += 1
  sums.set(key, sum)
}
