import type { Tx } from '../../../platform/db/database.ts'
import { isCurrency } from '../../../platform/money.ts'
import { emailField } from '../../../shop/accounts/fields.ts'
import { findCoupon } from '../../../shop/catalog/coupons.ts'
import { htmlToLine, htmlToText } from '../../../shop/catalog/import/html-text.ts'
import type { ImportedOrder } from '../../../shop/orders/imported-order.ts'
import { isPaidStatus, orderStatuses } from '../../../shop/orders/states.ts'
import type { OrderStatus } from '../../../shop/orders/states.ts'
import { lineOf } from '../clean-text.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import { contactOf, noAttribution, orderAddress, writeOrder } from '../orders.ts'
import type { OrderRecord } from '../orders.ts'
import type { SubjectTally } from '../report.ts'
import type { WordPress } from './database.ts'
import { linesOf, refundsOf, taxesOf } from './order-lines.ts'
import { readOrders } from './order-rows.ts'
import type { SourceOrder } from './order-rows.ts'
import { minorOf, numberOf, seconds, utc } from './values.ts'
import type { Meta } from './values.ts'

/** Moves the orders in as history, with their lines, taxes, fees, shipping, refunds, notes and attribution. */
export async function* moveOrders(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  for await (const orders of readOrders(source)) {
    await writeInBatches(move, orders, (tx, order) => moveOrder(tx, order, move, tally))
    yield
  }
}

function moveOrder(tx: Tx, order: SourceOrder, move: Move, tally: SubjectTally): void {
  writeOrder(tx, { id: order.id, read: () => read(tx, order, move) }, move, tally)
}

function read(tx: Tx, order: SourceOrder, move: Move): OrderRecord | string {
  const status = order.status.replace(/^wc-/, '')
  const currency = order.meta.get('_order_currency') ?? ''
  if (status === 'trash') return 'The order is in the trash'
  if (status === 'checkout-draft') return 'The order is a cart that was not ordered'
  if (!isCurrency(currency)) return 'The currency of the order is unknown'
  const foundMinor = minorOf(order.meta.get('_order_total') ?? '', currency)
  if (foundMinor < 0) return 'The total of the order is below zero'
  const values = toImported(tx, order, status, move)
  const refunds = order.refunds.map(({ meta }) => minorOf(meta.get('_refund_amount') ?? '', currency))
  return {
    order: values,
    parcels: order.parcels.map(({ at, ...parcel }) => ({ ...parcel, at: utc(at) })),
    foundMinor,
    refundedMinor: refunds.reduce((sum, minor) => sum + minor, 0),
    remarks: remarksOf(status, values)
  }
}

function remarksOf(status: string, { status: here, lines }: ImportedOrder): string[] {
  return [
    ...(here === status ? [] : [`Orders with the status ${status} are ${here} here`]),
    ...(lines.some(({ productId }) => productId === null)
      ? ['Lines of products that did not arrive keep only their name']
      : [])
  ]
}

/** The state here. A state of the shop's own, or of a plugin, is told by whether the order is paid. */
function statusOf(status: string, isPaid: boolean): OrderStatus {
  // The payment page of a pending order was in the old shop.
  if (status === 'pending') return 'cancelled'
  return orderStatuses.find((known) => known === status) ?? (isPaid ? 'processing' : 'on-hold')
}

/** An order of WooCommerce as this shop stores it. */
export function toImported(tx: Tx, order: SourceOrder, oldStatus: string, move: Move): ImportedOrder {
  const { id, meta } = order
  const value = (key: string): string => meta.get(key) ?? ''
  const currency = value('_order_currency')
  const minor = (key: string): number => Math.max(0, minorOf(value(key), currency))
  const createdAt = utc(order.createdAt) ?? move.now
  const paid = seconds(value('_date_paid')) ?? utc(value('_date_paid_gmt'))
  const status = statusOf(oldStatus, paid !== null)
  const email = emailField.safeParse(value('_billing_email'))
  const taxIncluded = value('_prices_include_tax') === 'yes'
  const taxes = taxesOf(order, currency)
  const { lines, fees } = linesOf(tx, order, { currency, taxIncluded, taxes, move })
  return {
    wantedId: Number(id),
    userId: move.moved.find(tx, 'customer', value('_customer_user')) ?? null,
    email: email.success ? email.data : null,
    status,
    currency,
    taxIncluded,
    totalMinor: minor('_order_total'),
    ...taxSums(meta, currency),
    contact: contactOf((part) => value(`_billing_${part}`)),
    billingAddress: orderAddress((part) => value(`_billing_${part}`)),
    shippingAddress: orderAddress((part) => value(`_shipping_${part}`)),
    vatId: lineOf(value('_billing_vat_id') || value('_vat_number') || value('_billing_vat_number'), 40),
    notes: htmlToText(order.note) || null,
    // An order that counts as paid without a date of payment, such as one on delivery, counts when it was placed.
    paidAt: paid ?? (isPaidStatus(status) || status === 'refunded' ? createdAt : null),
    createdAt,
    updatedAt: utc(order.updatedAt) ?? createdAt,
    lines,
    shipping: shippingOf(order, currency, taxIncluded),
    taxes: taxes.map(({ row }) => row),
    coupons: couponsOf(tx, order, currency, taxIncluded),
    refunds: refundsOf(order, currency),
    attribution: attributionOf(meta),
    record: {
      number: value('_order_number') || id,
      status: oldStatus,
      payment: htmlToLine(value('_payment_method_title') || value('_payment_method')),
      transactionId: value('_transaction_id'),
      discountMinor: minor('_cart_discount') + (taxIncluded ? minor('_cart_discount_tax') : 0),
      fees,
      notes: order.notes.map(({ at, toCustomer, text: note }) => ({
        at: utc(at) ?? createdAt,
        text: htmlToText(note),
        toCustomer
      }))
    },
    reason: `moved in: order ${value('_order_number') || id} of the old shop`
  }
}

/** WooCommerce rounds the sum of both taxes, which it stores with more decimals if the shop rounds at the subtotal. */
function taxSums(meta: Meta, currency: string): Pick<ImportedOrder, 'goodsTaxMinor' | 'shippingTaxMinor'> {
  const [goods, shipping] = [numberOf(meta.get('_order_tax')), numberOf(meta.get('_order_shipping_tax'))]
  const taxMinor = Math.max(0, minorOf(String(goods + shipping), currency))
  const shippingTaxMinor = Math.min(taxMinor, Math.max(0, minorOf(String(shipping), currency)))
  return { goodsTaxMinor: taxMinor - shippingTaxMinor, shippingTaxMinor }
}

/** The shipping of an order; several lines of it become one. */
function shippingOf({ items, meta }: SourceOrder, currency: string, taxIncluded: boolean): ImportedOrder['shipping'] {
  const lines = items.filter(({ type }) => type === 'shipping')
  if (lines.length === 0) return null
  const cost = numberOf(meta.get('_order_shipping')) + (taxIncluded ? numberOf(meta.get('_order_shipping_tax')) : 0)
  return {
    name: lines.map(({ name }) => htmlToLine(name)).join(', '),
    pickup: lines.every((line) => /pickup/.test(line.meta.get('method_id') ?? '')),
    amountMinor: Math.max(0, minorOf(String(cost), currency))
  }
}

function couponsOf(tx: Tx, { items }: SourceOrder, currency: string, taxIncluded: boolean): ImportedOrder['coupons'] {
  return items
    .filter(({ type }) => type === 'coupon')
    .flatMap(({ name, meta }) => {
      const code = htmlToLine(name)
      const coupon = findCoupon(tx, code)
      const amount =
        numberOf(meta.get('discount_amount')) + (taxIncluded ? numberOf(meta.get('discount_amount_tax')) : 0)
      const discountMinor = Math.max(0, minorOf(String(amount), currency))
      return coupon === undefined ? [] : [{ couponId: coupon.id, code, discountMinor }]
    })
}

/** WooCommerce's order attribution. Search engines and other sites are utm values here. */
function attributionOf(meta: Meta): ImportedOrder['attribution'] {
  const value = (key: string): string | null => lineOf(meta.get(`_wc_order_attribution_${key}`) ?? '', 255)
  const type = value('source_type')
  if (type !== 'utm' && type !== 'organic' && type !== 'referral') return noAttribution
  return {
    sourceType: 'utm',
    utmSource: value('utm_source'),
    utmMedium: value('utm_medium') ?? (type === 'utm' ? null : type),
    utmCampaign: value('utm_campaign'),
    utmContent: value('utm_content')
  }
}
