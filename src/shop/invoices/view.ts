import { toMajor } from '../../platform/money.ts'
import type { InvoiceRow } from './rows.ts'

/** An invoice or a credit note as JSON. Amounts are in major units, those of a credit note positive. */
export function toInvoice({ kind, number, date, orderId, currency, buyer, document }: InvoiceRow) {
  const major = (minor: number): number => toMajor(minor, currency)
  const { seller, corrects, orderedOn, paidOn, taxIncluded, reverseCharge, shipping } = document
  return {
    kind,
    number,
    date,
    orderId,
    orderedOn,
    paidOn,
    corrects: corrects?.number ?? null,
    seller,
    buyer,
    currency,
    lines: document.lines.map(({ name, sku, quantity, unitPriceMinor, amountMinor, rateMillionths }) => ({
      name,
      sku,
      quantity,
      unitPrice: major(unitPriceMinor),
      ratePercent: rateMillionths === undefined ? null : rateMillionths / 10_000,
      amount: major(amountMinor)
    })),
    subtotal: major(document.subtotalMinor),
    discounts: document.discounts.map(({ label, amountMinor }) => ({ label, amount: major(amountMinor) })),
    shipping: shipping === null ? null : { name: shipping.name, amount: major(shipping.amountMinor) },
    tax: major(document.taxMinor),
    taxIncluded,
    taxes: document.taxes.map(({ name, country, region, rateMillionths, baseMinor, amountMinor }) => ({
      name,
      country,
      region,
      ratePercent: rateMillionths / 10_000,
      net: major(baseMinor),
      tax: major(amountMinor)
    })),
    reverseCharge,
    total: major(document.totalMinor)
  }
}
