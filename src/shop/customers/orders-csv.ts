import { z } from 'zod'
import { toCsv, toCsvRows } from '../../platform/csv.ts'
import type { CsvCell } from '../../platform/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { toDecimalText } from '../../platform/money.ts'
import { invoiceLine } from '../invoices/document.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import type { TaxCategory } from '../tax/categories.ts'

type Line = Pick<
  OrderItemRow,
  | 'orderId'
  | 'productId'
  | 'name'
  | 'sku'
  | 'quantity'
  | 'unitPriceMinor'
  | 'discountMinor'
  | 'totalMinor'
  | 'taxClass'
  | 'taxRow'
> & { slug: string }
type Invoice = { orderId: number; number: string; date: string; lines: string }
type Rate = { orderId: number; rateMillionths: number; category: TaxCategory }
type Payment = { orderId: number; gateway: string; objectId: string | null; paymentIntentId: string | null }
type Sold = {
  order: OrderRow
  line: Line | undefined
  lineNumber: number
  payment: Payment | undefined
  invoice: Invoice | undefined
  rate: Rate | undefined
  /** What the line comes to in its invoice. */
  taxed: TaxedLine | undefined
}

const taxedLines = z.array(invoiceLine.pick({ netMinor: true, taxMinor: true }))
type TaxedLine = z.output<typeof taxedLines>[number]

const linesOf = rawStatement<[string], Line>(`
  SELECT i.order_id AS orderId, i.product_id AS productId, p.slug, i.name, i.sku, i.quantity,
    i.unit_price_minor AS unitPriceMinor, i.discount_minor AS discountMinor, i.total_minor AS totalMinor,
    i.tax_class AS taxClass, i.tax_row AS taxRow
  FROM order_items i JOIN products p ON p.id = i.product_id
  WHERE i.order_id IN (SELECT value FROM json_each(?)) ORDER BY i.order_id, i.id`)

const paymentsOf = rawStatement<[string], Payment>(`
  SELECT order_id AS orderId, gateway, object_id AS objectId, payment_intent_id AS paymentIntentId
  FROM payment_attempts
  WHERE order_id IN (SELECT value FROM json_each(?)) AND outcome = 'paid' ORDER BY order_id, id DESC`)

const invoicesOf = rawStatement<[string], Invoice>(`
  SELECT order_id AS orderId, number, date, document -> '$.lines' AS lines FROM invoices
  WHERE order_id IN (SELECT value FROM json_each(?)) AND kind = 'invoice' ORDER BY order_id, id`)

const ratesOf = rawStatement<[string], Rate>(`
  SELECT order_id AS orderId, rate_millionths AS rateMillionths, category FROM order_taxes
  WHERE order_id IN (SELECT value FROM json_each(?)) ORDER BY order_id, id`)

const money = (minor: number, { currency }: OrderRow): string => toDecimalText(minor, currency)

/** What a row says of its line item. */
const lineColumns: Record<string, (line: Line, order: OrderRow, number: number) => CsvCell> = {
  line: (_line, _order, number) => number,
  product_id: ({ productId }) => productId,
  product: ({ slug }) => slug,
  sku: ({ sku }) => sku,
  name: ({ name }) => name,
  quantity: ({ quantity }) => quantity,
  unit_price: ({ unitPriceMinor }, order) => money(unitPriceMinor, order),
  line_discount: ({ discountMinor }, order) => money(discountMinor, order),
  line_total: ({ totalMinor }, order) => money(totalMinor, order),
  tax_class: ({ taxClass }) => taxClass
}

/** What every row says of the newest invoice of its order. */
const invoiceColumns: Record<string, (invoice: Invoice | undefined) => CsvCell> = {
  invoice: (invoice) => invoice?.number ?? null,
  invoice_date: (invoice) => invoice?.date ?? null
}

/** What every row says of its order. */
const orderColumns: Record<string, (order: OrderRow, payment: Payment | undefined) => CsvCell> = {
  order: ({ id }) => id,
  placed_at: ({ createdAt }) => toIso(createdAt),
  paid_at: ({ paidAt }) => toIsoOrNull(paidAt),
  status: ({ status }) => status,
  renewal_of: ({ renewalOf }) => renewalOf,
  added_to: ({ addedTo }) => addedTo,
  email: ({ email }) => email,
  first_name: ({ contact }) => contact.firstName ?? null,
  last_name: ({ contact }) => contact.lastName ?? null,
  company: ({ contact }) => contact.companyName ?? null,
  billing_country: ({ billingAddress }) => billingAddress?.country ?? null,
  shipping_country: ({ shippingAddress }) => shippingAddress?.country ?? null,
  card_country: ({ cardCountry }) => cardCountry,
  ip_country: ({ ipCountry }) => ipCountry,
  vat_id: ({ vatId }) => vatId,
  vat_id_outcome: ({ vatCheck }) => vatCheck?.outcome ?? null,
  vat_id_consultation: ({ vatCheck }) => vatCheck?.consultation ?? null,
  gateway: (_order, payment) => payment?.gateway ?? null,
  payment: (_order, payment) => payment?.objectId ?? null,
  payment_intent: (_order, payment) => payment?.paymentIntentId ?? null,
  currency: ({ currency }) => currency
}

/** The sums of an order, which only its first row has, so that a column can be added up. */
const sumColumns: Record<string, (order: OrderRow) => CsvCell> = {
  subtotal: (order) => money(order.subtotalMinor, order),
  discount: (order) => money(order.discountMinor, order),
  shipping: (order) => money(order.shippingMinor, order),
  shipping_method: ({ shippingMethod }) => shippingMethod?.name ?? null,
  tax: (order) => money(order.taxMinor, order),
  tax_included: ({ taxIncluded }) => (taxIncluded ? 'yes' : 'no'),
  total: (order) => money(order.totalMinor, order),
  refunded: (order) => money(order.refundedMinor, order)
}

/** The head of the CSV export of orders. */
export function ordersCsvHead(): string {
  const columns = [orderColumns, lineColumns, sumColumns, invoiceColumns]
  return toCsv(
    [...columns.flatMap((some) => Object.keys(some)), 'tax_percent', 'tax_category', 'line_net', 'line_tax'],
    []
  )
}

/**
 * Orders as CSV without the head: a row for each line item, and one for an order without any. Amounts are in major
 * units. Reads the lines, payments, invoices and rates of all orders with a statement each.
 */
export function ordersCsv(db: Db, orders: readonly OrderRow[]): string {
  const ids = JSON.stringify(orders.map(({ id }) => id))
  const lines = Map.groupBy(linesOf(db).all(ids), ({ orderId }) => orderId)
  const payments = Map.groupBy(paymentsOf(db).all(ids), ({ orderId }) => orderId)
  const invoices = Map.groupBy(invoicesOf(db).all(ids), ({ orderId }) => orderId)
  const rates = Map.groupBy(ratesOf(db).all(ids), ({ orderId }) => orderId)
  const sold = orders.flatMap((order): Sold[] => {
    // A second payment that arrived later is to be refunded; the first one has the lowest id.
    const payment = payments.get(order.id)?.at(-1)
    const own: (Line | undefined)[] = lines.get(order.id) ?? [undefined]
    const invoice = invoices.get(order.id)?.at(-1)
    const taxed = invoice === undefined ? [] : taxedLines.parse(JSON.parse(invoice.lines))
    return own.map((line, index) => ({
      order,
      line,
      lineNumber: index + 1,
      payment,
      invoice,
      rate: rates.get(order.id)?.[line?.taxRow ?? -1],
      // An order of an older version can have other lines than its invoice.
      taxed: taxed.length === own.length ? taxed[index] : undefined
    }))
  })
  return toCsvRows(sold.map(toRow))
}

function toRow({ order, line, lineNumber, payment, invoice, rate, taxed }: Sold): CsvCell[] {
  return [
    ...Object.values(orderColumns).map((cell) => cell(order, payment)),
    ...Object.values(lineColumns).map((cell) => (line === undefined ? null : cell(line, order, lineNumber))),
    ...Object.values(sumColumns).map((cell) => (lineNumber === 1 ? cell(order) : null)),
    ...Object.values(invoiceColumns).map((cell) => cell(invoice)),
    line === undefined ? null : (rate?.rateMillionths ?? 0) / 10_000,
    line === undefined ? null : (rate?.category ?? 'none'),
    taxed === undefined ? null : money(taxed.netMinor, order),
    taxed === undefined ? null : money(taxed.taxMinor, order)
  ]
}
