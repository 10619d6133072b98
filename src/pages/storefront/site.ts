import type { Card, Image } from '../../client/api-types.ts'
import type { Client } from '../../client/client.ts'
import { dayText } from '../../platform/texts/languages.ts'
import type { Language, Translate } from '../../platform/texts/languages.ts'

/** What a site knows about itself. Everything about products, carts and people comes from the API. */
export type Site = {
  name: string
  tagline: string
  /** Empty for none. */
  logoUrl: string
  /** `#rrggbb`; empty for the default colour. */
  accentColor: string
  contact: string
  /** At the foot of each page. */
  links: { label: string; url: string }[]
  /** What a buyer should read before the order: terms, right of withdrawal and privacy policy. */
  readFirst: { label: string; url: string }[]
  /** A BCP 47 tag such as `de`, for numbers and days. */
  language: string
  /** The language of the storefront's own texts: `language`, or English if it has none in that language. */
  lang: string
  /** The language of the texts without its country. */
  textLanguage: Language
  t: Translate
  /** The shop's, such as Europe/Berlin, whose days the pages show. */
  timeZone: string
  /** The languages to choose from, by their own names; none in a shop with one language. */
  languages: { tag: string; name: string; isShown: boolean }[]
  currency: string
  /** How many decimals the currency has. */
  decimals: number
  /** Without a trailing slash. */
  publicUrl: string
  /** The path of the first-party proxy. */
  proxy: string
  hasAffiliates: boolean
  /** What the shop says while it takes no orders, and the last day of that; null while it sells. */
  holiday: { message: string; until: string } | null
  /** Whether the pages follow the EU law of selling to consumers. */
  isEuLaw: boolean
  /** Whether visitors are asked before the site stores in their browser where they came from. */
  asksConsent: boolean
  /** Whether prices include the tax; null for a shop without tax. */
  pricesIncludeTax: boolean | null
  /** The page with the costs of shipping. */
  shippingUrl: string
  /** Whether payments go to the sandbox. */
  isSandbox: boolean
  /** The least characters of a password. */
  minLength: number
  /** What the cart offers. Only its page asks. */
  cart: () => CartChoices
  /** Until when buyers may send goods back, in these countries; null if the site says nothing about it. */
  returns: { days: number; isFree: boolean; countries: readonly string[] } | null
  /** What shipping one unit costs to each country, in major units; empty if the site says nothing about it. */
  shippingTo: (unit: ShippedUnit) => { country: string; amount: number }[]
}

/** One unit of a product that is shipped, with its price in major units. */
export type ShippedUnit = { type: Card['type']; weightGrams: number | null; amount: number }

/** What the cart offers. */
export type CartChoices = {
  /** Test cards that pay on the site itself; empty without the sandbox. */
  testCards: readonly { token: string; label: string }[]
  /** Whether buyers may pay by bank transfer. */
  byHand: boolean
  /** Whether businesses may enter a VAT id. */
  takesVatId: boolean
  /** Whether a guest may create an account with the order. */
  accounts: boolean
}

/** A field of an address, in the way of its country. */
export type AddressField = {
  name: string
  label: string
  type: 'text'
  autocomplete: string
  required: boolean
  value: string | undefined
  errors: readonly string[] | undefined
  options?: readonly { value: string; label: string }[]
}

/** The form of an address: a list of fields for each line, in the order in which the country writes them. */
export type AddressForm = {
  texts: { title: string; country: string; choose: string; changeCountry: string }
  /** Where the shop ships to, if that is one country. */
  shipsTo: string | null
  countries: readonly { code: string; name: string }[]
  /** Null while it is not known; then there are no other fields. */
  country: { code: string; name: string } | null
  countryErrors: readonly string[] | undefined
  rows: AddressField[][]
}

/** The request of a page. */
export type Visit = {
  site: Site
  /** The API, with the cookies of the visitor. The response gets the cookies that the API sets. */
  client: Client
  query: URLSearchParams
  /** The parameter of the path, such as a product's slug. */
  param: string
  /** The value of one of the visitor's cookies. */
  cookie: (name: string) => string | undefined
  form: () => Promise<URLSearchParams>
  /**
   * The form of an address with what was typed, by the rules of its country. `check` adds what is wrong with it. Without a
   * country it is that of the visitor's language.
   */
  addressForm: (typed: Readonly<Record<string, string>>, check: boolean) => Promise<AddressForm>
}

/** What search engines and link previews read. `path` is the one address of the page; null keeps it out of search results. */
export type Meta = { description: string; path: string | null; image: Image | null; jsonLd: object | null }

export type ShownPage = {
  status?: number
  template: string
  title: string
  data?: object
  meta?: Meta
  cookies?: string[]
}

export type Shown =
  | ShownPage
  /** `isMoved` is for good. */
  | { redirect: string; isMoved?: true; cookies?: string[] }
  /** A file, such as a sitemap. */
  | { text: string; type: string }

/** A page that does not exist. */
export class PageNotFound extends Error {}

/** The data of a page's template, besides the addresses of assets. */
export function templateData({ title, data, meta }: ShownPage, site: Site, path: string): object {
  const shownMeta = meta === undefined ? null : metaFacts(meta, site)
  const holiday = holidayText(site)
  const blank = { search: '', isSignedIn: false, hasNav: true, error: null, holiday }
  return { title, site, t: site.t, path, ...blank, share: shareOf(meta, site), meta: shownMeta, ...data }
}

/** What every page says during a holiday; null outside of one. */
export function holidayText(site: Site): string | null {
  if (site.holiday === null) return null
  const { message, until } = site.holiday
  return [message, site.t('holiday', { day: dayText(until, site) })].filter((part) => part !== '').join('\n')
}

/** What a link to the page shows elsewhere: its picture, or the shop's logo (https://ogp.me). */
function shareOf(meta: Meta | undefined, { lang, logoUrl, name }: Site) {
  const logo = logoUrl === '' ? null : { url: logoUrl, alt: name, width: null, height: null }
  const { language, region } = new Intl.Locale(lang).maximize()
  return { locale: `${language}_${region}`, image: meta?.image ?? logo }
}

function metaFacts({ description, path, jsonLd }: Meta, { publicUrl }: Site) {
  return {
    description,
    canonical: path === null ? null : `${publicUrl}${path}`,
    jsonLd: jsonLd === null ? null : asScript(jsonLd)
  }
}

/** JSON for a script element: `</script>` and `<!--` must not end or change it (HTML, 4.12.1.3). */
function asScript(value: object): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}
