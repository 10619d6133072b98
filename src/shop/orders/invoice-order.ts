import { isDeepStrictEqual } from 'node:util'
import { textsIn } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import { asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write, rawStatement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { postalAddress, postalLines, destinationOf, shipToOf } from '../../platform/postal/address.ts'
import { addDays } from '../../platform/days.ts'
import { renewalInterval } from '../benefits/kinds.ts'
import { addInterval, addPeriod } from '../benefits/period.ts'
import { findInvoiceOfOrder } from '../benefits/subscriptions.ts'
import { isShipped } from '../catalog/product-types.ts'
import { issueCreditNote, issueInvoice, replaceInvoice } from '../invoices/issue.ts'
import type { Returned, Sale } from '../invoices/issue.ts'
import type { InvoiceBuyer, InvoiceDocument, InvoiceLine } from '../invoices/document.ts'
import { taxedParts, withServices } from '../invoices/part-taxes.ts'
import type { TaxedPart } from '../invoices/part-taxes.ts'
import { vatCountry } from '../../platform/vat.ts'
import { setting } from '../settings/settings.ts'
import { shopDay } from '../settings/shop-days.ts'
import type { VatCheck } from '../tax/input.ts'
import type { TaxLine } from '../tax/terms.ts'
import { creditsOf } from './refunds/credits.ts'
import { getOrder, itemsOf } from './find.ts'
import { discountsOf, taxesOfOrder } from './totals.ts'
import type { OrderItemRow, OrderRow, Person } from './find.ts'
import { linesOfRefund, partsOf, refundsOfOrder } from './refunds/refund-lines.ts'
import type { Part, RefundLineRow } from './refunds/refund-lines.ts'
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
    const reason = whyNoInvoice(order)
    if (reason !== undefined) throw new AppError('CONFLICT', reason)
    invoiceOrder(tx, order, now)
  })
}

/** Why an order can't have an invoice, as a sentence for the operator; undefined if it can. */
export function whyNoInvoice({ id, paidAt, totalMinor, imported }: OrderRow): string | undefined {
  if (paidAt === null) return `Order ${id} has no invoice, because it has not been paid.`
  if (totalMinor === 0) return `Order ${id} has no invoice, because it cost nothing.`
  return imported ? `Order ${id} has no invoice here: it was sold by another shop, which issued it.` : undefined
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
  const printed = (row: OrderRow): object => {
    const { lines, address, vatId, vatCheck } = buyerOf(tx, row, textLanguage)
    return { lines, address, vatId, vatCheck }
  }
  if (isDeepStrictEqual(printed(before), printed(order))) return undefined
  const number = correctInvoice(tx, order, now)?.number
  return number === undefined ? undefined : { cancelled: invoice.number, number }
}

/** What refunds give back, as their credit note says it. */
function returnedOf(db: Db, order: OrderRow, lines: readonly RefundLineRow[]): Returned | null {
  if (lines.length === 0) return null
  const items = itemsOf(db, order.id)
  const untaxedRow = taxesOfOrder(db, order.id).length
  const toPart = (line: RefundLineRow): Part => ({ ...line, item: itemOf(items, line), line: 0 })
  const parts = lines.map(toPart)
  return {
    lines: parts.flatMap((part) =>
      part.item === null ? [] : [returnedLine(order, { ...part, item: part.item }, untaxedRow)]
    ),
    shipping: shippingOf(order, parts, untaxedRow)
  }
}

function itemOf(items: readonly OrderItemRow[], { orderItemId }: RefundLineRow): OrderItemRow | null {
  return items.find(({ id }) => id === orderItemId) ?? null
}

type ItemPart = Part & { item: OrderItemRow }

/** What the price of a part is by the order: with tax if its prices include it. */
function priceOf({ taxIncluded }: OrderRow, { amountMinor, taxMinor }: Part): number {
  return amountMinor - (taxIncluded ? 0 : taxMinor)
}

/** A line of a document, at the prices of its line item. */
function lineOf(order: OrderRow, part: ItemPart, untaxedRow: number): InvoiceLine {
  const { item, quantity, amountMinor, taxMinor, taxRow } = part
  const { name, sku, unitPriceMinor, discountMinor, type } = item
  return {
    name,
    sku,
    quantity,
    unitPriceMinor,
    amountMinor: priceOf(order, part) + discountMinor,
    discountMinor,
    netMinor: amountMinor - taxMinor,
    taxMinor,
    taxRow: taxRow ?? untaxedRow,
    isService: !isShipped(type)
  }
}

/** What is given back at a lower price than it was sold for was discounted by the difference. */
function returnedLine(order: OrderRow, part: ItemPart, untaxedRow: number): InvoiceLine {
  const { item, quantity } = part
  const priceMinor = priceOf(order, part)
  const line = lineOf(order, part, untaxedRow)
  // What is left of the price of units that were given back before.
  if (quantity === 0)
    return { ...line, quantity: 1, unitPriceMinor: priceMinor, amountMinor: priceMinor, discountMinor: 0 }
  // Without the tax, the price of a line is no multiple of its units' rounded prices.
  const isRounded = item.listPriceMinor !== null
  const ownDiscountMinor = Math.floor((item.discountMinor * quantity) / item.quantity)
  const discountMinor = isRounded ? ownDiscountMinor : Math.max(0, item.unitPriceMinor * quantity - priceMinor)
  return { ...line, amountMinor: priceMinor + discountMinor, discountMinor }
}

function shippingOf(order: OrderRow, parts: readonly Part[], untaxedRow: number): InvoiceDocument['shipping'] {
  const shipping = parts.filter(({ item }) => item === null)
  const { name = '', pickup = false } = order.shippingMethod ?? {}
  if (order.shippingMethod === null || shipping.length === 0) return null
  return {
    name,
    pickup,
    amountMinor: shipping.reduce((sum, part) => sum + priceOf(order, part), 0),
    parts: shipping.map(({ amountMinor, taxMinor, taxRow }) => ({
      taxRow: taxRow ?? untaxedRow,
      netMinor: amountMinor - taxMinor,
      taxMinor
    }))
  }
}

/** What the invoice of an order says. */
function saleOf(db: Db, order: OrderRow, now: number): Sale {
  const language = order.language ?? setting(db, 'storefront.language')
  const { id, currency, createdAt, shippingMethod } = order
  const paidAt = order.paidAt ?? now
  const pickup = shippingMethod?.pickup === true
  const country = (pickup ? undefined : destinationOf(order)?.country) ?? setting(db, 'shop.country')
  const taxes = taxesOfOrder(db, id).map(({ id: _id, orderId: _order, ...tax }) => tax)
  const parts = partsOf(db, order)
  const renewed = findInvoiceOfOrder(db, id)
  const lines = parts.flatMap((part) => {
    if (part.item === null) return []
    const line = lineOf(order, { ...part, item: part.item }, taxes.length)
    return [{ ...line, ...periodOf(db, { grants: part.item.grants, paidAt, renewed }) }]
  })
  const method = shippingMethod === null ? null : { name: shippingMethod.name, pickup, amountMinor: 0, parts: [] }
  const shipping = shippingOf(order, parts, taxes.length) ?? method
  const taxed = taxedParts({ lines, shipping })
  return {
    orderId: id,
    orderedAt: createdAt,
    paidAt,
    language,
    currency,
    country,
    buyer: buyerOf(db, order, textsIn(language).textLanguage),
    lines,
    discounts: discountsOf(db, order, textsIn(language)),
    shipping,
    subtotalMinor: order.subtotalMinor,
    taxIncluded: order.taxIncluded,
    taxMinor: order.taxMinor,
    taxes: withUntaxed(taxes, taxed, country).map((tax, row) => withServices(tax, row, taxed)),
    totalMinor: order.totalMinor,
    ...paidByCards(db, order),
    ...(order.deliveryConsentAt === null ? {} : { deliveryConsentOn: shopDay(db, order.deliveryConsentAt) })
  }
}

/** The gift cards that paid for an order, if any did. */
function paidByCards(db: Db, { id }: OrderRow): Pick<InvoiceDocument, 'giftCards'> {
  const giftCards = creditsOf(db, id).flatMap(({ credit: { amountMinor, state }, card }) =>
    card === null || state !== 'spent' ? [] : [{ lastFour: card.lastFour, amountMinor }]
  )
  return giftCards.length === 0 ? {} : { giftCards }
}

/** The taxes of an order, and a row for the part of it of which the shop knows no tax. */
function withUntaxed(taxes: readonly TaxLine[], parts: readonly TaxedPart[], country: string): TaxLine[] {
  const untaxed = parts.filter(({ taxRow }) => taxRow === taxes.length)
  if (untaxed.length === 0 && taxes.length > 0) return [...taxes]
  const baseMinor = untaxed.reduce((sum, { netMinor }) => sum + netMinor, 0)
  const rate = {
    category: 'none',
    name: '',
    country,
    region: '',
    destination: vatCountry(country),
    rateMillionths: 0
  } as const
  return [...taxes, { ...rate, baseMinor, amountMinor: 0 }]
}

type PaidTime = { grants: OrderItemRow['grants']; paidAt: number; renewed: ReturnType<typeof findInvoiceOfOrder> }

/** The days that a line pays for: the period that a renewal is for, or the first one of a subscription or a membership. */
function periodOf(db: Db, { grants, paidAt, renewed }: PaidTime): Pick<InvoiceLine, 'period'> {
  const daysOf = (startsAt: number, endsAt: number) => {
    const from = shopDay(db, startsAt)
    const last = addDays(shopDay(db, endsAt), -1)
    return { period: { from, to: last < from ? from : last } }
  }
  if (renewed !== undefined) return daysOf(renewed.periodStart, renewed.periodEnd)
  const ends = grants.flatMap((grant) => {
    const interval = renewalInterval(grant)
    if (interval !== null) return [addInterval(paidAt, interval)]
    return grant.kind === 'membership' && grant.period !== null ? [addPeriod(paidAt, grant.period)] : []
  })
  return ends.length === 0 ? {} : daysOf(paidAt, Math.max(...ends))
}

function proofOf(db: Db, { outcome, consultation, checkedAt }: VatCheck): NonNullable<InvoiceBuyer['vatCheck']> {
  return { outcome, consultation, day: checkedAt === null ? null : shopDay(db, checkedAt) }
}

/** The billing address, or the shipping address if that names no place, with the name and company given elsewhere. */
function buyerOf(db: Db, order: OrderRow, language: Language): InvoiceBuyer {
  const { billingAddress, contact, vatId, vatCheck, buyerReference } = order
  const { firstName, lastName, companyName: company } = contact
  const known = Object.entries({ firstName, lastName, company }).filter(([, value]) => value !== undefined)
  const { address1, city, postcode } = billingAddress ?? {}
  const isPlace = [address1, city, postcode].some((part) => part !== undefined)
  const shipped = isPlace ? null : (shipToOf(order) ?? order.shippingAddress)
  const address = postalAddress.parse({ ...Object.fromEntries(known), ...billingAddress, ...shipped })
  const lines = postalLines(address, language)
  // A line break would let the buyer write lines of their own.
  const isBusiness = vatId !== null || address.company !== undefined || buyerReference !== null
  return {
    lines: lines.map((line) => line.replaceAll(/\s+/g, ' ')),
    address,
    vatId,
    ...(vatCheck === null ? {} : { vatCheck: proofOf(db, vatCheck) }),
    ...(buyerReference === null ? {} : { reference: buyerReference }),
    ...(isBusiness ? reachedAt(order) : {})
  }
}

/** Where a business gets its electronic invoice, and its goods. */
function reachedAt(order: OrderRow): Pick<InvoiceBuyer, 'email' | 'shipTo'> {
  const { email, shippingMethod } = order
  const shipTo = (shippingMethod?.pickup ?? true) ? null : shipToOf(order)
  return {
    ...(email === null ? {} : { email }),
    ...(shipTo === null ? {} : { shipTo: postalAddress.parse(shipTo) })
  }
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
