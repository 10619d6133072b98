import type { Db } from '../../platform/db/database.ts'
import { countryCodes } from '../../platform/postal/countries.ts'
import { shipToOf } from '../../platform/postal/ship-to.ts'
import type { Addresses, Place } from '../../platform/postal/ship-to.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address } from '../orders/address.ts'
import { setting } from '../settings/settings.ts'
import { needsAddress } from '../shipping/costs.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { everywhereElse, zoneCountries } from '../shipping/zones.ts'

/** The codes of the countries that the shop ships to: those of the setting that have a shipping zone, if there are zones. */
export function shipToCountries(db: Db): readonly string[] {
  const listed = setting(db, 'checkout.shipTo')
  const wanted = listed.length === 0 ? countryCodes() : listed
  const zoned = new Set(zoneCountries(db))
  return zoned.size === 0 || zoned.has(everywhereElse) ? wanted : wanted.filter((country) => zoned.has(country))
}

/** Whether an order needs an address, but has none in a country that the shop ships to. */
export function lacksAddress(
  db: Db,
  lines: readonly { type: ProductType }[],
  { shippingMethod, ...addresses }: Addresses<Address> & { shippingMethod: Pick<ChosenMethod, 'pickup'> | null }
): boolean {
  if (!needsAddress(lines, shippingMethod)) return false
  const address = shipToOf(addresses)
  return address === null || isElsewhere(db, address)
}

function isElsewhere(db: Db, { country }: Place): boolean {
  // A zone cannot be found without a country.
  if (country === undefined) return zoneCountries(db).length > 0
  return !shipToCountries(db).includes(country)
}
