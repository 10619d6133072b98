import type { Client } from '../../client/client.ts'
import type { Language, Translate } from './texts/languages.ts'

/** What a site knows about itself. Everything about products, carts and people comes from the API. */
export type Site = {
  name: string
  tagline: string
  /** Empty for none. */
  logoUrl: string
  /** `#rrggbb`; empty for the default colour. */
  accentColor: string
  contact: string
  links: { label: string; url: string }[]
  /** A BCP 47 tag such as `de`, for numbers and days. */
  language: string
  /** The language of the storefront's own texts: `language`, or English if it has none in that language. */
  lang: string
  /** The language of the texts without its country. */
  textLanguage: Language
  t: Translate
  currency: string
  /** How many decimals the currency has. */
  decimals: number
  /** Without a trailing slash. */
  publicUrl: string
  /** The path of the first-party proxy. */
  proxy: string
  hasAffiliates: boolean
  /** Whether payments go to the sandbox. */
  isSandbox: boolean
  /** The least characters of a password. */
  minLength: number
  /** What the cart offers. Only its page asks. */
  cart: () => CartChoices
}

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
export type Meta = { description: string; path: string | null; image: string | null; jsonLd: object | null }

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
  | { redirect: string; cookies?: string[] }
  /** A file, such as a sitemap. */
  | { text: string; type: string }

/** A page that does not exist. */
export class PageNotFound extends Error {}

/** The data of a page's template, besides the addresses of assets. */
export function templateData({ title, data, meta }: ShownPage, site: Site, path: string): object {
  const shownMeta = meta === undefined ? null : metaFacts(meta, site)
  const blank = { search: '', isSignedIn: false, hasNav: true, error: null }
  return { title, site, t: site.t, path, ...blank, meta: shownMeta, ...data }
}

function metaFacts({ description, path, image, jsonLd }: Meta, { publicUrl }: Site) {
  return {
    description,
    canonical: path === null ? null : `${publicUrl}${path}`,
    image,
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
