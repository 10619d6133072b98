import { formatMoney, toMajor } from '../../platform/money.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { methodLabel } from '../shipping/zones.ts'
import { rateLabel } from '../tax/terms.ts'
import type { InvoiceTax } from './document.ts'
import type { InvoiceRow } from './find.ts'

/** A document as people read it, on the page and in the PDF. Amounts and days are text. */
export type InvoiceText = {
  title: string
  number: string
  facts: { label: string; value: string }[]
  seller: string[]
  buyer: string[]
  lines: InvoiceTextLine[]
  /** Whether the lines have a column with their tax rates. */
  hasRates: boolean
  sums: { label: string; amount: string; isTotal: boolean }[]
  taxes: { label: string; base: string; amount: string }[]
  notes: string[]
}

export type InvoiceTextLine = {
  name: string
  sku: string | null
  quantity: string
  unitPrice: string
  /** Such as `19 %`; empty if it is not known. */
  rate: string
  amount: string
}

const titles = { invoice: 'Invoice', credit_note: 'Credit note' } as const
const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** The texts of an invoice or a credit note, all from the stored document. */
export function toText(row: InvoiceRow): InvoiceText {
  const { document, currency, buyer } = row
  const { seller } = document
  const money = (minor: number): string => formatMoney(minor, currency)
  return {
    title: titles[row.kind],
    number: row.number,
    facts: factsOf(row),
    seller: [seller.name, ...linesOf(seller.legal)],
    buyer: buyer === null ? [] : [...buyer.lines, ...(buyer.vatId === null ? [] : [`VAT ID ${buyer.vatId}`])],
    lines: document.lines.map(({ name, sku, quantity, unitPriceMinor, amountMinor, rateMillionths }) => ({
      name,
      sku,
      quantity: String(quantity),
      unitPrice: money(unitPriceMinor),
      rate: rateMillionths === undefined ? '' : `${rateMillionths / 10_000} %`,
      amount: money(amountMinor)
    })),
    hasRates: document.taxes.some(isTaxed) && document.lines.some(({ rateMillionths }) => rateMillionths !== undefined),
    sums: sumsOf(row),
    taxes: document.taxes
      .filter(isTaxed)
      .map((tax) => ({ label: rateLabel(tax), base: money(tax.baseMinor), amount: money(tax.amountMinor) })),
    notes: notesOf(row)
  }
}

/** The name of a document, such as `Invoice 2026-7`. */
export function documentName({ kind, number }: Pick<InvoiceRow, 'kind' | 'number'>): string {
  return `${titles[kind]} ${number}`
}

/** A day of a document, such as `23 November 2026`. */
export function dayText(day: string): string {
  return dayFormat.format(Date.parse(day))
}

/** Whether a row has a rate, and a part of the document at that rate. */
function isTaxed({ rateMillionths, baseMinor, amountMinor }: InvoiceTax): boolean {
  return rateMillionths > 0 && baseMinor + amountMinor > 0
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function factsOf({ number, date, orderId, document }: InvoiceRow): InvoiceText['facts'] {
  const { corrects, orderedOn, paidOn } = document
  const order = [
    { label: 'Order number', value: String(orderId) },
    { label: 'Order date', value: dayText(orderedOn) }
  ]
  if (corrects === null)
    return [
      { label: 'Invoice number', value: number },
      { label: 'Invoice date', value: dayText(date) },
      ...order,
      { label: 'Date of payment', value: dayText(paidOn) }
    ]
  return [
    { label: 'Credit note number', value: number },
    { label: 'Date', value: dayText(date) },
    { label: 'For invoice', value: `${corrects.number} of ${dayText(corrects.date)}` },
    ...order
  ]
}

function sumsOf({ document, currency }: InvoiceRow): InvoiceText['sums'] {
  const { corrects, discounts, shipping, subtotalMinor, taxIncluded, taxes, totalMinor } = document
  const sum = (label: string, minor: number, isTotal = false) => ({
    label,
    amount: formatMoney(minor, currency),
    isTotal
  })
  const total = sum(corrects === null ? 'Total' : 'Total credited', totalMinor, true)
  if (corrects !== null && document.lines.length === 0 && shipping === null) return [total]
  const parts = [
    ...discounts.map(({ label, amountMinor }) => sum(label, -amountMinor)),
    ...(shipping === null ? [] : [sum(methodLabel(shipping), shipping.amountMinor)]),
    ...(taxIncluded ? [] : taxes.filter(isTaxed).map((tax) => sum(rateLabel(tax), tax.amountMinor)))
  ]
  return [...(parts.length > 0 ? [sum('Subtotal', subtotalMinor)] : []), ...parts, total]
}

function notesOf({ document }: InvoiceRow): string[] {
  const { corrects, lines, taxes, taxIncluded, reverseCharge, totalMinor, paidOn } = document
  const taxed = taxes.find(({ rateMillionths }) => rateMillionths > 0)
  return [
    ...(taxed !== undefined && taxIncluded && lines.length > 0
      ? [`All prices include the tax of ${countryName(taxed.country)}.`]
      : []),
    ...(reverseCharge
      ? ['Reverse charge: the recipient is liable for the VAT (Article 196 of Directive 2006/112/EC).']
      : []),
    ...(corrects === null
      ? [totalMinor === 0 ? 'There is nothing to pay.' : `Paid in full on ${dayText(paidOn)}.`]
      : [`This credit note ${corrects.whole ? 'cancels' : 'reduces'} invoice ${corrects.number}.`])
  ]
}

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
