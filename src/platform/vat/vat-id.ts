import { checkVAT, countries } from 'jsvat-next'

/** The longest VAT id with its separators. A longer text is not read. */
const longest = 30
/** Ids of other countries do not start with a country code, or are not VAT ids. */
const withPrefix = countries.filter(({ codes: [code = ''] }) => !['AU', 'BR', 'EU', 'NO', 'RU'].includes(code))

/** A VAT id without separators, and the ISO 3166-1 code of the country that issued it. */
export type VatId = { id: string; country: string }

/**
 * Reads a VAT id with its country code, such as `ATU 1234 5675`, and checks its form and its check digit. This does not
 * prove that the id is registered. Undefined if it is not a VAT id.
 */
export function readVatId(text: string): VatId | undefined {
  if (text.length > longest) return undefined
  // Greece's ids start with EL; many people write the country's usual code.
  const typed = text.trim().replace(/^GR/i, 'EL')
  const { isValid, value, country } = checkVAT(typed, withPrefix)
  return isValid && value !== undefined && country !== undefined
    ? { id: value, country: country.isoCode.short }
    : undefined
}
