import type { Db } from '../../platform/db/database.ts'
import { countryCodes } from '../../platform/postal/countries.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address } from '../orders/address.ts'
import { setting } from '../settings/settings.ts'

/** The addresses of a checkout or an order. */
type Addresses = { shippingAddress?: Address | null | undefined; billingAddress?: Address | null | undefined }

/** The codes of the countries that the shop ships to. */
export function shipToCountries(db: Db): readonly string[] {
  const listed = setting(db, 'checkout.shipTo')
  return listed.length === 0 ? countryCodes() : listed
}

/** The address that an order is shipped to: without a shipping address, the billing address; null without a street. */
export function shipToOf({ shippingAddress, billingAddress }: Addresses): Address | null {
  return [shippingAddress, billingAddress].find((address) => address?.address1 !== undefined) ?? null
}

/** Whether there is something to ship, but no address in a country that the shop ships to. */
export function lacksAddress(db: Db, lines: readonly { type: ProductType }[], addresses: Addresses): boolean {
  if (!needsShipping(lines)) return false
  const address = shipToOf(addresses)
  return address === null || (address.country !== undefined && !shipToCountries(db).includes(address.country))
}
