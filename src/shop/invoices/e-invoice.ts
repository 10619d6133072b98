import { currencyDecimals, toDecimalText } from '../../platform/money.ts'
import { trimEndOf } from '../../platform/text.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { isInEu, readVatId } from '../../platform/vat.ts'
import { methodLabel } from '../shipping/zones.ts'
import { taxCategories } from '../tax/categories.ts'
import type { TaxCategory } from '../tax/categories.ts'
import type { InvoiceDocument, InvoiceLine, InvoiceTax } from './document.ts'
import type { InvoiceRow } from './find.ts'
import { dayOf, documentName, hasPart, notesOf, reasonOf } from './text.ts'

/**
 * A document by the semantic model of EN 16931-1, from which both syntaxes are written. Amounts are decimal text in the
 * currency of the document, days are YYYY-MM-DD. The comments name the business terms.
 */
export type EInvoice = {
  /** BT-3: an invoice, or a credit note. */
  type: '380' | '381'
  number: string
  date: string
  currency: string
  /** BT-10. */
  buyerReference: string
  /** BT-14. */
  order: string
  /** BG-3. */
  precedes: { number: string; date: string } | null
  /** BG-1. */
  notes: string[]
  /** BG-4 and BG-7. */
  seller: EParty & { taxNumber: string | null; register: string | null; legal: string | null }
  buyer: EParty
  /** BG-13. */
  delivery: { on: string; to: EAddress | null }
  /** BG-16. The order was paid before, in one of several ways: ZZZ of the list UNTDID 4461. */
  payment: { code: 'ZZZ'; text: string }
  /** BG-25. */
  lines: ELine[]
  /** BG-20 and BG-21. */
  adjustments: (EAdjustment & { tax: ETax })[]
  /** BG-23, one for each category and rate. */
  taxes: (ETax & { base: string; amount: string; reason: string | null; reasonCode: string | null })[]
  /** BG-22. */
  sums: {
    lines: string
    allowances: string
    charges: string
    net: string
    tax: string
    total: string
    paid: string
    due: string
  }
}

export type EParty = {
  name: string
  vatId: string | null
  /** BG-6, BG-9. */
  contact: { name: string; phone: string | null; email: string | null } | null
  /** BT-34, BT-49: an email address. */
  electronicAddress: string | null
  address: EAddress
}

export type EAddress = {
  line1: string | null
  line2: string | null
  city: string | null
  postcode: string | null
  state: string | null
  country: string
}

/** A category, with its rate in percent; null for a sale that is not subject to VAT (BR-O-05). */
export type ETax = { code: string; percent: string | null }

/** What is taken off an amount, or added to it. */
export type EAdjustment = { isCharge: boolean; amount: string; reason: string; reasonCode: string | null }

export type ELine = {
  id: string
  name: string
  sku: string | null
  quantity: string
  /** BT-130 of UN/ECE Recommendation 20: a piece, or one of a service. */
  unit: 'H87' | 'C62'
  /** BT-146, without tax and before the discount. */
  price: string
  /** BT-131, after the discount. */
  net: string
  tax: ETax
  period: { from: string; to: string } | null
  discount: EAdjustment | null
}

/** What a document would need to be an electronic invoice. */
export type Obstacle =
  | { kind: 'erased' }
  | { kind: 'currency' }
  | { kind: 'untaxed' }
  | { kind: 'mixed' }
  /** Settings that the document's seller lacks. */
  | { kind: 'seller'; lacks: string[] }
  /** Parts of the buyer, as `orders invoice --correct` names them. */
  | { kind: 'buyer'; lacks: string[] }

/** The forms of an electronic invoice: a PDF with the data of EN 16931 in it, and XML by the German rules. */
export const eInvoiceFormats = ['facturx', 'xrechnung'] as const
export type EInvoiceFormat = (typeof eInvoiceFormats)[number]

/** Why a document can't be an electronic invoice; undefined if it can. */
export function obstacleOf(row: InvoiceRow, format: EInvoiceFormat): Obstacle | undefined {
  const { buyer, currency, document } = row
  if (buyer === null || buyer.lines.length === 0) return { kind: 'erased' }
  // Amounts have at most two decimals (BR-DEC).
  if (currencyDecimals(currency) > 2) return { kind: 'currency' }
  const categories = new Set(document.taxes.filter(hasPart).map(({ category }) => category))
  if (categories.has('none')) return { kind: 'untaxed' }
  // What is not subject to VAT stands alone (BR-O-11).
  const codes = new Set([...categories].map((category) => taxCategories[category].code))
  if (codes.has('O') && codes.size > 1) return { kind: 'mixed' }
  const ofSeller = lackingSeller(document, categories, format)
  if (ofSeller.length > 0) return { kind: 'seller', lacks: ofSeller }
  const ofBuyer = lackingBuyer(buyer, categories, format)
  return ofBuyer.length > 0 ? { kind: 'buyer', lacks: ofBuyer } : undefined
}

function lackingSeller(
  { seller }: InvoiceDocument,
  categories: ReadonlySet<TaxCategory>,
  format: EInvoiceFormat
): string[] {
  const { street, postcode, city, country, vatId, taxNumber, email, phone } = seller
  const needsVatId = categories.has('supply') || categories.has('export')
  const parts = {
    'shop.legal.street': street,
    'shop.legal.postcode': postcode,
    'shop.legal.city': city,
    'shop.country': country,
    // BR-IC-02, BR-G-02; with other categories, a tax number is enough.
    ...(needsVatId ? { 'shop.legal.vatId': vatId } : { 'shop.legal.taxNumber': vatId || taxNumber }),
    // BR-DE-6, BR-DE-7.
    ...(format === 'xrechnung' ? { 'shop.legal.email': email, 'shop.legal.phone': phone } : {})
  }
  return emptyOf(parts)
}

function lackingBuyer(
  { address, vatId, email = '' }: NonNullable<InvoiceRow['buyer']>,
  categories: ReadonlySet<TaxCategory>,
  format: EInvoiceFormat
): string[] {
  const { firstName = '', lastName = '', company = '', postcode = '', city = '', country = '' } = address
  const isOwed = categories.has('supply') || categories.has('reverse_charge')
  const parts = { company: company || firstName || lastName, postcode, city, country }
  return emptyOf({
    ...parts,
    ...(isOwed ? { 'vat-id': vatId ?? '' } : {}),
    ...(format === 'xrechnung' ? { email } : {})
  })
}

const emptyOf = (parts: Readonly<Record<string, string>>): string[] =>
  Object.entries(parts).flatMap(([name, value]) => (value.trim() === '' ? [name] : []))

/**
 * A document by the model of EN 16931. Its sums are those of the document, to the minor unit.
 *
 * @param row a document without an obstacle (`obstacleOf`)
 */
export function toEInvoice(row: InvoiceRow, texts: Texts = textsIn(row.document.language)): EInvoice {
  const { document, currency, orderId } = row
  const amount = (minor: number): string => toDecimalText(minor, currency)
  const parts = netParts(row, texts)
  const adjustments = [...parts.shipping, ...roundingOf(document, parts, texts)]
  const sum = (minors: readonly number[]): number => minors.reduce((all, minor) => all + minor, 0)
  const linesMinor = sum(parts.lines.map(({ netMinor }) => netMinor))
  const chargesMinor = sum(adjustments.flatMap(({ minor }) => (minor > 0 ? [minor] : [])))
  const allowancesMinor = sum(adjustments.flatMap(({ minor }) => (minor < 0 ? [-minor] : [])))
  const netMinor = linesMinor + chargesMinor - allowancesMinor
  const { corrects, replaces } = document
  return {
    type: row.kind === 'credit_note' ? '381' : '380',
    number: row.number,
    date: row.date,
    currency,
    // XRechnung asks for one (BR-DE-15); the order is what both sides know.
    buyerReference: row.buyer?.reference ?? String(orderId),
    order: String(orderId),
    precedes: corrects ?? replaces ?? null,
    notes: notesOf(row, texts),
    ...partiesOf(row),
    delivery: { on: document.suppliedOn, to: deliveredTo(row) },
    payment: { code: 'ZZZ', text: texts.t('doc.paid', { day: dayOf(document.paidOn, texts) }) },
    lines: parts.lines.map((line, index) => toLine(line, index, { document, amount, texts })),
    adjustments: adjustments.map(({ minor, reason, reasonCode, taxRow }) => ({
      isCharge: minor > 0,
      amount: amount(Math.abs(minor)),
      reason,
      reasonCode,
      tax: taxOf(document, taxRow)
    })),
    taxes: taxGroups(document, parts, amount, texts),
    sums: {
      lines: amount(linesMinor),
      allowances: amount(allowancesMinor),
      charges: amount(chargesMinor),
      net: amount(netMinor),
      tax: amount(document.taxMinor),
      total: amount(netMinor + document.taxMinor),
      paid: amount(netMinor + document.taxMinor),
      due: amount(0)
    }
  }
}

type NetLine = Pick<InvoiceLine, 'name' | 'sku' | 'quantity' | 'netMinor' | 'taxRow' | 'isService'> & {
  /** Before the discount. */
  beforeMinor: number
  period: { from: string; to: string } | null
}
type NetAdjustment = { minor: number; reason: string; reasonCode: string | null; taxRow: number }
type NetParts = { lines: NetLine[]; shipping: NetAdjustment[] }

/** The lines and the shipping of a document without tax. A credit note of an amount has a line for each tax. */
function netParts({ kind, number, document }: InvoiceRow, texts: Texts): NetParts {
  const { lines, shipping, taxes } = document
  const name = documentName({ kind, number, document }, texts)
  if (lines.length === 0 && (shipping?.parts ?? []).every(({ netMinor }) => netMinor === 0)) {
    const credited = taxes.flatMap((tax, taxRow) =>
      hasPart(tax)
        ? [{ name, sku: null, quantity: 1, netMinor: tax.baseMinor, beforeMinor: tax.baseMinor, taxRow, period: null }]
        : []
    )
    return { lines: credited.map((line) => ({ ...line, isService: true })), shipping: [] }
  }
  const charges = (shipping?.parts ?? []).flatMap(({ netMinor, taxRow }) =>
    netMinor === 0 || shipping === null
      ? []
      : [{ minor: netMinor, reason: methodLabel(shipping, texts), reasonCode: 'FC', taxRow }]
  )
  const net = lines.map((line) => ({
    ...line,
    beforeMinor: beforeDiscount(document, line),
    period: line.period ?? null
  }))
  // An invoice has a line (BR-16), also the credit note of shipping alone.
  const only = { name, sku: null, quantity: 1, netMinor: 0, beforeMinor: 0, isService: true, period: null }
  return { lines: net.length > 0 ? net : [{ ...only, taxRow: charges[0]?.taxRow ?? 0 }], shipping: charges }
}

/** The price of a line without tax, before its discount. */
function beforeDiscount({ taxIncluded, taxes }: InvoiceDocument, line: InvoiceLine): number {
  const { amountMinor, discountMinor, netMinor, taxRow } = line
  if (discountMinor === 0) return netMinor
  const rate = taxIncluded ? (taxes[taxRow]?.rateMillionths ?? 0) : 0
  return Math.max(netMinor, Math.round(amountMinor / (1 + rate / 1_000_000)))
}

/**
 * What the rows of the taxes differ from their parts: a refund of things can be larger than what earlier refunds left of
 * a rate, and then other rates carry it.
 */
function roundingOf({ taxes }: InvoiceDocument, { lines, shipping }: NetParts, { t }: Texts): NetAdjustment[] {
  return taxes.flatMap(({ baseMinor }, taxRow) => {
    const ofLines = lines.filter((line) => line.taxRow === taxRow).map(({ netMinor }) => netMinor)
    const ofShipping = shipping.filter((part) => part.taxRow === taxRow).map(({ minor }) => minor)
    const minor = baseMinor - [...ofLines, ...ofShipping].reduce((all, each) => all + each, 0)
    return minor === 0 ? [] : [{ minor, reason: t('doc.adjustment'), reasonCode: null, taxRow }]
  })
}

type Written = { document: InvoiceDocument; amount: (minor: number) => string; texts: Texts }

/** More decimals than the currency has, so that the quantity times the price is the amount of the line. */
const priceDecimals = 6

function toLine(line: NetLine, index: number, { document, amount, texts }: Written): ELine {
  const { name, sku, quantity, netMinor, beforeMinor, isService, period, taxRow } = line
  const reason = document.discounts.map(({ label }) => label).join(', ') || texts.t('sum.discount')
  const offMinor = beforeMinor - netMinor
  const [whole, fraction = ''] = (Number(amount(beforeMinor)) / quantity).toFixed(priceDecimals).split('.')
  return {
    id: String(index + 1),
    name: oneLine(name),
    sku,
    quantity: String(quantity),
    unit: isService ? 'C62' : 'H87',
    price: `${whole}.${trimEndOf(fraction, '0').padEnd(2, '0')}`,
    net: amount(netMinor),
    tax: taxOf(document, taxRow),
    period,
    // 95 of the list UNCL 5189 is a discount.
    discount: offMinor === 0 ? null : { isCharge: false, amount: amount(offMinor), reason, reasonCode: '95' }
  }
}

/** The tax of a row of the document. */
function taxOf({ taxes }: InvoiceDocument, taxRow: number): ETax {
  return taxKey(taxes[taxRow] ?? { category: 'zero', rateMillionths: 0 })
}

function taxKey({ category, rateMillionths }: Pick<InvoiceTax, 'category' | 'rateMillionths'>): ETax {
  // A part that costs nothing has no tax to explain.
  const { code } = taxCategories[category === 'none' ? 'zero' : category]
  return { code, percent: code === 'O' ? null : String(rateMillionths / 10_000) }
}

/** The taxes by category and rate: the rows of the document are by country, too. */
function taxGroups(
  document: InvoiceDocument,
  { lines, shipping }: NetParts,
  amount: Written['amount'],
  texts: Texts
): EInvoice['taxes'] {
  const used = new Set([...lines, ...shipping].map(({ taxRow }) => taxRow))
  const rows = document.taxes.filter((tax, index) => used.has(index) || hasPart(tax))
  const groups = Map.groupBy(rows, (tax) => JSON.stringify(taxKey(tax)))
  return [...groups.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const sumOf = (name: 'baseMinor' | 'amountMinor'): string => amount(same.reduce((sum, tax) => sum + tax[name], 0))
    const reason = reasonOf(first.category, document.seller, texts)
    return [
      {
        ...taxKey(first),
        base: sumOf('baseMinor'),
        amount: sumOf('amountMinor'),
        reason: reason === '' ? null : reason,
        reasonCode: reasonCode(first, document.seller.country)
      }
    ]
  })
}

function reasonCode({ category }: InvoiceTax, seller: string): string | null {
  if (category === 'small_business') return seller === 'FR' ? 'VATEX-FR-FRANCHISE' : null
  return isInEu(seller) ? taxCategories[category].vatex : null
}

function partiesOf({ document, buyer }: InvoiceRow): Pick<EInvoice, 'seller' | 'buyer'> {
  const { seller } = document
  const { name, street, postcode, city, country, vatId, taxNumber, register, legal, email, phone } = seller
  const { firstName, lastName, company, ...address } = buyer?.address ?? {}
  const person = oneLine([firstName, lastName].join(' '))
  // A document that is not subject to VAT names no VAT ids (BR-O-02).
  const isOutside = document.taxes.some((tax) => taxCategories[tax.category].code === 'O' && hasPart(tax))
  return {
    seller: {
      name: oneLine(name),
      vatId: isOutside ? null : vatIdOf(vatId),
      taxNumber: filledOr(taxNumber),
      register: filledOr(register),
      legal: filledOr(legal),
      contact:
        email === '' && phone === '' ? null : { name: oneLine(name), phone: filledOr(phone), email: filledOr(email) },
      electronicAddress: filledOr(email),
      address: { ...toAddress({ address1: street, city, postcode }), country }
    },
    buyer: {
      name: oneLine(company ?? '') || person,
      vatId: isOutside ? null : vatIdOf(buyer?.vatId ?? ''),
      contact: company === undefined || person === '' ? null : { name: person, phone: null, email: null },
      electronicAddress: filledOr(buyer?.email),
      address: { ...toAddress(address), country: address.country ?? '' }
    }
  }
}

type AddressParts = { address1?: string; address2?: string; city?: string; postcode?: string; state?: string }

function toAddress({ address1, address2, city, postcode, state }: AddressParts): Omit<EAddress, 'country'> {
  return {
    line1: filledOr(address1),
    line2: filledOr(address2),
    city: filledOr(city),
    postcode: filledOr(postcode),
    state: filledOr(state)
  }
}

/** Where goods went; for an earlier document or a consumer, the country alone. */
function deliveredTo({ document, buyer }: InvoiceRow): EAddress | null {
  const { country, shipping, taxes } = document
  // An intra-Community supply names the country (BR-IC-12), also the credit note of an amount.
  const isNamed = taxes.some((tax) => tax.category === 'supply' && hasPart(tax))
  if (country === '' || (!isNamed && (shipping === null || shipping.pickup === true))) return null
  const place = [buyer?.shipTo, buyer?.address].find((each) => each?.country === country)
  return { ...toAddress(place ?? {}), country }
}

const vatIdOf = (text: string): string | null => readVatId(text)?.id ?? filledOr(text)
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
const filledOr = (text = ''): string | null => oneLine(text) || null
