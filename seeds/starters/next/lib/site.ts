/** What this site says about itself. Products, carts and people come from the shop. */
export const site = {
  name: 'My shop',
  tagline: 'A few good things, made with care',
  language: 'en',
  /** The shop's time zone, as in its setting shop.timeZone. */
  timeZone: 'UTC'
}

/** The address of this site, as browsers open it. */
export const siteUrl = process.env.SITE_URL ?? 'http://localhost:3001'

/** The shop, as this server reaches it. */
export const shopUrl = process.env.SHOP_URL ?? 'http://127.0.0.1:3000'

/**
 * The header with a visitor's address. Next.js itself sets x-forwarded-for, but a visitor could send it to a server on the
 * internet, so it counts only in development.
 */
const addressHeader =
  process.env.CLIENT_ADDRESS_HEADER ?? (process.env.NODE_ENV === 'development' ? 'x-forwarded-for' : undefined)

/** A visitor's address, by which the shop limits logins and checkouts. */
export function clientAddressIn(headers: { get(name: string): string | null }): string | null {
  return addressHeader === undefined ? null : headers.get(addressHeader)
}
