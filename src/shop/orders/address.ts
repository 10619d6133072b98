import { z } from 'zod'
import { postalAddress, shipToOf } from '../../platform/postal/address.ts'

const part = z.string().exactOptional()

/** An address as the buyer entered it. */
export const orderAddress = postalAddress.extend({ phone: part, email: part })
export type Address = z.output<typeof orderAddress>

/** The buyer's name, company and phone number as they were entered with the order. */
export const orderContact = z.object({ firstName: part, lastName: part, phone: part, companyName: part })
export type OrderContact = z.output<typeof orderContact>

type Names = Partial<Record<'firstName' | 'lastName' | 'company' | 'companyName', string | null | undefined>>

/** Whether an address or the contact of an order names who gets a parcel: a person or a company. */
export function isNamed(...parties: readonly (Names | null)[]): boolean {
  return parties.some((party) => [party?.firstName, party?.lastName, party?.company, party?.companyName].some(Boolean))
}

/** The names of persons and companies in addresses and the contact of an order. */
export function partyNames(...parties: readonly (Names | null)[]): string[] {
  return parties.flatMap((party) => {
    const { firstName, lastName, company, companyName } = party ?? {}
    const person = [firstName, lastName].filter(Boolean).join(' ')
    return [person, company, companyName].flatMap((name) => (name ? [name] : []))
  })
}

/** The names in an address, without the place. */
export function namesOf(address: Address | null): Pick<Address, 'firstName' | 'lastName' | 'company'> {
  const {
    address1: _1,
    address2: _2,
    city: _3,
    state: _4,
    postcode: _5,
    country: _6,
    phone: _7,
    email: _8,
    ...names
  } = address ?? {}
  return names
}

type Shipped = {
  status: string
  shippingMethod: { pickup: boolean } | null
  shippingAddress: Address | null
  billingAddress: Address | null
}

/** Whether an order is paid, but its buyer has not said yet where to ship it (setting checkout.missingAddress). */
export function waitsForAddress({ status, shippingMethod, ...addresses }: Shipped): boolean {
  return status === 'processing' && shippingMethod?.pickup === false && shipToOf(addresses) === null
}

/** The path of the page on which the buyer of such an order enters the address. */
export function addressPath({ publicToken }: { publicToken: string }): string {
  return `/checkout/address/${publicToken}`
}
