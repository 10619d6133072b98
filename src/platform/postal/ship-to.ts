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
