import { currencyDecimals, formatMoney, toMajor } from '../../platform/money.ts'
import { dayText, percent, textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { isInEu } from '../../platform/vat.ts'
import { sellerLines } from '../settings/seller.ts'
import type { Seller } from '../settings/seller.ts'
import { methodLabel } from '../shipping/zones.ts'
import { isOwedByBuyer } from '../tax/categories.ts'
import type { TaxCategory } from '../tax/categories.ts'
import { rateLabel } from '../tax/terms.ts'
import type { InvoiceDocument, InvoiceLine, InvoiceTax } from './document.ts'
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
  /** Such as `19 %`. */
  rate: string
  amount: string
  /** The price without tax, the discount and the time that the line pays for, as far as there is one. */
  details: string[]
}

const titles = { invoice: 'doc.invoice', credit_note: 'doc.credit_note' } as const

/** The texts of an invoice or a credit note, all from the stored document, by default in its language. */
export function toText(row: InvoiceRow, texts: Texts = textsIn(row.document.language)): InvoiceText {
  const { t, lang } = texts
  const { document, currency, buyer } = row
  const money = (minor: number): string => formatMoney(minor, currency, lang)
  return {
    title: t(titles[row.kind]),
    number: row.number,
    facts: factsOf(row, texts),
    seller: sellerLines(document.seller, texts),
    buyer:
      buyer === null ? [] : [...buyer.lines, ...(buyer.vatId === null ? [] : [t('doc.vatId', { id: buyer.vatId })])],
    lines: document.lines.map((line) => ({
      name: line.name,
      sku: line.sku,
      quantity: String(line.quantity),
      unitPrice: money(line.unitPriceMinor),
      rate: percent(rateOf(document, line) / 10_000, { language: lang }),
      amount: money(line.amountMinor),
      details: detailsOf(row, line, texts)
    })),
    hasRates: document.lines.length > 0 && document.taxes.some(isTaxed),
    sums: sumsOf(row, texts),
    taxes: shownTaxes(document).map((tax) => ({
      label: rateLabel(tax, texts),
      base: money(tax.baseMinor),
      amount: money(tax.amountMinor)
    })),
    notes: notesOf(row, texts)
  }
}

/** A day of a document (YYYY-MM-DD), which has no time zone, such as `23 November 2026`. */
export function dayOf(day: string, { lang }: Texts): string {
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
function isTaxed(tax: InvoiceTax): boolean {
  return tax.rateMillionths > 0 && hasPart(tax)
}

/** Whether a document has a part with a tax. */
export function hasPart({ baseMinor, amountMinor }: InvoiceTax): boolean {
  return baseMinor + amountMinor > 0
}

/** The taxes that a document lists: each that it has a part of, unless it has no tax at all. */
function shownTaxes({ taxes }: InvoiceDocument): InvoiceTax[] {
  return taxes.filter(taxes.filter(hasPart).length > 1 ? hasPart : isTaxed)
}

function rateOf({ taxes }: InvoiceDocument, { taxRow }: InvoiceLine): number {
  return taxes[taxRow]?.rateMillionths ?? 0
}

/** The price of one unit of a line before discounts and without tax, in major units with two more decimals. */
export function netUnitPrice(
  { document, currency }: Pick<InvoiceRow, 'document' | 'currency'>,
  line: InvoiceLine
): number {
  const decimals = currencyDecimals(currency) + 2
  const share = document.taxIncluded ? 1 + rateOf(document, line) / 1_000_000 : 1
  return Number((toMajor(line.amountMinor, currency) / line.quantity / share).toFixed(decimals))
}

function detailsOf(row: InvoiceRow, line: InvoiceLine, texts: Texts): string[] {
  const { document, currency } = row
  const { t, lang } = texts
  const decimals = currencyDecimals(currency)
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals + 2 }
  const net = new Intl.NumberFormat(lang, { style: 'currency', currency, ...digits }).format(netUnitPrice(row, line))
  const { period, discountMinor } = line
  return [
    ...(document.taxIncluded && rateOf(document, line) > 0 ? [t('doc.netEach', { amount: net })] : []),
    ...(discountMinor > 0 ? [t('doc.lineDiscount', { amount: formatMoney(-discountMinor, currency, lang) })] : []),
    ...(period === undefined ? [] : [t('doc.period', { from: dayOf(period.from, texts), to: dayOf(period.to, texts) })])
  ]
}

function factsOf({ number, date, orderId, document }: InvoiceRow, texts: Texts): InvoiceText['facts'] {
  const { t } = texts
  const { corrects, orderedOn, paidOn, suppliedOn, shipping } = document
  const supplied = t(shipping === null || shipping.pickup === true ? 'doc.suppliedOn' : 'doc.prepaidOn')
  const order = [
    { label: t('doc.orderNumber'), value: String(orderId) },
    { label: t('doc.orderDate'), value: dayOf(orderedOn, texts) }
  ]
  if (corrects === null)
    return [
      { label: t('doc.invoiceNumber'), value: number },
      { label: t('doc.invoiceDate'), value: dayOf(date, texts) },
      ...order,
      { label: t('doc.paidOn'), value: dayOf(paidOn, texts) },
      { label: supplied, value: dayOf(suppliedOn, texts) }
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
  const payments = paymentsOf(document, texts).map(({ label, minor }) => sum(label, minor))
  const parts = [
    ...discounts.map(({ label, amountMinor }) => sum(label, -amountMinor)),
    ...(shipping === null ? [] : [sum(methodLabel(shipping, texts), shipping.amountMinor)]),
    ...(taxIncluded ? [] : taxes.filter(isTaxed).map((tax) => sum(rateLabel(tax, texts), tax.amountMinor)))
  ]
  return [...(parts.length > 0 ? [sum(t('doc.subtotal'), subtotalMinor)] : []), ...parts, total, ...payments]
}

/** What gift cards paid, and the rest; nothing if no gift card did. */
function paymentsOf({ giftCards = [], totalMinor }: InvoiceDocument, { t }: Texts): { label: string; minor: number }[] {
  if (giftCards.length === 0) return []
  const restMinor = giftCards.reduce((rest, { amountMinor }) => rest - amountMinor, totalMinor)
  return [
    ...giftCards.map(({ lastFour, amountMinor: minor }) => ({ label: t('doc.byGiftCard', { name: lastFour }), minor })),
    ...(restMinor === 0 ? [] : [{ label: t('doc.byOtherMeans'), minor: restMinor }])
  ]
}

/** The sentences below a document: its taxes, the documents that it belongs to, and its payment. */
export function notesOf({ document }: Pick<InvoiceRow, 'document'>, texts: Texts): string[] {
  const { t, textLanguage } = texts
  const { corrects, replaces, lines, taxes, taxIncluded, paidOn, deliveryConsentOn } = document
  const taxed = taxes.find(({ rateMillionths }) => rateMillionths > 0)
  return [
    ...(taxed !== undefined && taxIncluded && lines.length > 0 && taxes.filter(hasPart).every(isTaxed)
      ? [t('doc.taxIncluded', { country: countryName(taxed.country, textLanguage) })]
      : []),
    ...reasonsOf(document, texts),
    ...(replaces === undefined
      ? []
      : [t('doc.replaces', { number: replaces.number, day: dayOf(replaces.date, texts) })]),
    ...(deliveryConsentOn === undefined || corrects !== null
      ? []
      : [t('consent.given', { day: dayOf(deliveryConsentOn, texts) })]),
    ...(corrects === null
      ? [t('doc.paid', { day: dayOf(paidOn, texts) })]
      : [t(correctionKey(corrects), { number: corrects.number })])
  ]
}

/** The national provisions that exempt a small business, by the country of the seller. */
const smallBusinessLaws: Readonly<Record<string, string>> = {
  AT: '§ 6 Abs. 1 Z 27 UStG',
  DE: '§ 19 UStG',
  FR: 'art. 293 B du CGI'
}

/** Why parts of a document have no tax. */
function reasonsOf({ seller, taxes }: InvoiceDocument, texts: Texts): string[] {
  const categories = new Set(taxes.filter(hasPart).map(({ category }) => category))
  return [...categories].map((category) => reasonOf(category, seller, texts)).filter((reason) => reason !== '')
}

/** Why a part of a document has no tax (Directive 2006/112/EC, article 226, points 11 and 11a); empty without a reason. */
export function reasonOf(category: TaxCategory, seller: Pick<Seller, 'country'>, { t }: Pick<Texts, 't'>): string {
  const article = (number: string): string => t('doc.article', { article: number })
  const inEu = (law: string): string => (isInEu(seller.country) ? ` (${article(law)})` : '')
  const national = smallBusinessLaws[seller.country]
  const reasons: Readonly<Record<TaxCategory, string>> = {
    taxed: '',
    zero: '',
    none: '',
    supply: t('doc.reason.supply'),
    reverse_charge: t('doc.reason.reverse_charge'),
    export: t('doc.reason.export', { law: inEu('146') }),
    voucher: t('doc.reason.voucher'),
    outside: t('doc.reason.outside', { law: inEu('44, 58, 59') }),
    small_business: t('doc.reason.small_business', { law: national ?? article('284') })
  }
  return reasons[category]
}

function correctionKey({ whole, rest = false }: NonNullable<InvoiceDocument['corrects']>) {
  return whole ? 'doc.cancels' : rest ? 'doc.cancelsRest' : 'doc.reduces'
}

/** An invoice or a credit note as JSON. Amounts are in major units, those of a credit note positive. */
export function toInvoice(row: InvoiceRow) {
  const { kind, number, date, orderId, currency, buyer, document } = row
  const major = (minor: number): number => toMajor(minor, currency)
  const { seller, corrects, replaces, country, orderedOn, paidOn, suppliedOn, taxIncluded, taxes, shipping } = document
  return {
    kind,
    number,
    date,
    orderId,
    orderedOn,
    paidOn,
    suppliedOn,
    corrects: corrects?.number ?? null,
    replaces: replaces?.number ?? null,
    seller,
    buyer,
    country,
    currency,
    lines: document.lines.map((line) => ({
      name: line.name,
      sku: line.sku,
      quantity: line.quantity,
      unitPrice: major(line.unitPriceMinor),
      netUnitPrice: netUnitPrice(row, line),
      ratePercent: rateOf(document, line) / 10_000,
      category: taxes[line.taxRow]?.category ?? 'none',
      amount: major(line.amountMinor),
      discount: major(line.discountMinor),
      net: major(line.netMinor),
      tax: major(line.taxMinor),
      period: line.period ?? null
    })),
    subtotal: major(document.subtotalMinor),
    discounts: document.discounts.map(({ label, amountMinor }) => ({ label, amount: major(amountMinor) })),
    shipping: shipping === null ? null : { name: shipping.name, amount: major(shipping.amountMinor) },
    tax: major(document.taxMinor),
    taxIncluded,
    taxes: taxes.map(({ category, name, country, region, destination, rateMillionths, baseMinor, amountMinor }) => ({
      category,
      name,
      country,
      region,
      destination,
      ratePercent: rateMillionths / 10_000,
      net: major(baseMinor),
      tax: major(amountMinor)
    })),
    reverseCharge: taxes.some(isOwedByBuyer),
    total: major(document.totalMinor),
    giftCards: (document.giftCards ?? []).map(({ lastFour, amountMinor }) => ({ lastFour, amount: major(amountMinor) }))
  }
}
