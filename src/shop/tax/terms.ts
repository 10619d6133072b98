import type { Db } from '../../platform/db/database.ts'
import { rowsStatement } from '../../platform/db/statements.ts'
import { regionKey } from '../../platform/postal/region.ts'
import { destinationOf } from '../../platform/postal/ship-to.ts'
import type { Place } from '../../platform/postal/ship-to.ts'
import { isInEu } from '../../platform/vat/eu.ts'
import { readVatId } from '../../platform/vat/vat-id.ts'
import { isShipped } from '../catalog/product-types.ts'
import type { TaxClass } from './input.ts'
import { setting } from '../settings/settings.ts'
import type { TaxRate } from './arithmetic.ts'
import type { TaxRateRow } from './rows.ts'
import { taxRates } from './schema.ts'
import type { TaxedKind, TaxTerms } from './tax-of.ts'

const ratesOfCountry = rowsStatement(taxRates, 'country = ?')

/** A country and its state or province, in upper case; the region is empty if it is unknown. */
type TaxPlace = { country: string; region: string }

/** What decides the place of a sale; a part that is unknown is missing. */
type Located = Place & { state?: string | undefined }

/** What is known about a buyer for the tax. */
export type TaxedBuyer = {
  shippingAddress: Located | null
  billingAddress: Located | null
  /** As the buyer typed it. */
  vatId: string | null
}

/** How the shop taxes a sale to a buyer. */
export type SaleTerms = TaxTerms & {
  /** Whether the buyer owes the tax instead of the shop, so that prices are without it. */
  reverseCharge: boolean
  /** The rate whose tax the catalogue's prices contain and this buyer does not pay; null if prices stay as they are. */
  removed: TaxTerms['rateOf'] | null
}

/**
 * How the shop taxes a sale of lines to a buyer, by its settings and rates: what is shipped by the country that it is
 * shipped to, and the rest by the buyer's country. Without an address, the shop's own country counts. A business in
 * another member state of the EU than the shop owes the tax itself (reverse charge, Directive 2006/112/EC, articles 138
 * and 196).
 *
 * @param included whether the catalogue's prices include the tax
 */
export function saleTerms(
  db: Db,
  buyer: TaxedBuyer,
  lines: readonly TaxedKind[],
  included: boolean = setting(db, 'tax.pricesIncludeTax')
): SaleTerms {
  const seller = setting(db, 'shop.country')
  const places = placesOf(buyer, seller)
  const placeOf = (line: TaxedKind): TaxPlace => (isShipped(line.type) ? places.shipped : places.other)
  const rates = new Map(
    [...new Set([places.shipped.country, places.other.country])].map((country) => [
      country,
      ratesOfCountry(db, country)
    ])
  )
  const rateOf = (line: TaxedKind): TaxRate | null => {
    const place = placeOf(line)
    return findRate(rates.get(place.country) ?? [], place.region, line.taxClass)
  }
  const reverseCharge =
    isForeignBusiness(buyer.vatId, seller) &&
    lines.every((line) => isElsewhereInEu(placeOf(line), seller)) &&
    mayReverseCharge(db)
  if (!reverseCharge) return { included, reverseCharge, rateOf, removed: null }
  return {
    included: false,
    reverseCharge,
    rateOf: (line) => ({ name: 'Reverse charge', country: placeOf(line).country, region: '', rateMillionths: 0 }),
    removed: included ? rateOf : null
  }
}

/** Whether businesses elsewhere in the EU owe the tax: the shop is in the EU and charges tax at home, so it is not exempt. */
export function mayReverseCharge(db: Db): boolean {
  const seller = setting(db, 'shop.country')
  return isInEu(seller) && ratesOfCountry(db, seller).length > 0
}

function placesOf(buyer: TaxedBuyer, seller: string) {
  const toPlace = (known: Located | null): TaxPlace => {
    const country = known?.country ?? seller
    return { country, region: regionKey(country, known?.state) }
  }
  const shipped = destinationOf(buyer)
  return {
    shipped: toPlace(shipped),
    other: toPlace(buyer.billingAddress?.country === undefined ? shipped : buyer.billingAddress)
  }
}

/** The rates of a region replace those of its country. A class without a rate has the standard rate; `zero` has none. */
function findRate(rates: readonly TaxRateRow[], region: string, taxClass: TaxClass): TaxRate | null {
  const classes: readonly TaxClass[] = taxClass === 'zero' ? ['zero'] : [taxClass, 'standard']
  const candidates = [region, ''].flatMap((place) => classes.map((each) => ({ place, each })))
  for (const { place, each } of candidates) {
    const found = rates.find((rate) => rate.region === place && rate.class === each)
    if (found === undefined) continue
    const { name, country, region: where, rateMillionths } = found
    return { name, country, region: where, rateMillionths }
  }
  return null
}

function isForeignBusiness(vatId: string | null, seller: string): boolean {
  const issuer = vatId === null ? undefined : readVatId(vatId)?.country
  return issuer !== undefined && isInEu(issuer) && issuer !== seller
}

function isElsewhereInEu({ country }: TaxPlace, seller: string): boolean {
  return isInEu(seller) && isInEu(country) && country !== seller
}
