import { asc, between } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { Seller } from '../settings/seller.ts'
import type { TaxCategory } from '../tax/categories.ts'
import type { InvoiceBuyer } from './document.ts'
import type { InvoiceKind, InvoiceRow } from './find.ts'
import { invoices } from './schema.ts'

/** One tax rate of one document. The amounts of a credit note are negative. */
export type JournalRow = {
  kind: InvoiceKind
  number: string
  /** Days in the time zone of the shop, as YYYY-MM-DD. */
  date: string
  paidOn: string
  /** When the tax arose. */
  suppliedOn: string
  orderId: number
  /** The invoice that a credit note corrects. */
  corrects: string | null
  /** The first line of the address; null once the buyer is erased. */
  customer: string | null
  vatId: string | null
  address: InvoiceBuyer['address'] | null
  /** Who sold. */
  seller: Pick<Seller, 'country' | 'vatId'>
  /** What VIES knew of it, with the proof; null if the shop did not ask. */
  vatCheck: InvoiceBuyer['vatCheck'] | null
  country: string
  region: string
  destination: string
  name: string
  rateMillionths: number
  category: TaxCategory
  currency: string
  netMinor: number
  taxMinor: number
  /** The parts of the two that are on services. */
  serviceNetMinor: number
  serviceTaxMinor: number
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
  const { taxes, paidOn, suppliedOn, corrects } = document
  const sign = kind === 'invoice' ? 1 : -1
  return taxes
    .filter(({ baseMinor, amountMinor }) => baseMinor !== 0 || amountMinor !== 0)
    .map(({ baseMinor, amountMinor, serviceBaseMinor, serviceAmountMinor, ...tax }) => ({
      kind,
      number,
      date,
      orderId,
      currency,
      paidOn,
      suppliedOn,
      corrects: corrects?.number ?? null,
      customer: buyer?.lines[0] ?? null,
      vatId: buyer?.vatId ?? null,
      address: buyer?.address ?? null,
      seller: { country: document.seller.country, vatId: document.seller.vatId },
      vatCheck: buyer?.vatCheck ?? null,
      ...tax,
      netMinor: sign * baseMinor,
      taxMinor: sign * amountMinor,
      serviceNetMinor: sign * serviceBaseMinor,
      serviceTaxMinor: sign * serviceAmountMinor
    }))
}
