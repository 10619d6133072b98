import { and, eq, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import { setting } from '../settings/settings.ts'
import { sellerOf } from '../settings/seller.ts'
import { shopDay } from '../settings/shop-days.ts'
import type { InvoiceBuyer, InvoiceDocument, InvoiceTax } from './document.ts'
import { currentDocuments, documentsOf } from './find.ts'
import type { InvoiceRow } from './find.ts'
import { crossBorderOf } from './cross-border.ts'
import { taxedParts, taxesLeft, taxesOfRefund, taxesOfReturn } from './part-taxes.ts'
import { invoices } from './schema.ts'

/** A paid order as its invoice shows it. */
export type Sale = Omit<
  InvoiceDocument,
  'version' | 'seller' | 'orderedOn' | 'paidOn' | 'suppliedOn' | 'corrects' | 'replaces'
> & {
  orderId: number
  orderedAt: number
  paidAt: number
  currency: string
  buyer: InvoiceBuyer
}

/**
 * Issues the invoice of an order in the transaction that records its payment, so that a number is used exactly when the
 * payment is stored. An order that has its invoice gets no second one.
 */
export function issueInvoice(tx: Tx, sale: Sale, now: number): void {
  if (documentsOf(tx, sale.orderId).length === 0) storeInvoice(tx, sale, now)
}

/**
 * Replaces the latest invoice of an order: a credit note cancels what its credit notes left of it, and an invoice of the
 * order as it is now follows. That gets a credit note for what the cancelled one's credit notes had given back.
 *
 * @param sale the order as it is now; null if nothing of it costs money any more
 * @param returned what the refunds of the order gave back; null if that is not known by lines
 * @returns false for an order without an invoice, or whose invoice was credited as a whole; then nothing changes
 */
export function replaceInvoice(
  tx: Tx,
  orderId: number,
  { sale, returned }: { sale: Sale | null; returned: Returned | null },
  now: number
): boolean {
  const { invoice, notes } = currentDocuments(tx, orderId)
  if (invoice === undefined) return false
  const creditedMinor = notes.reduce((sum, note) => sum + note.totalMinor, 0)
  const leftMinor = invoice.totalMinor - creditedMinor
  if (leftMinor === 0) return false
  const { number, date } = invoice
  const corrects = { number, date, whole: notes.length === 0, ...(notes.length === 0 ? {} : { rest: true }) }
  storeCreditNote(tx, { totalMinor: leftMinor, returned: null, corrects, correction: true }, { invoice, notes }, now)
  if (sale === null) return true
  const isErased = sale.buyer.lines.length === 0 && sale.buyer.vatId === null
  storeInvoice(tx, { ...sale, buyer: isErased ? invoice.buyer : sale.buyer }, now, invoice)
  const again = Math.min(creditedMinor, sale.totalMinor)
  if (again > 0) creditCurrent(tx, orderId, { refundedMinor: again, returned, correction: true }, now)
  return true
}

type SaleToAnyone = Omit<Sale, 'buyer'> & Pick<InvoiceRow, 'buyer'>

function storeInvoice(tx: Tx, sale: SaleToAnyone, now: number, replaced?: InvoiceRow): void {
  const { orderId, orderedAt, paidAt, currency, buyer, ...content } = sale
  const document: InvoiceDocument = {
    ...content,
    version: 1,
    seller: sellerOf(tx),
    orderedOn: shopDay(tx, orderedAt),
    paidOn: shopDay(tx, paidAt),
    suppliedOn: replaced?.document.suppliedOn ?? shopDay(tx, paidAt),
    corrects: null,
    ...(replaced === undefined ? {} : { replaces: { number: replaced.number, date: replaced.date } })
  }
  store(tx, { kind: 'invoice', orderId, currency, buyer, document, correction: replaced !== undefined }, now)
}

/** What a refund gives back, as the lines and the shipping of its credit note. */
export type Returned = Pick<InvoiceDocument, 'lines' | 'shipping'>

/**
 * Issues the credit note of a refund, for what `refundedMinor` (all refunds of the order) exceeds its credit notes. A
 * refund that failed at the bank is still owed, so its credit note stays and the refund that replaces it gets none. An
 * order without an invoice gets no credit note.
 *
 * @param returned what the refund gives back, at the tax rates of that; null for an amount, which returns each rate in
 *   proportion to what is left of it
 */
export function issueCreditNote(
  tx: Tx,
  orderId: number,
  refundedMinor: number,
  now: number,
  returned: Returned | null = null
): void {
  creditCurrent(tx, orderId, { refundedMinor, returned, correction: false }, now)
}

function creditCurrent(
  tx: Tx,
  orderId: number,
  { refundedMinor, ...credit }: Pick<Credit, 'returned' | 'correction'> & { refundedMinor: number },
  now: number
): void {
  const { invoice, notes } = currentDocuments(tx, orderId)
  if (invoice === undefined) return
  const totalMinor = refundedMinor - notes.reduce((sum, note) => sum + note.totalMinor, 0)
  if (totalMinor <= 0) return
  const { number, date } = invoice
  const corrects = { number, date, whole: totalMinor === invoice.totalMinor }
  storeCreditNote(tx, { ...credit, totalMinor, corrects }, { invoice, notes }, now)
}

type Credit = {
  totalMinor: number
  returned: Returned | null
  corrects: NonNullable<InvoiceDocument['corrects']>
  correction: boolean
}

/** Stores the credit note of an invoice, beside the credit notes that it has. */
function storeCreditNote(
  tx: Tx,
  { totalMinor, returned, corrects, correction }: Credit,
  { invoice, notes }: { invoice: InvoiceRow; notes: readonly InvoiceRow[] },
  now: number
): void {
  const { orderId, currency, buyer, document } = invoice
  const before = notes.map((note) => note.document.taxes)
  const left = taxesLeft(document.taxes, before)
  const taxed = returned === null ? [] : taxedParts(returned)
  const isReturned = taxed.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0) === totalMinor
  const named = isReturned ? returned : null
  const taxes = named === null ? taxesOfRefund(left, totalMinor) : taxesOfReturn(left, taxed)
  const { replaces: _replaces, giftCards: _giftCards, ...content } = document
  const credited: InvoiceDocument = {
    ...content,
    ...(corrects.whole ? {} : partOf(document, named, { taxMinor: taxOf(taxes), totalMinor })),
    taxes,
    taxMinor: taxOf(taxes),
    totalMinor,
    corrects
  }
  store(tx, { kind: 'credit_note', orderId, currency, buyer, document: credited, correction }, now)
}

type Sums = { taxMinor: number; totalMinor: number }

/** The lines of a credit note for a part of its invoice. What they cost more than is returned was a discount. */
function partOf({ taxIncluded, language }: InvoiceDocument, named: Returned | null, { taxMinor, totalMinor }: Sums) {
  if (named === null) return { lines: [], discounts: [], shipping: null, subtotalMinor: totalMinor }
  const { lines, shipping } = named
  const subtotalMinor = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const pricesMinor = totalMinor - (taxIncluded ? 0 : taxMinor) - (shipping?.amountMinor ?? 0)
  const discountMinor = subtotalMinor - pricesMinor
  const discounts =
    discountMinor === 0 ? [] : [{ label: textsIn(language).t('sum.discount'), amountMinor: discountMinor }]
  return { lines, discounts, shipping, subtotalMinor }
}

const taxOf = (taxes: readonly InvoiceTax[]): number => taxes.reduce((sum, { amountMinor }) => sum + amountMinor, 0)

type Issued = Pick<InvoiceRow, 'kind' | 'orderId' | 'currency' | 'buyer' | 'document' | 'correction'>

/**
 * SQLite has one writer at a time, so the next number is the last one plus one, or `invoice.firstNumber` if that is higher.
 * A rollback gives it back.
 */
function store(tx: Tx, issued: Issued, now: number): void {
  const date = shopDay(tx, now)
  const year = Number(date.slice(0, 4))
  const last = tx.orm
    .select({ sequence: max(invoices.sequence) })
    .from(invoices)
    .where(and(eq(invoices.kind, issued.kind), eq(invoices.year, year)))
    .get()
  const sequence = Math.max((last?.sequence ?? 0) + 1, setting(tx, 'invoice.firstNumber'))
  const series = `${setting(tx, 'invoice.prefix')}${issued.kind === 'credit_note' ? 'CN' : ''}`
  const number = `${series}${year}-${sequence}`
  const { totalMinor } = issued.document
  tx.orm
    .insert(invoices)
    .values({
      ...issued,
      year,
      sequence,
      number,
      date,
      totalMinor,
      crossBorderMinor: crossBorderOf(issued.document),
      issuedAt: now
    })
    .run()
}
