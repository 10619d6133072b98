import type { PostalLanguage } from './words.ts'
import { z } from 'zod'
import { postalFormat } from './format.ts'
import type { PostalField } from './format.ts'

// ISO 3166-1 alpha-2, the officially assigned codes. Intl's own list also has retired and reserved ones (UK, SU, AN).
const assigned = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA ' +
    'CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA ' +
    'GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP ' +
    'KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS ' +
    'MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS ' +
    'RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW ' +
    'TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' ')
)

/** Whether `code` is the upper-case code of a country or territory. */
export function isCountry(code: string): boolean {
  return assigned.has(code)
}

/** The codes of all countries and territories, sorted. */
export function countryCodes(): string[] {
  return [...assigned]
}

const names = {
  en: new Intl.DisplayNames('en', { type: 'region' }),
  de: new Intl.DisplayNames('de', { type: 'region' })
} as const satisfies Record<PostalLanguage, Intl.DisplayNames>

/** The name of a country. A text that is not a country stays as it is. */
export function countryName(code: string, language: PostalLanguage = 'en'): string {
  return isCountry(code) ? (names[language].of(code) ?? code) : code
}

/** What decides where to ship to. */
export type Place = { address1?: string | undefined; country?: string | undefined }

/** The addresses of a checkout or an order. */
export type Addresses<A extends Place> = {
  shippingAddress?: A | null | undefined
  billingAddress?: A | null | undefined
}

/** The address that an order is shipped to: without a shipping address, the billing address; null without a street. */
export function shipToOf<A extends Place>({ shippingAddress, billingAddress }: Addresses<A>): A | null {
  return [shippingAddress, billingAddress].find((address) => address?.address1 !== undefined) ?? null
}

/** The address whose country something is shipped to, as far as it is known. An address with a street comes first. */
export function destinationOf<A extends Place>(addresses: Addresses<A>): A | null {
  const { shippingAddress, billingAddress } = addresses
  return [shipToOf(addresses), shippingAddress, billingAddress].find((place) => place?.country !== undefined) ?? null
}

const part = z.string().exactOptional()

/** The parts of an address; a part that is unknown is missing. */
export const postalAddress = z.object({
  firstName: part,
  lastName: part,
  company: part,
  address1: part,
  address2: part,
  city: part,
  state: part,
  postcode: part,
  country: part
})
export type PostalAddress = z.output<typeof postalAddress>

/** The lines of an address as its country writes them, the country last. Parts outside the country's format are kept. */
export function postalLines(address: PostalAddress): string[] {
  const { country } = address
  const { lines } = postalFormat(country ?? '')
  const parts: Readonly<Record<PostalField, string | undefined>> = {
    A: joined([address.address1, address.address2], ', '),
    C: address.city,
    S: address.state,
    Z: address.postcode
  }
  const extra = (['C', 'S', 'Z'] as const).filter((field) => !lines.flat().includes(field))
  return [
    joined([address.firstName, address.lastName], ' '),
    address.company ?? '',
    ...[...lines, extra].map((line) =>
      joined(
        line.map((field) => parts[field]),
        ' '
      )
    ),
    country === undefined ? '' : countryName(country)
  ].filter((line) => line !== '')
}

function joined(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}
