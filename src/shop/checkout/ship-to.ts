import type { Db } from '../../platform/db/database.ts'
import { countryCodes } from '../../platform/postal/countries.ts'
import { shipToOf } from '../../platform/postal/ship-to.ts'
import type { Addresses, Place } from '../../platform/postal/ship-to.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address } from '../orders/address.ts'
import { setting } from '../settings/settings.ts'
import { everywhereElse, zoneCountries } from '../shipping/zones.ts'

/** The codes of the countries that the shop ships to: those of the setting that have a shipping zone, if there are zones. */
export function shipToCountries(db: Db): readonly string[] {
  const listed = setting(db, 'checkout.shipTo')
  const wanted = listed.length === 0 ? countryCodes() : listed
  const zoned = new Set(zoneCountries(db))
  return zoned.size === 0 || zoned.has(everywhereElse) ? wanted : wanted.filter((country) => zoned.has(country))
}

/** Whether there is something to ship, but no address in a country that the shop ships to. */
export function lacksAddress(db: Db, lines: readonly { type: ProductType }[], addresses: Addresses<Address>): boolean {
  if (!needsShipping(lines)) return false
  const address = shipToOf(addresses)
  return address === null || isElsewhere(db, address)
}

function isElsewhere(db: Db, { country }: Place): boolean {
  // A zone cannot be found without a country.
  if (country === undefined) return zoneCountries(db).length > 0
  return !shipToCountries(db).includes(country)
}
