import { countryCodes } from '../shop/checkout/countries.ts'

export type Country = { code: string; name: string }

/** The countries of an address form, sorted by name. */
export function countries(): Country[] {
  const names = new Intl.DisplayNames('en', { type: 'region' })
  const named = countryCodes().map((code) => ({ code, name: names.of(code) ?? code }))
  return named.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}
