import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { shipToOf } from '../../platform/postal/address.ts'
import { isCountry } from '../../platform/postal/countries.ts'
import { readVatId } from '../../platform/vat.ts'
import { lineField } from '../accounts/fields.ts'
import { addressInput, addressParts } from '../checkout/address-rules.ts'
import { findInvoice } from '../invoices/find.ts'
import type { InvoiceRow } from '../invoices/find.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { correctInvoice } from '../orders/invoice-order.ts'
import { orders } from '../orders/schema.ts'
import { partyNames } from '../orders/address.ts'
import { vatCheckOf } from '../tax/vat-checks.ts'
import { termsOfOrder } from '../orders/totals.ts'
import { recordMove } from '../orders/transition.ts'

const name = lineField(100).optional()
const part = lineField(200).optional()

/** What is wrong about the buyer of an invoice. A missing field stays as it is; an empty one is removed. */
export const invoiceBuyerChanges = z
  .strictObject({ firstName: name, lastName: name, company: name, vatId: lineField(40).optional() })
  .extend({ address1: part, address2: part, postcode: part, city: part, state: part, country: part })
export type InvoiceBuyerChanges = z.output<typeof invoiceBuyerChanges>

/**
 * Issues the invoice of an order again, for another buyer or with the seller's settings of the moment, and cancels the
 * present one with a credit note. Where goods are shipped to does not change.
 *
 * @returns the new invoice
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (the parts of the address, `vatId`); CONFLICT without an invoice, if it is
 *   credited as a whole, if the buyer is erased, or if the order would have other taxes
 */
export function correctInvoiceOf(
  db: Db,
  orderId: number,
  changes: InvoiceBuyerChanges,
  by: string,
  now: number
): InvoiceRow {
  return write(db, (tx) => {
    const order = getOrder(tx, orderId)
    const before = findInvoice(tx, orderId)
    if (before === undefined) throw new AppError('CONFLICT', `Order ${orderId} has no invoice to correct.`)
    const corrected = storeBuyer(tx, { order, invoice: before, changes: definedFields(changes) }, now)
    const invoice = correctInvoice(tx, corrected, now)
    if (invoice === undefined)
      throw new AppError('CONFLICT', `Invoice ${before.number} is credited as a whole, so nothing is left to correct.`)
    const reason = `invoice ${before.number} replaced by ${invoice.number}`
    recordMove(tx, { orderId, from: order.status, to: order.status, by, reason, at: now })
    return invoice
  })
}

type Correction = { order: OrderRow; invoice: InvoiceRow; changes: Partial<InvoiceBuyerChanges> }

function storeBuyer(tx: Tx, { order, invoice, changes }: Correction, now: number): OrderRow {
  if (Object.keys(changes).length === 0) return order
  if (isErased(order) && (invoice.buyer?.lines.length ?? 0) > 0)
    throw new AppError(
      'CONFLICT',
      `The buyer of order ${order.id} is erased. Their invoice keeps the buyer that it names.`
    )
  const { vatId, ...address } = changes
  const renamed = { ...order, ...withAddress(order, address) }
  const corrected = { ...renamed, ...(vatId === undefined ? {} : checkedVatId(tx, renamed, vatId, now)) }
  assertSameTax(tx, order, corrected)
  const { vatId: id, vatCheck, billingAddress, shippingAddress } = corrected
  return tx.orm
    .update(orders)
    .set({ vatId: id, vatCheck, billingAddress, shippingAddress })
    .where(eq(orders.id, order.id))
    .returning()
    .get()
}

/** Another VAT id of an order, with what is known of it (`confirmVatId`). */
function checkedVatId(
  tx: Tx,
  { contact, billingAddress, shippingAddress }: OrderRow,
  text: string,
  now: number
): Pick<OrderRow, 'vatId' | 'vatCheck'> {
  const vatId = parseVatId(text)
  const names = partyNames(contact, billingAddress, shippingAddress)
  return { vatId, vatCheck: vatCheckOf(tx, { vatId, names }, now) }
}

/** Whether an order has lost its buyer. */
export function isErased({ email, contact, billingAddress, shippingAddress }: OrderRow): boolean {
  return [email, billingAddress, shippingAddress].every((part) => part === null) && Object.keys(contact).length === 0
}

function parseVatId(text: string): string | null {
  const id = readVatId(text)?.id ?? null
  if (id === null && text !== '')
    throw validationFailed({ vatId: ['Must be a VAT id with its country code, such as ATU12345675.'] })
  return id
}

/** The addresses of an order whose billing address has other parts. What the invoice names now stays otherwise. */
function withAddress(
  order: OrderRow,
  changes: Omit<Partial<InvoiceBuyerChanges>, 'vatId'>
): Pick<OrderRow, 'billingAddress' | 'shippingAddress'> {
  const { billingAddress, shippingAddress } = order
  if (Object.keys(changes).length === 0) return { billingAddress, shippingAddress }
  const { address1, city, postcode } = billingAddress ?? {}
  const isPlace = [address1, city, postcode].some((each) => each !== undefined)
  const shipTo = isPlace ? null : (shipToOf(order) ?? shippingAddress)
  const merged = { ...billingAddress, ...shipTo, ...changes }
  const typed = addressParts.parse(merged)
  const isMoved = Object.keys(addressParts.shape).some((name) => name in changes)
  const place = isMoved ? parseWith(addressInput([typed.country.toUpperCase()].filter(isCountry)), typed) : {}
  const others = Object.entries(merged).filter(([name, value]) => value !== '' && !(isMoved && name in typed))
  // Goods without a shipping address go to the billing address as it was.
  const shipped = order.shippingMethod === null ? null : shipToOf(order)
  return { billingAddress: { ...Object.fromEntries(others), ...place }, shippingAddress: shippingAddress ?? shipped }
}

/** @throws AppError CONFLICT if the buyer as corrected would owe another tax than the order has */
export function assertSameTax(tx: Tx, order: OrderRow, corrected: OrderRow): void {
  const items = itemsOf(tx, order.id)
  const taxOf = (row: OrderRow): string => {
    return JSON.stringify(items.map(termsOfOrder(tx, row).rateOf))
  }
  if (taxOf(order) === taxOf(corrected)) return
  throw new AppError(
    'CONFLICT',
    `With this country or VAT id, order ${order.id} would have another tax. Refund it and sell it again.`
  )
}
