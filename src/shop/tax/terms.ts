import { percent, taxName, textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { chargeStepMinor, shareMinor } from '../../platform/money.ts'
import { regionKey } from '../../platform/postal/format.ts'
import { destinationOf } from '../../platform/postal/address.ts'
import type { Place } from '../../platform/postal/address.ts'
import { isElsewhereInEu, isInEu, isInEuForGoods, readVatId, vatCountry } from '../../platform/vat.ts'
import { isShipped, isVoucher } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'
import { setting } from '../settings/settings.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { taxCategories } from './categories.ts'
import type { TaxCategory } from './categories.ts'
import type { TaxClass } from './input.ts'
import type { TaxRateRow } from './rates.ts'
import { taxRates } from './schema.ts'

/** What decides the rate of a line. */
export type TaxedKind = { type: ProductType; taxClass: TaxClass }

/** A line with its amounts in minor units: `totalMinor` is after discounts. */
export type TaxedLine = TaxedKind & { totalMinor: number; discountMinor: number }

/** How a cart or an order is taxed. */
export type TaxTerms = {
  /** Whether the prices include the tax. */
  included: boolean
  /** The rate of a line; null if it is not taxed. */
  rateOf: (line: TaxedKind) => TaxRate | null
}

/** The tax of a cart or an order, in minor units. */
export type OrderTax = {
  included: boolean
  amountMinor: number
  /** The part of the tax that is on the goods. The rest is on the shipping. */
  goodsMinor: number
  /** A line for each rate. */
  lines: readonly TaxLine[]
  /** For each line of the sale, the index of its tax in `lines`; null for a line without tax. */
  rowOf: readonly (number | null)[]
}

const rates = statement((orm) =>
  orm
    .select()
    .from(taxRates)
    .where(eq(taxRates.country, sql.placeholder('country')))
    .prepare()
)

function ratesOfCountry(db: Db, country: string): TaxRateRow[] {
  return rates(db).all({ country })
}

/**
 * A country for VAT and its state or province, in upper case; the region is empty if it is unknown. XI is Northern Ireland,
 * which is part of the EU for goods.
 */
type TaxPlace = { country: string; region: string }

/** What decides the place of a sale; a part that is unknown is missing. */
type Located = Place & { state?: string | undefined; postcode?: string | undefined }

/** What is known about a buyer for the tax. */
export type TaxedBuyer = {
  shippingAddress: Located | null
  billingAddress: Located | null
  /** As the buyer typed it. */
  vatId: string | null
  /** What VIES knows of it; null or missing if the shop does not ask. */
  vatCheck?: { accepted: boolean } | null
  /** What is picked up is sold in the shop's own country. */
  shippingMethod?: Pick<ChosenMethod, 'pickup'> | null | undefined
}

/** How the shop taxes a sale to a buyer. */
export type SaleTerms = TaxTerms & {
  /** The rate whose tax the catalog's price of a line contains and this buyer does not pay; null if the prices stay. */
  removed: TaxTerms['rateOf'] | null
}

/**
 * How the shop taxes a sale of lines to a buyer, by its settings and rates, line by line: what is shipped by the country
 * that it is shipped to, what is picked up by the shop's country, and the rest by the buyer's country. Without an address,
 * the shop's own country counts. A business in another member state of the EU than the shop owes the tax of what goes
 * there itself (Directive 2006/112/EC, articles 138 and 196).
 *
 * @param included whether the catalog's prices include the tax
 */
export function saleTerms(
  db: Db,
  buyer: TaxedBuyer,
  included: boolean = setting(db, 'tax.pricesIncludeTax')
): SaleTerms {
  const seller = vatCountry(setting(db, 'shop.country'))
  const places = placesOf(buyer, seller)
  const placeOf = (line: TaxedKind): TaxPlace => (isShipped(line.type) ? places.shipped : places.other)
  const ratesBy = new Map(
    [...new Set([seller, places.shipped.country, places.other.country])].map((country) => [
      country,
      ratesOfCountry(db, country)
    ])
  )
  const chargesTax = (ratesBy.get(seller) ?? []).length > 0
  const hasOwnRate = setting(db, 'tax.crossBorder') === 'own'
  const chargedRate = (line: TaxedKind): TaxRate | null => {
    const place = placeOf(line)
    const { country, region } =
      hasOwnRate && isElsewhereInEu(place.country, seller) ? { country: seller, region: '' } : place
    const rate = findRate(ratesBy.get(country) ?? [], region, line.taxClass)
    return rate && { ...rate, destination: place.country }
  }
  const isAccepted = buyer.vatCheck?.accepted ?? true
  const issuer = chargesTax && isAccepted ? issuerOf(buyer.vatId) : undefined
  const isOwed = (line: TaxedKind): boolean =>
    !isVoucher(line.type) &&
    isElsewhereInEu(placeOf(line).country, seller) &&
    isForeignBusiness(issuer, seller, isShipped(line.type))
  const rateOf = (line: TaxedKind): TaxRate | null => {
    const { country: destination } = placeOf(line)
    const untaxed = (category: TaxCategory): TaxRate => withoutRate(category, destination, destination)
    if (isVoucher(line.type)) return withoutRate('voucher', seller, destination)
    if (isSmallBusiness(db)) return withoutRate('small_business', seller, destination)
    if (isOwed(line)) return untaxed(isShipped(line.type) ? 'supply' : 'reverse_charge')
    const rate = chargedRate(line)
    if (rate !== null || !chargesTax) return rate
    if (isAbroad(destination, seller)) return untaxed(isShipped(line.type) ? 'export' : 'outside')
    return line.taxClass === 'zero' ? untaxed('zero') : null
  }
  const isRemoved = included && issuer !== undefined && !isSmallBusiness(db)
  return { included, rateOf, removed: isRemoved ? (line) => (isOwed(line) ? chargedRate(line) : null) : null }
}

/** Whether the tax of a sale depends on where the buyer is: the shop is in the EU and charges tax. */
export function dependsOnPlace(db: Db): boolean {
  return mayReverseCharge(db)
}

/** Whether the shop charges no tax at all, because it is a small business (§ 19 UStG, Directive 2006/112/EC, article 284). */
function isSmallBusiness(db: Db): boolean {
  return setting(db, 'tax.smallBusiness')
}

function withoutRate(category: TaxCategory, country: string, destination: string): TaxRate {
  const name = taxCategories[category].name ?? ''
  return { category, name, country, destination, region: '', rateMillionths: 0 }
}

/** Whether businesses elsewhere in the EU owe the tax: the shop is in the EU and charges tax at home, so it is not exempt. */
export function mayReverseCharge(db: Db): boolean {
  const seller = vatCountry(setting(db, 'shop.country'))
  return isInEu(seller) && !isSmallBusiness(db) && ratesOfCountry(db, seller).length > 0
}

/** Whether the VAT ids of a country, or of Northern Ireland (XI), can make a sale of the shop tax-free. */
export function isConfirmable(db: Db, issuer: string): boolean {
  return mayReverseCharge(db) && isForeignBusiness(issuer, vatCountry(setting(db, 'shop.country')), true)
}

function placesOf(buyer: TaxedBuyer, seller: string) {
  const toPlace = (known: Located | null): TaxPlace => {
    const country = vatCountry(known?.country ?? seller)
    return { country, region: regionKey(country, known?.state) }
  }
  const toGoodsPlace = (known: Located | null): TaxPlace =>
    isNorthernIreland(known) && isInEu(seller) ? { country: 'XI', region: '' } : toPlace(known)
  const shipped = destinationOf(buyer)
  return {
    shipped: toGoodsPlace(buyer.shippingMethod?.pickup === true ? null : shipped),
    other: toPlace(buyer.billingAddress?.country === undefined ? shipped : buyer.billingAddress)
  }
}

/** The postcodes of Northern Ireland, which is part of the EU for goods, begin with BT. */
function isNorthernIreland(place: Located | null): boolean {
  return place?.country === 'GB' && /^\s*BT\d/i.test(place.postcode ?? '')
}

/** The rates of a region replace those of its country. A class without a rate has the standard rate; `zero` has none. */
function findRate(
  rates: readonly TaxRateRow[],
  region: string,
  taxClass: TaxClass
): Omit<TaxRate, 'destination'> | null {
  const classes: readonly TaxClass[] = taxClass === 'zero' ? ['zero'] : [taxClass, 'standard']
  const candidates = [region, ''].flatMap((place) => classes.map((each) => ({ place, each })))
  for (const { place, each } of candidates) {
    const found = rates.find((rate) => rate.region === place && rate.class === each)
    if (found === undefined) continue
    const { name, country, region: where, rateMillionths } = found
    return { category: rateMillionths === 0 ? 'zero' : 'taxed', name, country, region: where, rateMillionths }
  }
  return null
}

function issuerOf(vatId: string | null): string | undefined {
  return vatId === null ? undefined : readVatId(vatId)?.country
}

/** Whether the issuer of a VAT id is another member state; for goods, also Northern Ireland. */
function isForeignBusiness(issuer: string | undefined, seller: string, isGoods: boolean): boolean {
  return issuer !== undefined && issuer !== seller && (isGoods ? isInEuForGoods(issuer) : isInEu(issuer))
}

/** Whether a country is outside the EU, or for a shop outside it, another one than the shop's. */
function isAbroad(country: string, seller: string): boolean {
  return country !== seller && !isElsewhereInEu(country, seller)
}

type Carried = { lines: readonly TaxedLine[]; shippingMinor: number }

/**
 * The tax of lines and their shipping. Shipping has the rates of the goods that are shipped, in proportion to their prices.
 * Each rate is rounded once, over the whole order.
 */
export function taxOf(terms: TaxTerms, carried: Carried, currency: string): OrderTax {
  const stepMinor = chargeStepMinor(currency)
  return toOrderTax(terms, carried, taxesOf(taxablesOf(terms, carried), { included: terms.included, stepMinor }))
}

/** The tax in what a buyer paid for lines and their shipping, which can be another amount than their total. */
export function taxInPaid(terms: TaxTerms, carried: Carried, paidMinor: number): OrderTax {
  return toOrderTax(terms, carried, taxesInPaid(paidMinor, taxablesOf(terms, carried), terms))
}

/** The price of shipping without the taxes that it includes. */
export function shippingWithoutTax(
  rateOf: TaxTerms['rateOf'],
  { lines, shippingMinor }: Carried,
  currency: string
): number {
  const shares = shippingShares(lines, shippingMinor)
  const net = lines.map((line, index) => withoutTax(shares[index] ?? 0, rateOf(line), 1))
  const stepMinor = chargeStepMinor(currency)
  return Math.round(net.reduce((sum, share) => sum + share, 0) / stepMinor) * stepMinor
}

function taxablesOf({ rateOf }: TaxTerms, { lines, shippingMinor }: Carried): Taxable[] {
  const shares = shippingShares(lines, shippingMinor)
  return lines.map((line, index) => ({
    rate: rateOf(line),
    goodsMinor: line.totalMinor,
    shippingMinor: shares[index] ?? 0
  }))
}

/** Each line's share of the shipping: by price, or by price before discounts if discounts take off everything. */
export function shippingShares(
  lines: readonly Pick<TaxedLine, 'type' | 'totalMinor' | 'discountMinor'>[],
  shippingMinor: number
): number[] {
  if (shippingMinor === 0 || lines.length === 0) return lines.map(() => 0)
  const shipped = lines.map((line) => (isShipped(line.type) ? line : { totalMinor: 0, discountMinor: 0 }))
  const prices = shipped.map(({ totalMinor }) => totalMinor)
  if (prices.some((price) => price > 0)) return shareEvenly(shippingMinor, prices)
  return shareEvenly(
    shippingMinor,
    shipped.map(({ discountMinor }) => discountMinor)
  )
}

function toOrderTax({ included, rateOf }: TaxTerms, sold: Carried, { lines, goodsMinor }: Taxes): OrderTax {
  const amountMinor = lines.reduce((sum, line) => sum + line.amountMinor, 0)
  const rowOf = sold.lines.map((line) => {
    const rate = rateOf(line)
    const row = rate === null ? -1 : lines.findIndex((tax) => rateKey(tax) === rateKey(rate))
    return row === -1 ? null : row
  })
  return { included, amountMinor, goodsMinor, lines, rowOf }
}

/** A tax rate and the place whose rate it is. Rates are exact: 8.875 % is 88 750 millionths. */
export type TaxRate = {
  category: TaxCategory
  /** What buyers read; empty for a sale without tax of which they read nothing. */
  name: string
  /** Where the tax is owed. */
  country: string
  region: string
  /** The country of the buyer, or to which the goods go. It is another one if consumers there pay the shop's own rate. */
  destination: string
  rateMillionths: number
}

/** What an order owes at one rate, in minor units: the amount without the tax, and the tax. */
export type TaxLine = TaxRate & { baseMinor: number; amountMinor: number }

/** Goods and the shipping that they carry, in minor units. A null rate means that they are not taxed. */
export type Taxable = { rate: TaxRate | null; goodsMinor: number; shippingMinor: number }

/** The tax of an order: a line for each rate, and the part of the tax that is on the goods. */
export type Taxes = { lines: TaxLine[]; goodsMinor: number }

/**
 * A rate as people read it: `19 % VAT`. VAT is named as in the language. A rate of zero has only its name, or says why
 * there is no tax.
 */
export function rateLabel(
  { category, name, rateMillionths }: Pick<TaxRate, 'category' | 'name' | 'rateMillionths'>,
  texts: Texts = textsIn('en')
): string {
  const label = name === '' && category !== 'taxed' ? texts.t(`tax.${category}`) : taxName(name, texts)
  return rateMillionths === 0 ? label : `${percent(rateMillionths / 10_000, { language: texts.lang })} ${label}`
}

const million = 1_000_000n

/**
 * The taxes of amounts, rounded once for each rate. With `included`, the amounts contain the tax. Otherwise the tax is
 * added to them, and is a multiple of `stepMinor`, so that the currency can charge the sum.
 */
export function taxesOf(
  taxables: readonly Taxable[],
  { included, stepMinor }: { included: boolean; stepMinor: number }
): Taxes {
  return sumTaxes(byRate(taxables), ({ rate, ...group }) => {
    const amountMinor = sumOf(group)
    if (included) return grossLine(rate, amountMinor)
    return { ...rate, baseMinor: amountMinor, amountMinor: taxOn(amountMinor, rate, stepMinor) }
  })
}

/**
 * The taxes in a sum that was paid, with its taxes, for goods and their shipping: the sum is distributed in proportion to
 * what they cost. For an order whose buyer paid another amount, and for renewals.
 */
export function taxesInPaid(
  paidMinor: number,
  taxables: readonly Taxable[],
  { included }: { included: boolean }
): Taxes {
  const groups = byRate(taxables)
  const costs = groups.map(({ rate, ...group }) => {
    const amountMinor = sumOf(group)
    return included || rate === null ? amountMinor : amountMinor + taxOn(amountMinor, rate)
  })
  const shares = shareEvenly(paidMinor, costs)
  return sumTaxes(groups, ({ rate }, index) => grossLine(rate, shares[index] ?? 0))
}

/** A price without the tax that it includes, as a multiple of `stepMinor`. */
export function withoutTax(grossMinor: number, rate: TaxRate | null, stepMinor: number): number {
  if (rate === null) return grossMinor
  return timesRatio(grossMinor, million, (million + BigInt(rate.rateMillionths)) * BigInt(stepMinor)) * stepMinor
}

/** Divides an amount by weight; evenly if no weight is above zero. */
export function shareEvenly(amountMinor: number, weights: readonly number[]): number[] {
  return shareMinor(amountMinor, weights.some((weight) => weight > 0) ? weights : weights.map(() => 1))
}

function rateKey({ category, country, region, destination, name, rateMillionths }: TaxRate): string {
  return JSON.stringify([category, country, region, destination, name, rateMillionths])
}

type Group = Taxable & { rate: TaxRate | null }

/** The sums of each rate, in the order of the amounts. */
function byRate(taxables: readonly Taxable[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { rate, goodsMinor, shippingMinor } of taxables) {
    const key = rate === null ? '' : rateKey(rate)
    const { goodsMinor: goods, shippingMinor: shipping } = groups.get(key) ?? { goodsMinor: 0, shippingMinor: 0 }
    groups.set(key, { rate, goodsMinor: goods + goodsMinor, shippingMinor: shipping + shippingMinor })
  }
  return [...groups.values()]
}

/** The tax lines of the groups that have a rate, and the part of their taxes that is on goods. */
function sumTaxes(
  groups: readonly Group[],
  lineOf: (group: Taxable & { rate: TaxRate }, index: number) => TaxLine
): Taxes {
  const taxes: Taxes = { lines: [], goodsMinor: 0 }
  for (const [index, { rate, ...amounts }] of groups.entries()) {
    if (rate === null) continue
    const line = lineOf({ rate, ...amounts }, index)
    taxes.lines.push(line)
    const wholeMinor = sumOf(amounts)
    taxes.goodsMinor +=
      wholeMinor === 0 ? line.amountMinor : timesRatio(line.amountMinor, amounts.goodsMinor, wholeMinor)
  }
  return taxes
}

function grossLine(rate: TaxRate, grossMinor: number): TaxLine {
  const amountMinor = timesRatio(grossMinor, rate.rateMillionths, million + BigInt(rate.rateMillionths))
  return { ...rate, baseMinor: grossMinor - amountMinor, amountMinor }
}

function taxOn(netMinor: number, { rateMillionths }: TaxRate, stepMinor = 1): number {
  return timesRatio(netMinor, rateMillionths, million * BigInt(stepMinor)) * stepMinor
}

function sumOf({ goodsMinor, shippingMinor }: Omit<Taxable, 'rate'>): number {
  return goodsMinor + shippingMinor
}

/** amount × numerator ÷ denominator, rounded half up; exact for every safe integer. */
function timesRatio(amountMinor: number, numerator: number | bigint, denominator: number | bigint): number {
  const divisor = BigInt(denominator)
  return Number((2n * BigInt(amountMinor) * BigInt(numerator) + divisor) / (2n * divisor))
}
