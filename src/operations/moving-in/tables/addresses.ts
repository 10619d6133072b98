import { splitName } from '../customers.ts'
import type { AddressPart } from '../customers.ts'
import type { Fields } from './csv-file.ts'

/** The field of each part of an address, apart from the names. */
export const addressTitles = {
  company: 'company',
  address_1: 'address1',
  address_2: 'address2',
  city: 'city',
  postcode: 'postcode',
  state: 'state',
  country: 'country'
} as const satisfies Partial<Record<AddressPart, string>>

/** The fields of the billing or shipping address of an order, with their titles in Shopify's export. */
export function addressFields(kind: 'billing' | 'shipping'): Fields {
  const title = kind === 'billing' ? 'Billing' : 'Shipping'
  return {
    [`${kind}Name`]: [`${title} Name`],
    [`${kind}FirstName`]: [],
    [`${kind}LastName`]: [],
    [`${kind}Company`]: [`${title} Company`],
    [`${kind}Address1`]: [`${title} Address1`],
    [`${kind}Address2`]: [`${title} Address2`],
    [`${kind}City`]: [`${title} City`],
    [`${kind}Postcode`]: [`${title} Zip`],
    [`${kind}State`]: [`${title} Province`],
    [`${kind}Country`]: [`${title} Country`, `${kind}_country`],
    [`${kind}Phone`]: [`${title} Phone`]
  }
}

/** A part of an address of an order. The last word of a whole name is the last name. */
export function addressPart(
  text: (field: string) => string,
  kind: 'billing' | 'shipping',
  part: AddressPart | 'phone' | 'email'
): string {
  if (part === 'email') return ''
  if (part === 'phone') return text(`${kind}Phone`)
  if (part === 'first_name') return text(`${kind}FirstName`) || splitName(text(`${kind}Name`)).firstName
  if (part === 'last_name') return text(`${kind}LastName`) || splitName(text(`${kind}Name`)).lastName
  const field = addressTitles[part]
  const value = text(`${kind}${field.charAt(0).toUpperCase()}${field.slice(1)}`)
  return part === 'country' ? value.toUpperCase() : value
}
