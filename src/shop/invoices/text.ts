import { formatMoney, toMajor } from '../../platform/money.ts'
import { dayText, percent, textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { methodLabel } from '../shipping/zones.ts'
import { rateLabel } from '../tax/terms.ts'
import type { InvoiceDocument, InvoiceTax } from './document.ts'
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

const titles = { invoice: 'doc.invoice', credit_note: 'doc.credit_note' } as const

/** The texts of an invoice or a credit note, all from the stored document, by default in its language. */
export function toText(row: InvoiceRow, texts: Texts = textsIn(row.document.language)): InvoiceText {
  const { t, lang } = texts
  const { document, currency, buyer } = row
  const { seller } = document
  const money = (minor: number): string => formatMoney(minor, currency, lang)
  return {
    title: t(titles[row.kind]),
    number: row.number,
    facts: factsOf(row, texts),
    seller: [seller.name, ...linesOf(seller.legal)],
    buyer:
      buyer === null ? [] : [...buyer.lines, ...(buyer.vatId === null ? [] : [t('doc.vatId', { id: buyer.vatId })])],
    lines: document.lines.map(({ name, sku, quantity, unitPriceMinor, amountMinor, rateMillionths }) => ({
      name,
      sku,
      quantity: String(quantity),
      unitPrice: money(unitPriceMinor),
      rate: rateMillionths === undefined ? '' : percent(rateMillionths / 10_000, { language: lang }),
      amount: money(amountMinor)
    })),
    hasRates: document.taxes.some(isTaxed) && document.lines.some(({ rateMillionths }) => rateMillionths !== undefined),
    sums: sumsOf(row, texts),
    taxes: document.taxes
      .filter(isTaxed)
      .map((tax) => ({ label: rateLabel(tax, texts), base: money(tax.baseMinor), amount: money(tax.amountMinor) })),
    notes: notesOf(row, texts)
  }
}

/** A day of a document (YYYY-MM-DD), which has no time zone, such as `23 November 2026`. */
function dayOf(day: string, { lang }: Texts): string {
  return dayText(day, { lang, timeZone: 'UTC' })
}

/** The name of a document, such as `Invoice 2026-7`. */
export function documentName(
  { kind, number, document }: Pick<InvoiceRow, 'kind' | 'number' | 'document'>,
  { t }: Texts = textsIn(document.language)
): string {
  return `${t(titles[kind])} ${number}`
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

function factsOf({ number, date, orderId, document }: InvoiceRow, texts: Texts): InvoiceText['facts'] {
  const { t } = texts
  const { corrects, orderedOn, paidOn } = document
  const order = [
    { label: t('doc.orderNumber'), value: String(orderId) },
    { label: t('doc.orderDate'), value: dayOf(orderedOn, texts) }
  ]
  if (corrects === null)
    return [
      { label: t('doc.invoiceNumber'), value: number },
      { label: t('doc.invoiceDate'), value: dayOf(date, texts) },
      ...order,
      { label: t('doc.paidOn'), value: dayOf(paidOn, texts) }
    ]
  return [
    { label: t('doc.creditNumber'), value: number },
    { label: t('doc.date'), value: dayOf(date, texts) },
    {
      label: t('doc.forInvoice'),
      value: t('doc.numberOf', { number: corrects.number, day: dayOf(corrects.date, texts) })
    },
    ...order
  ]
}

function sumsOf({ document, currency }: InvoiceRow, texts: Texts): InvoiceText['sums'] {
  const { t, lang } = texts
  const { corrects, discounts, shipping, subtotalMinor, taxIncluded, taxes, totalMinor } = document
  const sum = (label: string, minor: number, isTotal = false) => ({
    label,
    amount: formatMoney(minor, currency, lang),
    isTotal
  })
  const total = sum(t(corrects === null ? 'doc.total' : 'doc.credited'), totalMinor, true)
  if (corrects !== null && document.lines.length === 0 && shipping === null) return [total]
  const parts = [
    ...discounts.map(({ label, amountMinor }) => sum(label, -amountMinor)),
    ...(shipping === null ? [] : [sum(methodLabel(shipping, texts), shipping.amountMinor)]),
    ...(taxIncluded ? [] : taxes.filter(isTaxed).map((tax) => sum(rateLabel(tax, texts), tax.amountMinor)))
  ]
  return [...(parts.length > 0 ? [sum(t('doc.subtotal'), subtotalMinor)] : []), ...parts, total]
}

function notesOf({ document }: InvoiceRow, texts: Texts): string[] {
  const { t, textLanguage } = texts
  const { corrects, replaces, lines, taxes, taxIncluded, reverseCharge, paidOn } = document
  const taxed = taxes.find(({ rateMillionths }) => rateMillionths > 0)
  return [
    ...(taxed !== undefined && taxIncluded && lines.length > 0
      ? [t('doc.taxIncluded', { country: countryName(taxed.country, textLanguage) })]
      : []),
    ...(reverseCharge ? [t('doc.reverseCharge')] : []),
    ...(replaces === undefined
      ? []
      : [t('doc.replaces', { number: replaces.number, day: dayOf(replaces.date, texts) })]),
    ...(corrects === null
      ? [t('doc.paid', { day: dayOf(paidOn, texts) })]
      : [t(correctionKey(corrects), { number: corrects.number })])
  ]
}

function correctionKey({ whole, rest = false }: NonNullable<InvoiceDocument['corrects']>) {
  return whole ? 'doc.cancels' : rest ? 'doc.cancelsRest' : 'doc.reduces'
}

/** An invoice or a credit note as JSON. Amounts are in major units, those of a credit note positive. */
export function toInvoice({ kind, number, date, orderId, currency, buyer, document }: InvoiceRow) {
  const major = (minor: number): number => toMajor(minor, currency)
  const { seller, corrects, replaces, orderedOn, paidOn, taxIncluded, reverseCharge, shipping } = document
  return {
    kind,
    number,
    date,
    orderId,
    orderedOn,
    paidOn,
    corrects: corrects?.number ?? null,
    replaces: replaces?.number ?? null,
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
