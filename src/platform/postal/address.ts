import type { Language } from '../texts/languages.ts'
import { z } from 'zod'
import { countryName } from './countries.ts'
import { postalFormat } from './format.ts'
import type { PostalField } from './format.ts'

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
export function postalLines(address: PostalAddress, language: Language = 'en'): string[] {
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
    country === undefined ? '' : countryName(country, language)
  ].filter((line) => line !== '')
}

function joined(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}
