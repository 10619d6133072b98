import { asc, between } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { TaxCategory } from '../tax/categories.ts'
import type { InvoiceKind, InvoiceRow } from './find.ts'
import { invoices } from './schema.ts'

/** One tax rate of one document. The amounts of a credit note are negative. */
export type JournalRow = {
  kind: InvoiceKind
  number: string
  /** Days in the time zone of the shop, as YYYY-MM-DD. */
  date: string
  paidOn: string
  orderId: number
  /** The invoice that a credit note corrects. */
  corrects: string | null
  /** The first line of the address; null once the buyer is erased. */
  customer: string | null
  vatId: string | null
  country: string
  region: string
  destination: string
  name: string
  rateMillionths: number
  category: TaxCategory
  currency: string
  netMinor: number
  taxMinor: number
}

/**
 * The documents that were issued in some days (YYYY-MM-DD, both included), in the order of issue, a row for each rate. The
 * rows come from the stored documents, so the journal of past days does not change.
 */
export function journalOf(db: Db, { from, to }: { from: string; to: string }): JournalRow[] {
  return db.orm
    .select()
    .from(invoices)
    .where(between(invoices.date, from, to))
    .orderBy(asc(invoices.date), asc(invoices.id))
    .all()
    .flatMap(toRows)
}

function toRows({ kind, number, date, orderId, currency, buyer, document }: InvoiceRow): JournalRow[] {
  const { taxes, paidOn, corrects } = document
  const sign = kind === 'invoice' ? 1 : -1
  return taxes
    .filter(({ baseMinor, amountMinor }) => baseMinor !== 0 || amountMinor !== 0)
    .map(({ baseMinor, amountMinor, serviceBaseMinor: _base, serviceAmountMinor: _amount, ...tax }) => ({
      kind,
      number,
      date,
      orderId,
      currency,
      paidOn,
      corrects: corrects?.number ?? null,
      customer: buyer?.lines[0] ?? null,
      vatId: buyer?.vatId ?? null,
      ...tax,
      netMinor: sign * baseMinor,
      taxMinor: sign * amountMinor
    }))
}
