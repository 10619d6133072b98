import type { Tx } from '../../../platform/db/database.ts'
import { toTaxClass } from '../../../shop/catalog/import/csv-table.ts'
import { htmlToLine } from '../../../shop/catalog/import/html-text.ts'
import type { ImportedLine, ImportedOrder, ImportedRefund } from '../../../shop/orders/imported-order.ts'
import type { ImportedRecord } from '../../../shop/orders/schema.ts'
import { lineOf } from '../clean-text.ts'
import type { Move } from '../move.ts'
import type { OrderItem, SourceOrder } from './order-rows.ts'
import { minorOf, numberOf, php, seconds, utc } from './values.ts'
import { isRecord } from '../../../platform/typed.ts'

/** A tax of an order, and the id of its rate, by which lines name it. */
export type SourceTax = { rateId: string; row: ImportedOrder['taxes'][number] }

/** The taxes of an order, one for each rate. */
export function taxesOf({ items, meta }: SourceOrder, currency: string): SourceTax[] {
  const country = meta.get('_shipping_country') || meta.get('_billing_country') || ''
  return items
    .filter(({ type }) => type === 'tax')
    .map((item) => {
      const value = (key: string): string => item.meta.get(key) ?? ''
      const amountMinor = Math.max(
        0,
        minorOf(value('tax_amount'), currency) + minorOf(value('shipping_tax_amount'), currency)
      )
      const rateMillionths = Math.max(0, Math.round(numberOf(value('rate_percent')) * 10_000))
      return {
        rateId: value('rate_id'),
        row: {
          name: htmlToLine(value('label')) || htmlToLine(item.name),
          country,
          region: '',
          rateMillionths,
          // WooCommerce does not store what was taxed.
          baseMinor: rateMillionths === 0 ? 0 : Math.round((amountMinor * 1_000_000) / rateMillionths),
          amountMinor
        }
      }
    })
}

type Terms = { currency: string; taxIncluded: boolean; taxes: readonly SourceTax[]; move: Move }

/** The lines and the fees of an order. A fee above zero is a line, too; one below zero makes the lines cheaper. */
export function linesOf(
  tx: Tx,
  { items }: SourceOrder,
  terms: Terms
): { lines: ImportedLine[]; fees: ImportedRecord['fees'] } {
  const goods = items.filter(({ type }) => type === 'line_item').map((item) => toLine(tx, item, terms))
  const fees = items.filter(({ type }) => type === 'fee')
  const extra = fees.map((item) => toLine(tx, item, terms)).filter(({ totalMinor }) => totalMinor > 0)
  return {
    lines: [...goods, ...extra],
    fees: fees.map(({ name, meta }) => ({
      name: htmlToLine(name),
      totalMinor: minorOf(meta.get('_line_total') ?? '', terms.currency),
      taxMinor: minorOf(meta.get('_line_tax') ?? '', terms.currency)
    }))
  }
}

function toLine(tx: Tx, item: OrderItem, { currency, taxIncluded, taxes, move }: Terms): ImportedLine {
  const value = (key: string): string => item.meta.get(key) ?? ''
  const amount = (key: string): number => {
    const net = numberOf(value(`_line_${key}`))
    const taxKey = key === 'total' ? '_line_tax' : '_line_subtotal_tax'
    return Math.max(0, minorOf(String(net + (taxIncluded ? numberOf(value(taxKey)) : 0)), currency))
  }
  const totalMinor = amount('total')
  const isWhole = /^[1-9]\d{0,8}$/.test(value('_qty'))
  const name = lineOf(htmlToLine(item.name), 255) ?? '–'
  const variationId = move.moved.find(tx, 'variation', value('_variation_id')) ?? null
  return {
    sourceId: item.id,
    productId: move.moved.find(tx, 'product', value('_product_id')) ?? null,
    variationId,
    name: isWhole || item.type === 'fee' ? name : `${name} × ${value('_qty') || '0'}`,
    quantity: isWhole ? Number(value('_qty')) : 1,
    sku: null,
    taxClass: toTaxClass(value('_tax_class')) ?? 'standard',
    taxRow: taxRowOf(value('_line_tax_data'), taxes),
    subtotalMinor: Math.max(totalMinor, amount('subtotal')),
    totalMinor
  }
}

/** Which of the order's taxes is on a line; the first of several. */
function taxRowOf(stored: string, taxes: readonly SourceTax[]): number | null {
  const data = php(stored)
  const total = isRecord(data) ? data['total'] : undefined
  const rateIds = Object.keys(isRecord(total) || Array.isArray(total) ? total : {})
  const index = taxes.findIndex(({ rateId }) => rateIds.includes(rateId))
  return index === -1 ? null : index
}

/** The refunds of an order. WooCommerce stores their amounts below zero. */
export function refundsOf({ refunds, createdAt }: SourceOrder, currency: string): ImportedRefund[] {
  return refunds.flatMap((refund) => {
    const amountMinor = Math.abs(
      minorOf(refund.meta.get('_refund_amount') || refund.meta.get('_order_total') || '', currency)
    )
    const lines = refund.items.filter(({ type }) => ['line_item', 'shipping', 'fee'].includes(type))
    return {
      amountMinor,
      reason: lineOf(refund.meta.get('_refund_reason') ?? '', 255),
      at: utc(refund.createdAt) ?? utc(createdAt) ?? seconds('1') ?? 0,
      lines: lines.map((item) => toRefundLine(item, currency))
    }
  })
}

function toRefundLine({ type, meta }: OrderItem, currency: string): ImportedRefund['lines'][number] {
  const isShipping = type === 'shipping'
  const net = numberOf(meta.get(isShipping ? 'cost' : '_line_total'))
  const tax = numberOf(meta.get(isShipping ? 'total_tax' : '_line_tax'))
  return {
    sourceId: isShipping ? null : (meta.get('_refunded_item_id') ?? ''),
    quantity: isShipping ? 0 : Math.abs(Math.trunc(numberOf(meta.get('_qty')))),
    amountMinor: Math.abs(minorOf(String(net + tax), currency)),
    taxMinor: Math.abs(minorOf(String(tax), currency))
  }
}
