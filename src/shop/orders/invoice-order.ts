import { isDeepStrictEqual } from 'node:util'
import { textsIn } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import { asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write, rawStatement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { postalLines, destinationOf, shipToOf } from '../../platform/postal/address.ts'
import { issueCreditNote, issueInvoice, replaceInvoice } from '../invoices/issue.ts'
import type { Returned, Sale } from '../invoices/issue.ts'
import type { InvoiceBuyer } from '../invoices/document.ts'
import { setting } from '../settings/settings.ts'
import type { TaxRate } from '../tax/terms.ts'
import { getOrder, itemsOf } from './find.ts'
import { taxesOfOrder, termsOfOrder, discountsOf } from './totals.ts'
import type { OrderRow, Person } from './find.ts'
import { linesOfRefund, refundsOfOrder } from './refund-lines.ts'
import type { RefundLineRow } from './refund-lines.ts'
import { invoices } from '../invoices/schema.ts'
import { orders } from './schema.ts'
import { documentsOf, findInvoice } from '../invoices/find.ts'
import type { InvoiceRow } from '../invoices/find.ts'

/**
 * Issues the invoice of an order when its payment is recorded. An order that costs nothing has none: nothing was sold for
 * money, and anyone could use up the shop's numbers. If the order was refunded before it had an invoice, its credit note
 * follows.
 */
export function invoiceOrder(tx: Tx, order: OrderRow, now: number): void {
  if (order.totalMinor === 0) return
  issueInvoice(tx, saleOf(tx, order, now), now)
  creditOrder(tx, order, now)
}

/**
 * Issues the invoice of an order that was paid before the shop had invoices, and its credit note if it was refunded.
 * The numbers are in the order of issue. An order that has its invoice does not change.
 *
 * @throws AppError NOT_FOUND; CONFLICT for an order that was never paid, cost nothing, or was sold by another shop
 */
export function issueMissingInvoice(db: Db, orderId: number, now: number): void {
  write(db, (tx) => {
    const order = getOrder(tx, orderId)
    if (order.paidAt === null)
      throw new AppError('CONFLICT', `Order ${orderId} has no invoice, because it has not been paid.`)
    if (order.totalMinor === 0)
      throw new AppError('CONFLICT', `Order ${orderId} has no invoice, because it cost nothing.`)
    if (order.imported)
      throw new AppError(
        'CONFLICT',
        `Order ${orderId} has no invoice here: it was sold by another shop, which issued it.`
      )
    invoiceOrder(tx, order, now)
  })
}

/**
 * Issues the credit note for what was refunded of an order and is in no credit note yet.
 *
 * @param lines what the refund gives back; none for an amount
 */
export function creditOrder(tx: Tx, order: OrderRow, now: number, lines: readonly RefundLineRow[] = []): void {
  const { id, refundedMinor } = order
  if (refundedMinor > 0) issueCreditNote(tx, id, refundedMinor, now, returnedOf(tx, order, lines))
}

/**
 * Corrects the invoice of an order that has changed since, such as its address or its lines: a credit note cancels it, and
 * an invoice of the order as it is now replaces it, by the seller's settings of the moment. What was refunded is credited
 * again, to the new invoice. An erased buyer stays as the invoice names them.
 *
 * @param order as it is stored now
 * @returns the new invoice; undefined for an order that has none to correct, or that costs nothing any more
 */
export function correctInvoice(tx: Tx, order: OrderRow, now: number): InvoiceRow | undefined {
  const lines = refundsOfOrder(tx, order.id).flatMap(({ id, state }) => (state === 'done' ? linesOfRefund(tx, id) : []))
  const sale = order.totalMinor === 0 ? null : saleOf(tx, order, now)
  const isReplaced = replaceInvoice(tx, order.id, { sale, returned: returnedOf(tx, order, lines) }, now)
  return isReplaced && sale !== null ? findInvoice(tx, order.id) : undefined
}

/**
 * Corrects the invoice of an order whose buyer has changed, if it names the buyer otherwise now.
 *
 * @param orders.before the order as it was
 * @returns the numbers of the cancelled and the new invoice; undefined if the invoice stays
 */
export function correctBuyer(
  tx: Tx,
  { before, order }: { before: OrderRow; order: OrderRow },
  now: number
): { cancelled: string; number: string } | undefined {
  const invoice = findInvoice(tx, order.id)
  if (invoice === undefined) return undefined
  const { textLanguage } = textsIn(invoice.document.language)
  if (isDeepStrictEqual(buyerOf(before, textLanguage), buyerOf(order, textLanguage))) return undefined
  const number = correctInvoice(tx, order, now)?.number
  return number === undefined ? undefined : { cancelled: invoice.number, number }
}

/** What refunds give back, as their credit note says it. */
function returnedOf(db: Db, order: OrderRow, lines: readonly RefundLineRow[]): Returned | null {
  if (lines.length === 0) return null
  const items = itemsOf(db, order.id)
  const taxes = taxesOfOrder(db, order.id)
  const priceOf = ({ amountMinor, taxMinor }: RefundLineRow): number => amountMinor - (order.taxIncluded ? 0 : taxMinor)
  const shipping = lines.filter(({ orderItemId }) => orderItemId === null)
  const { name = '', pickup = false } = order.shippingMethod ?? {}
  return {
    lines: lines.flatMap((line) => {
      const item = items.find(({ id }) => id === line.orderItemId)
      if (item === undefined) return []
      // What is left of the price of units that were given back before.
      const quantity = Math.max(1, line.quantity)
      const unitPriceMinor = line.quantity === 0 ? priceOf(line) : item.unitPriceMinor
      const rateMillionths = line.taxRow === null ? 0 : (taxes[line.taxRow]?.rateMillionths ?? 0)
      const { name, sku } = item
      return { name, sku, quantity, unitPriceMinor, amountMinor: unitPriceMinor * quantity, rateMillionths }
    }),
    shipping:
      shipping.length === 0
        ? null
        : { name, pickup, amountMinor: shipping.reduce((sum, line) => sum + priceOf(line), 0) },
    taxed: lines.map(({ taxRow, amountMinor, taxMinor }) => ({ row: taxRow ?? taxes.length, amountMinor, taxMinor }))
  }
}

/** What the invoice of an order says. */
function saleOf(db: Db, order: OrderRow, now: number): Sale {
  const language = order.language ?? setting(db, 'storefront.language')
  const { id, currency, createdAt, paidAt, shippingMethod, shippingMinor } = order
  const isPickedUp = shippingMethod?.pickup === true
  const items = itemsOf(db, id)
  const taxes = taxesOfOrder(db, id).map(({ id: _id, orderId: _order, ...tax }) => tax)
  const { rateOf } = termsOfOrder(db, order, items)
  return {
    orderId: id,
    orderedAt: createdAt,
    paidAt: paidAt ?? now,
    language,
    currency,
    country: (isPickedUp ? undefined : destinationOf(order)?.country) ?? setting(db, 'shop.country'),
    buyer: buyerOf(order, textsIn(language).textLanguage),
    lines: items.map((item) => {
      const { name, sku, quantity, unitPriceMinor } = item
      const amountMinor = unitPriceMinor * quantity
      return { name, sku, quantity, unitPriceMinor, amountMinor, ...chargedRate(taxes, rateOf(item)) }
    }),
    discounts: discountsOf(db, order, textsIn(language)),
    shipping:
      shippingMethod === null ? null : { name: shippingMethod.name, pickup: isPickedUp, amountMinor: shippingMinor },
    subtotalMinor: order.subtotalMinor,
    taxIncluded: order.taxIncluded,
    taxMinor: order.taxMinor,
    taxes,
    reverseCharge: order.reverseCharge,
    totalMinor: order.totalMinor
  }
}

/**
 * The rate of a line, as far as the order was charged it. `rate` is the one of the moment: the shop may have changed its
 * rates after the order.
 */
function chargedRate(taxes: readonly TaxRate[], rate: TaxRate | null): { rateMillionths?: number } {
  if (rate === null) return { rateMillionths: 0 }
  const isCharged = taxes.some(
    ({ country, region, rateMillionths }) =>
      country === rate.country && region === rate.region && rateMillionths === rate.rateMillionths
  )
  return isCharged ? { rateMillionths: rate.rateMillionths } : {}
}

/** The billing address, or the shipping address if that names no place, with the name and company given elsewhere. */
function buyerOf(order: OrderRow, language: Language): InvoiceBuyer {
  const { billingAddress, contact, vatId } = order
  const { firstName, lastName, companyName: company } = contact
  const known = Object.entries({ firstName, lastName, company }).filter(([, value]) => value !== undefined)
  const { address1, city, postcode } = billingAddress ?? {}
  const isPlace = [address1, city, postcode].some((part) => part !== undefined)
  const shipped = isPlace ? null : (shipToOf(order) ?? order.shippingAddress)
  const lines = postalLines({ ...Object.fromEntries(known), ...billingAddress, ...shipped }, language)
  // A line break would let the buyer write lines of their own.
  return { lines: lines.map((line) => line.replaceAll(/\s+/g, ' ')), vatId }
}

/**
 * Removes the buyer from documents that were issued before a day (YYYY-MM-DD), if their order has no personal data any
 * more, among the `limit` documents that follow the id `after`. Returns the id to continue after; null at the first
 * document that is not from before.
 */
export function forgetBuyers(
  tx: Tx,
  before: string,
  { after, limit }: { after: number; limit: number }
): number | null {
  const isEmpty = sql<number>`${orders.email} IS NULL AND ${orders.contact} = '{}'
    AND ${orders.billingAddress} IS NULL AND ${orders.shippingAddress} IS NULL`
  const oldest = tx.orm
    .select({ id: invoices.id, date: invoices.date, hasBuyer: sql<number>`${invoices.buyer} IS NOT NULL`, isEmpty })
    .from(invoices)
    .innerJoin(orders, eq(orders.id, invoices.orderId))
    .where(gt(invoices.id, after))
    .orderBy(asc(invoices.id))
    .limit(limit)
    .all()
  const old = oldest.filter(({ date }) => date < before)
  const known = old.filter((row) => row.hasBuyer === 1 && row.isEmpty === 1).map(({ id }) => id)
  if (known.length > 0) tx.orm.update(invoices).set({ buyer: null }).where(inArray(invoices.id, known)).run()
  return old.length === limit ? (old.at(-1)?.id ?? null) : null
}

const ordersOf = rawStatement<{ userId: number | null; emailKey: string }, { id: number }>(`
  SELECT id FROM orders WHERE user_id = @userId OR (user_id IS NULL AND email_key = @emailKey) ORDER BY +id`)

/** The invoices and credit notes of a person's orders, of the account and as a guest. */
export function documentsOfPerson(db: Db, { id: userId, emailKey }: Person): InvoiceRow[] {
  return ordersOf(db)
    .all({ userId, emailKey })
    .flatMap(({ id }) => documentsOf(db, id))
}
