import type { Site } from './storefront/site.ts'
import { textsIn } from './texts/languages.ts'

/** The shop, as this server reaches it. */
export const shopUrl = process.env['SHOP_URL'] ?? 'http://127.0.0.1:3000'
/** The shop, as browsers open it: payment pages, links in emails, pictures. */
export const shopPublicUrl = process.env['SHOP_PUBLIC_URL'] ?? 'http://localhost:3000'
/** The header in which a web server in front of this one sends the visitor's address. */
export const addressHeader = process.env['CLIENT_ADDRESS_HEADER']?.toLowerCase()

const language = 'en'
const currency = 'EUR'

/** What this site says about itself. Products, carts and people come from the shop. Change it as you like. */
export const site: Site = {
  name: 'My shop',
  tagline: 'A few good things, made with care',
  logoUrl: '',
  accentColor: '',
  contact: '',
  // At the foot of each page. The shop's own texts of "shopstead law init" are at `${shopPublicUrl}/law/imprint` and so on.
  links: [],
  // What a buyer should read before the order, such as { label: 'Terms', url: `${shopPublicUrl}/law/terms` }.
  readFirst: [],
  language,
  ...textsIn(language),
  // The shop's time zone, as in its setting shop.timeZone.
  timeZone: 'UTC',
  languages: [],
  // The shop's currency, as in its setting shop.currency.
  currency,
  decimals: new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2,
  publicUrl: process.env['SITE_URL'] ?? 'http://localhost:8080',
  proxy: '/api/secure',
  hasAffiliates: true,
  // The cart says so by itself when the shop is on holiday. This hides "Add to cart" too.
  holiday: null,
  // True for a shop in the EU: buttons and prices follow its law of selling to consumers.
  isEuLaw: false,
  // True to ask visitors of affiliates before this site stores where they came from, as in the shop's setting law.consent.
  asksConsent: false,
  pricesIncludeTax: true,
  shippingUrl: `${shopPublicUrl}/shipping-costs`,
  // Shows a note on each page that nothing is charged. Remove it when the shop takes real payments.
  isSandbox: process.env['NODE_ENV'] !== 'production',
  minLength: 8,
  cart: () => ({ testCards: [], byHand: false, takesVatId: false, accounts: true }),
  // For search engines: until when buyers may send goods back, and what shipping costs.
  returns: null,
  shippingTo: () => []
}
