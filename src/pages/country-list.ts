import type { Db } from '../platform/db/database.ts'
import { countryName } from '../platform/postal/countries.ts'
import type { PostalLanguage } from '../platform/postal/texts.ts'
import { shipToCountries } from '../shop/checkout/shipping.ts'

export type Country = { code: string; name: string }

/** The countries of an address form, which are those that the shop ships to, sorted by name. */
export function countries(db: Db, language: PostalLanguage): Country[] {
  const named = shipToCountries(db).map((code) => ({ code, name: countryName(code, language) }))
  return named.toSorted((a, b) => a.name.localeCompare(b.name, language))
}
