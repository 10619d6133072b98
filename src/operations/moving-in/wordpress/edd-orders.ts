import type { Tx } from '../../../platform/db/database.ts'
import { isCurrency } from '../../../platform/money.ts'
import { emailField } from '../../../shop/accounts/fields.ts'
import { findCoupon } from '../../../shop/catalog/coupons.ts'
import { htmlToLine, htmlToText } from '../../../shop/catalog/import/html-text.ts'
import type { ImportedLine, ImportedOrder } from '../../../shop/orders/imported-order.ts'
import { isPaidStatus } from '../../../shop/orders/states.ts'
import type { OrderStatus } from '../../../shop/orders/states.ts'
import { lineOf } from '../clean-text.ts'
import { accountOf, splitName } from '../customers.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import { contactOf, noAttribution, orderAddress, writeOrder } from '../orders.ts'
import type { OrderRecord } from '../orders.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { eddId, priceId, readEddOrders } from './edd-rows.ts'
import type { EddOrder } from './edd-rows.ts'
import { minorOf, text, utc } from './values.ts'

/** Moves the orders of Easy Digital Downloads in as history. */
export async function* moveEddOrders(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  for await (const orders of readEddOrders(source)) {
    await writeInBatches(move, orders, (tx, order) => {
      writeOrder(tx, { id: eddId(text(order.row, 'id')), read: () => toRecord(tx, order, move) }, move, tally)
    })
    yield
  }
}

const statuses: Readonly<Record<string, OrderStatus>> = {
  complete: 'completed',
  partially_refunded: 'completed',
  processing: 'processing',
  on_hold: 'on-hold',
  refunded: 'refunded',
  failed: 'failed',
  // The payment page of these was in the old shop.
  pending: 'cancelled',
  abandoned: 'cancelled',
  revoked: 'cancelled'
}

function toRecord(tx: Tx, order: EddOrder, move: Move): OrderRecord | string {
  const { row } = order
  const [there, currency] = [text(row, 'status'), text(row, 'currency').toUpperCase()]
  if (there === 'trash') return 'The order is in the trash'
  if (!isCurrency(currency)) return 'The currency of the order is unknown'
  const totalMinor = minorOf(text(row, 'total'), currency)
  if (totalMinor < 0) return 'The total of the order is below zero'
  const status = statuses[there] ?? (text(row, 'date_completed') === '' ? 'on-hold' : 'processing')
  const refunds = refundsOf(order, currency)
  return {
    order: toImported(tx, order, { there, status, currency, totalMinor, refunds }, move),
    parcels: [],
    foundMinor: totalMinor,
    refundedMinor: refunds.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    remarks:
      status === there.replace(/^complete$/, 'completed') ? [] : [`Orders with the status ${there} are ${status} here`]
  }
}

type Known = Pick<ImportedOrder, 'status' | 'currency' | 'totalMinor' | 'refunds'> & { there: string }

function toImported(tx: Tx, order: EddOrder, known: Known, move: Move): ImportedOrder {
  const { row } = order
  const { there, status, currency, totalMinor, refunds } = known
  const createdAt = utc(text(row, 'date_created')) ?? move.now
  const completedAt = utc(text(row, 'date_completed'))
  const email = emailField.safeParse(text(row, 'email'))
  const number = text(row, 'order_number') || text(row, 'id')
  const taxMinor = Math.min(totalMinor, Math.max(0, minorOf(text(row, 'tax'), currency)))
  const codes = order.adjustments.filter((each) => text(each, 'type') === 'discount')
  return {
    wantedId: Number(text(row, 'id')),
    userId: accountIdOf(tx, row, email.data, move),
    email: email.success ? email.data : null,
    status,
    currency,
    taxIncluded: true,
    totalMinor,
    goodsTaxMinor: taxMinor,
    shippingTaxMinor: 0,
    contact: contactOf(partsOf(order)),
    billingAddress: orderAddress(partsOf(order)),
    shippingAddress: null,
    vatId: null,
    notes: null,
    paidAt: isPaidStatus(status) || status === 'refunded' ? (completedAt ?? createdAt) : null,
    createdAt,
    updatedAt: utc(text(row, 'date_modified')) ?? createdAt,
    lines: linesOf(tx, order, currency, move),
    shipping: null,
    taxes: taxMinor === 0 ? [] : [taxOf(order, { taxMinor, totalMinor })],
    coupons: codes.flatMap((each) => {
      const coupon = findCoupon(tx, text(each, 'description'))
      const discountMinor = Math.abs(minorOf(text(each, 'total'), currency))
      return coupon === undefined ? [] : [{ couponId: coupon.id, code: coupon.code, discountMinor }]
    }),
    refunds,
    attribution: noAttribution,
    record: {
      number,
      status: there,
      payment: text(row, 'gateway'),
      transactionId: text(order.transactions[0] ?? {}, 'transaction_id'),
      discountMinor: Math.max(0, minorOf(text(row, 'discount'), currency)),
      fees: [],
      notes: order.notes.map((note) => ({
        at: utc(text(note, 'date_created')) ?? createdAt,
        text: htmlToText(text(note, 'content')),
        toCustomer: false
      }))
    },
    reason: `moved in: order ${number} of Easy Digital Downloads`
  }
}

/** The account of an order; null for a guest. */
function accountIdOf(tx: Tx, row: Row, email: string | undefined, move: Move): number | null {
  const own = move.moved.find(tx, 'customer', text(row, 'user_id'))
  return own ?? (email === undefined || text(row, 'user_id') !== '0' ? null : accountOf(tx, email, move))
}

/** Lines and fees with tax, after discounts. */
function linesOf(tx: Tx, { items, adjustments }: EddOrder, currency: string, { moved }: Move): ImportedLine[] {
  const fees = adjustments.filter((each) => text(each, 'type') === 'fee' && Number(text(each, 'total')) > 0)
  const goods = items.map((item) => {
    const productId = moved.find(tx, 'product', text(item, 'product_id')) ?? null
    const variationId = moved.find(tx, 'variation', priceId(text(item, 'product_id'), text(item, 'price_id'))) ?? null
    return { ...toLine(item, currency), productId, variationId }
  })
  return [...goods, ...fees.map((fee) => toLine(fee, currency))]
}

function toLine(row: Row, currency: string): ImportedLine {
  const quantity = Number(text(row, 'quantity')) > 0 ? Math.trunc(Number(text(row, 'quantity'))) : 1
  const totalMinor = Math.max(0, minorOf(text(row, 'total'), currency))
  return {
    sourceId: text(row, 'id'),
    productId: null,
    variationId: null,
    name: lineOf(htmlToLine(text(row, 'product_name') || text(row, 'description')), 255) ?? '–',
    quantity,
    sku: null,
    taxClass: 'standard',
    taxRow: Number(text(row, 'tax')) > 0 ? 0 : null,
    subtotalMinor: Math.max(totalMinor, totalMinor + minorOf(text(row, 'discount'), currency)),
    totalMinor
  }
}

function refundsOf({ refunds }: EddOrder, currency: string): ImportedOrder['refunds'] {
  return refunds.map(({ row, items }) => ({
    amountMinor: Math.abs(minorOf(text(row, 'total'), currency)),
    reason: null,
    at: utc(text(row, 'date_created')) ?? 0,
    lines: items.map((item) => ({
      sourceId: text(item, 'parent'),
      quantity: Math.abs(Math.trunc(Number(text(item, 'quantity')))),
      amountMinor: Math.abs(minorOf(text(item, 'total'), currency)),
      taxMinor: Math.abs(minorOf(text(item, 'tax'), currency))
    }))
  }))
}

/** The plugin stores the tax of an order, and not always its rate. */
function taxOf(order: EddOrder, { taxMinor, totalMinor }: { taxMinor: number; totalMinor: number }) {
  const baseMinor = Math.max(0, totalMinor - taxMinor)
  const percent = baseMinor === 0 ? 0 : Math.round((taxMinor / baseMinor) * 1000) / 10
  const country = text(order.addresses[0] ?? {}, 'country')
  return {
    name: `${percent} %`,
    country,
    region: '',
    rateMillionths: Math.round(percent * 10_000),
    baseMinor,
    amountMinor: taxMinor
  }
}

/** The parts of the billing address, by the names of WooCommerce. */
function partsOf({ addresses: [row = {}] }: EddOrder): (part: string) => string {
  const { firstName, lastName } = splitName(text(row, 'name'))
  const parts: Readonly<Record<string, string>> = {
    first_name: firstName,
    last_name: lastName,
    address_1: text(row, 'address'),
    address_2: text(row, 'address2'),
    city: text(row, 'city'),
    state: text(row, 'region'),
    postcode: text(row, 'postal_code'),
    country: text(row, 'country')
  }
  return (part) => parts[part] ?? ''
}
