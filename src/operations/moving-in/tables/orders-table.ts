import type { Tx } from '../../../platform/db/database.ts'
import { isCurrency, shareMinor } from '../../../platform/money.ts'
import { emailField } from '../../../shop/accounts/fields.ts'
import { findCoupon } from '../../../shop/catalog/coupons.ts'
import type { ImportedLine, ImportedOrder } from '../../../shop/orders/imported-order.ts'
import { isPaidStatus, orderStatuses } from '../../../shop/orders/states.ts'
import type { OrderStatus } from '../../../shop/orders/states.ts'
import { lineOf } from '../clean-text.ts'
import { accountOf } from '../customers.ts'
import type { AddressPart } from '../customers.ts'
import type { Move } from '../move.ts'
import { contactOf, noAttribution, orderAddress } from '../orders.ts'
import type { OrderRecord } from '../orders.ts'
import { addressFields, addressPart } from './addresses.ts'
import { CellError } from './cells.ts'
import type { Cells } from './cells.ts'
import type { Fields } from './csv-file.ts'
import { findSold } from './products.ts'
import type { ProductIndex } from './products.ts'

const taxNumbers = [1, 2, 3, 4, 5]

/** The columns of orders, one row for each line, with the titles in Shopify's export and in this shop's own. */
export const orderFields: Fields = {
  number: ['Order', 'Order number', 'Name'],
  id: ['Id', 'Order ID'],
  email: ['Email', 'E-mail'],
  status: [],
  financialStatus: ['Financial Status'],
  fulfillmentStatus: ['Fulfillment Status'],
  currency: [],
  total: ['Total', 'order_total'],
  subtotal: ['Subtotal'],
  tax: ['Taxes', 'order_tax'],
  taxIncluded: ['tax_included'],
  shipping: ['Shipping', 'order_shipping'],
  shippingMethod: ['Shipping Method'],
  discount: ['Discount Amount', 'order_discount'],
  coupon: ['Discount Code'],
  createdAt: ['Created at', 'placed_at', 'Date'],
  paidAt: ['Paid at', 'paid_at'],
  cancelledAt: ['Cancelled at'],
  refunded: ['Refunded Amount', 'order_refunded'],
  payment: ['Payment Method'],
  transactionId: ['Payment Reference', 'Payment ID'],
  notes: ['Notes'],
  phone: ['Phone'],
  vatId: ['VAT ID', 'vat_id'],
  firstName: ['first_name'],
  lastName: ['last_name'],
  company: [],
  lineName: ['Lineitem name', 'product_name'],
  quantity: ['Lineitem quantity'],
  price: ['Lineitem price', 'unit_price'],
  sku: ['Lineitem sku'],
  lineDiscount: ['Lineitem discount', 'line_discount'],
  ...Object.fromEntries(
    taxNumbers.flatMap((number) => [
      [`tax${number}Name`, [`Tax ${number} Name`]],
      [`tax${number}Value`, [`Tax ${number} Value`]]
    ])
  ),
  ...addressFields('billing'),
  ...addressFields('shipping')
}

export type OrderPlace = { move: Move; currency: string; products: ProductIndex }

/**
 * An order of a table, or why it is left out.
 *
 * @param rows the rows of its lines. The first one contains the fields of the order
 */
export function toOrder(tx: Tx, rows: readonly Cells[], place: OrderPlace): OrderRecord | string {
  const [head] = rows
  if (head === undefined) return 'The order has no rows'
  const currency = head.text('currency').toUpperCase() || place.currency
  if (!isCurrency(currency)) return 'The currency of the order is unknown'
  const totalMinor = head.money('total', currency)
  if (totalMinor === null) throw new CellError('Total is empty')
  const createdAt = head.time('createdAt')
  if (createdAt === null) throw new CellError('Created at is empty')
  const status = statusOf(head)
  const parts = amountsOf(rows, { currency, totalMinor, products: place.products })
  const order = toImported(tx, head, { ...parts, currency, totalMinor, createdAt, status: status.here }, place)
  const refundedMinor = head.money('refunded', currency) ?? 0
  return {
    order: {
      ...order,
      refunds:
        refundedMinor > 0
          ? [{ amountMinor: refundedMinor, reason: null, at: refundedAt(head, createdAt), lines: [] }]
          : [],
      record: { ...order.record, status: status.there }
    },
    parcels: [],
    foundMinor: totalMinor,
    refundedMinor,
    remarks: [
      ...status.remarks,
      ...(order.lines.some(({ productId }) => productId === null)
        ? ['Lines of products that did not arrive keep only their name']
        : [])
    ]
  }
}

function refundedAt(head: Cells, createdAt: number): number {
  return head.time('cancelledAt') ?? head.time('paidAt') ?? createdAt
}

type Status = { here: OrderStatus; there: string; remarks: string[] }

function statusOf(head: Cells): Status {
  const financial = head.text('financialStatus').toLowerCase()
  if (financial === '') {
    const there = head.text('status').toLowerCase().replace(/^wc-/, '')
    const here = orderStatuses.find((known) => known === there)
    if (here === undefined) throw new CellError(`status must be one of ${orderStatuses.join(', ')}`)
    // The payment page of a pending order was in the other shop.
    return here === 'pending'
      ? { here: 'cancelled', there, remarks: ['Orders with the status pending are cancelled here'] }
      : { here, there, remarks: [] }
  }
  const fulfillment = head.text('fulfillmentStatus').toLowerCase()
  const isCancelled = head.text('cancelledAt') !== ''
  const there = [financial, fulfillment, isCancelled ? 'cancelled' : ''].filter(Boolean).join(', ')
  return { here: fromShopify(financial, fulfillment, isCancelled), there, remarks: [] }
}

/** https://help.shopify.com/en/manual/fulfillment/managing-orders/order-status */
function fromShopify(financial: string, fulfillment: string, isCancelled: boolean): OrderStatus {
  if (financial === 'refunded') return 'refunded'
  if (isCancelled || financial === 'voided' || financial === 'expired') return 'cancelled'
  const isPaid = financial === 'paid' || financial === 'partially_refunded'
  if (!isPaid) return 'on-hold'
  return fulfillment === 'fulfilled' ? 'completed' : 'processing'
}

type Amounts = Pick<ImportedOrder, 'lines' | 'taxIncluded' | 'goodsTaxMinor' | 'shippingTaxMinor'> & {
  shippingMinor: number
  discountMinor: number
}

/** The lines with prices that add up to the total, and the tax, which exports give as one sum. */
function amountsOf(
  rows: readonly Cells[],
  { currency, totalMinor, products }: { currency: string; totalMinor: number; products: ProductIndex }
): Amounts {
  const [head] = rows
  if (head === undefined) throw new CellError('The order has no rows')
  const money = (field: string): number => head.money(field, currency) ?? 0
  const [taxMinor, shippingMinor] = [money('tax'), Math.min(money('shipping'), totalMinor)]
  const subtotal = head.money('subtotal', currency)
  // Shopify does not say whether prices include the tax, but its sums do.
  const isBeside = subtotal !== null && taxMinor > 0 && subtotal + shippingMinor + taxMinor === totalMinor
  const taxIncluded = head.flag('taxIncluded') ?? !isBeside
  const goodsMinor = Math.max(0, totalMinor - shippingMinor - (taxIncluded ? 0 : taxMinor))
  const lines = rows.flatMap((row) => (row.text('lineName') === '' ? [] : [toLine(row, currency, products)]))
  const weights = [goodsMinor, shippingMinor]
  const [goodsTaxMinor = 0, shippingTaxMinor = 0] =
    goodsMinor + shippingMinor === 0 ? [taxMinor, 0] : shareMinor(taxMinor, weights)
  const discountMinor = money('discount')
  return {
    lines: discounted(lines, goodsMinor),
    taxIncluded,
    goodsTaxMinor,
    shippingTaxMinor,
    shippingMinor,
    discountMinor
  }
}

function toLine(row: Cells, currency: string, products: ProductIndex): ImportedLine {
  const quantity = row.count('quantity') ?? 1
  const name = row.text('lineName')
  const sold = findSold(products, { sku: row.text('sku'), name })
  const subtotalMinor = (row.money('price', currency) ?? 0) * Math.max(1, quantity)
  const discountMinor = row.money('lineDiscount', currency) ?? 0
  return {
    sourceId: String(row.line),
    productId: sold?.productId ?? null,
    variationId: sold?.variationId ?? null,
    name: quantity === 0 ? `${lineOf(name, 250) ?? '–'} × 0` : (lineOf(name, 255) ?? '–'),
    quantity: Math.max(1, quantity),
    sku: lineOf(row.text('sku'), 64),
    taxClass: 'standard',
    taxRow: null,
    subtotalMinor,
    totalMinor: Math.max(0, subtotalMinor - discountMinor)
  }
}

/** Lines that cost more than the goods share the discount of the order. */
function discounted(lines: readonly ImportedLine[], goodsMinor: number): ImportedLine[] {
  const sum = lines.reduce((total, { totalMinor }) => total + totalMinor, 0)
  if (sum <= goodsMinor) return [...lines]
  const shares = shareMinor(
    goodsMinor,
    lines.map(({ totalMinor }) => totalMinor)
  )
  return lines.map((line, index) => ({ ...line, totalMinor: shares[index] ?? 0 }))
}

const contactFields: Partial<Record<AddressPart | 'phone', string>> = {
  first_name: 'firstName',
  last_name: 'lastName',
  company: 'company',
  phone: 'phone'
}

type Known = Amounts & { currency: string; totalMinor: number; createdAt: number; status: OrderStatus }

function toImported(tx: Tx, head: Cells, known: Known, { move }: OrderPlace): ImportedOrder {
  const { text } = head
  const { shippingMinor, discountMinor, createdAt, status, ...amounts } = known
  const email = emailField.safeParse(text('email'))
  const number = head.required('number')
  const paidAt = head.time('paidAt')
  const code = text('coupon')
  const coupon = code === '' ? undefined : findCoupon(tx, code)
  const method = lineOf(text('shippingMethod'), 255)
  const billing = orderAddress((part) => addressPart(text, 'billing', part))
  return {
    ...amounts,
    wantedId: Number(/^\D?(\d{1,12})$/.exec(number)?.[1] ?? 0),
    userId: email.success ? accountOf(tx, email.data, move) : null,
    email: email.success ? email.data : null,
    status,
    contact: contactOf((part) => text(contactFields[part] ?? '') || addressPart(text, 'billing', part)),
    billingAddress: billing,
    shippingAddress: orderAddress((part) => addressPart(text, 'shipping', part)),
    vatId: lineOf(text('vatId'), 40),
    notes: text('notes').replaceAll(/[^\P{Cc}\t\n]/gu, '') || null,
    // An order that counts as paid without a date of payment counts when it was placed.
    paidAt: paidAt ?? (isPaidStatus(status) || status === 'refunded' ? createdAt : null),
    createdAt,
    updatedAt: head.time('cancelledAt') ?? paidAt ?? createdAt,
    shipping:
      method === null && shippingMinor === 0
        ? null
        : { name: method ?? 'Shipping', pickup: false, amountMinor: shippingMinor },
    taxes: taxesOf(head, known),
    coupons: coupon === undefined ? [] : [{ couponId: coupon.id, code: coupon.code, discountMinor }],
    refunds: [],
    attribution: noAttribution,
    record: {
      number,
      status: '',
      payment: text('payment'),
      transactionId: text('transactionId'),
      discountMinor,
      fees: [],
      notes: []
    },
    reason: `moved in: order ${number} of the old shop`
  }
}

/** `MwSt 19%` and its amount. Without such columns, the whole tax is one of an unknown rate. */
function taxesOf(head: Cells, { currency, goodsTaxMinor, shippingTaxMinor }: Known): ImportedOrder['taxes'] {
  const country = (head.text('shippingCountry') || head.text('billingCountry')).toUpperCase()
  const rows = taxNumbers.flatMap((number) => {
    const amountMinor = head.money(`tax${number}Value`, currency) ?? 0
    return amountMinor === 0 ? [] : [taxRow(head.text(`tax${number}Name`), amountMinor, country)]
  })
  const taxMinor = goodsTaxMinor + shippingTaxMinor
  return rows.length > 0 || taxMinor === 0 ? rows : [taxRow('', taxMinor, country)]
}

function taxRow(name: string, amountMinor: number, country: string): ImportedOrder['taxes'][number] {
  const percent = Number((/(\d{1,2}(?:[.,]\d+)?)\s*%/.exec(name)?.[1] ?? '0').replace(',', '.'))
  const rateMillionths = Math.round(percent * 10_000)
  return {
    name: lineOf(name, 100) ?? 'Tax',
    country: /^[A-Z]{2}$/.test(country) ? country : '',
    region: '',
    rateMillionths,
    baseMinor: rateMillionths === 0 ? 0 : Math.round((amountMinor * 1_000_000) / rateMillionths),
    amountMinor
  }
}
