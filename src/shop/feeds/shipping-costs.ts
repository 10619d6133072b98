import type { Db } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'
import { everywhereElse, methodsOfCountry, offeredFor, zoneCountries } from '../shipping/zones.ts'
import type { Goods, MethodRow, OfferedMethod } from '../shipping/zones.ts'

/** A country that the shop ships to, with its methods; null for free shipping. */
export type Destination = { country: string; methods: MethodRow[] | null }

/** Market places and search engines read this many. */
const mostDestinations = 100

/** The countries of the zones and the shop's own, as far as the shop ships there. Without zones shipping is free. */
export function destinations(db: Db): Destination[] {
  const home = setting(db, 'shop.country')
  const wanted = setting(db, 'checkout.shipTo')
  const zones = zoneCountries(db)
  const named = zones.filter((code) => code !== everywhereElse)
  const countries = [...new Set([...(home === '' ? [] : [home]), ...wanted, ...named])]
  return countries
    .filter((country) => wanted.length === 0 || wanted.includes(country))
    .slice(0, mostDestinations)
    .flatMap((country): Destination[] => {
      if (zones.length === 0) return [{ country, methods: null }]
      const methods = methodsOfCountry(db, country)
      return methods === undefined ? [] : [{ country, methods }]
    })
}

/** The cheapest method for the goods; undefined for a country whose methods do not take them. The name of free shipping is empty. */
export function cheapestTo(
  { methods }: Destination,
  goods: Goods,
  currency: string
): Pick<OfferedMethod, 'name' | 'amountMinor'> | undefined {
  if (methods === null) return { name: '', amountMinor: 0 }
  const offered = offeredFor(methods, { goods: [goods], renewing: [], currency })
  return offered.toSorted((a, b) => a.amountMinor - b.amountMinor)[0]
}
