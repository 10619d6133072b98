import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'

/** What the invoices minus the credit notes of some days say about one tax rate in one currency. */
export type TaxSum = {
  country: string
  region: string
  name: string
  rateMillionths: number
  reverseCharge: boolean
  currency: string
  netMinor: number
  taxMinor: number
  invoices: number
  creditNotes: number
}

type Days = { from: string; to: string }

// SQLite adds the rows up one by one, so the memory does not depend on how many invoices there are.
const sums = rawStatement<Days, Omit<TaxSum, 'reverseCharge'> & { reverseCharge: number }>(`
  SELECT t.value ->> '$.country' AS country, t.value ->> '$.region' AS region, t.value ->> '$.name' AS name,
         t.value ->> '$.rateMillionths' AS rateMillionths, i.document ->> '$.reverseCharge' AS reverseCharge, i.currency,
         sum(iif(i.kind = 'invoice', 1, -1) * (t.value ->> '$.baseMinor')) AS netMinor,
         sum(iif(i.kind = 'invoice', 1, -1) * (t.value ->> '$.amountMinor')) AS taxMinor,
         sum(i.kind = 'invoice') AS invoices, sum(i.kind <> 'invoice') AS creditNotes
    FROM invoices i JOIN json_each(i.document, '$.taxes') t
   WHERE i.date BETWEEN @from AND @to
   GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 6, 1, 2, 4 DESC, 3`)

/** The sums of the documents that were issued in some days (YYYY-MM-DD, both included), by country, region and rate. */
export function taxSums(db: Db, days: Days): TaxSum[] {
  return sums(db)
    .all(days)
    .map((row) => ({ ...row, reverseCharge: row.reverseCharge === 1 }))
}
