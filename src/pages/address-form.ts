import type { App } from '../app.ts'
import { parseQuery, toFieldErrors } from '../platform/http/validation.ts'
import { rawTarget } from '../platform/http/client-address.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { siteOf } from './shop-site.ts'
import type { AddressForm, AddressField } from './storefront/site.ts'
import type { Db } from '../platform/db/database.ts'
import type { FieldErrors } from '../errors.ts'
import { postalFormat } from '../platform/postal/format.ts'
import type { PostalField, PostalFormat } from '../platform/postal/format.ts'
import { postalTexts, postalWords } from '../platform/postal/words.ts'
import type { PostalTexts } from '../platform/postal/words.ts'
import type { Language } from '../platform/texts/languages.ts'
import { addressInput } from '../shop/checkout/address-rules.ts'
import { shipToCountries } from '../shop/checkout/shipping.ts'
import type { Draft } from './draft.ts'
import { countryName } from '../platform/postal/countries.ts'

const path = /^\/cart\/address$/

/**
 * The fields of a shipping address, without a page around them: those of a country, and checked by the rules of the
 * hosted page, in the language of the storefront. Nothing is stored. Also without a storefront, because a site that
 * `shopstead create` made from it asks for them, as JSON.
 */
export const addressPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/cart/address', handle: show },
  { method: 'POST', path, name: '/cart/address', handle: check }
]

/** The form of an address for a visitor, with what was typed; `check` adds what is wrong with it. */
export function addressFormOf(
  app: App,
  request: Request,
  typed: Readonly<Record<string, string>>,
  check: boolean
): AddressForm {
  const languages = request.headers.get('accept-language')
  return typedAddressView(app.db, typed, { check, language: siteOf(app).textLanguage, languages })
}

function show({ app, request }: PageCall): PageReply {
  const { country = '' } = Object.fromEntries(parseQuery(rawTarget(request)))
  return reply(request, addressFormOf(app, request, { country }, false))
}

/** The fields with what was sent, and with status 422 and the errors if it is not valid. */
async function check({ app, request }: PageCall): Promise<PageReply> {
  const typed = Object.fromEntries(await readForm(request))
  return reply(request, addressFormOf(app, request, typed, typed['check'] !== ''))
}

function reply(request: Request, address: AddressForm): PageReply {
  if (request.headers.get('accept') === 'application/json')
    return { text: JSON.stringify(address), type: 'application/json', isPrivate: true }
  const isWrong = [address.countryErrors, ...address.rows.flat().map(({ errors }) => errors)].some(Boolean)
  return {
    status: isWrong ? 422 : 200,
    template: 'address',
    title: '',
    data: { address, focus: null, hasScript: true }
  }
}

type Known = Pick<Draft, 'values' | 'errors'>

/**
 * The fields of a shipping address, a list for each line, in the order in which the country writes them. There are none
 * while the country is unknown, because they depend on it.
 *
 * @param offered the countries to choose from, by default those that the shop ships to
 */
export function addressView(
  db: Db,
  country: string,
  known: Known,
  language: Language = 'en',
  offered = countries(db, language)
): AddressForm {
  const texts = postalTexts(language)
  const chosen = offered.find(({ code }) => code === country)
  const { title, choose, changeCountry } = texts
  const [only, ...others] = offered
  return {
    texts: { title, choose, changeCountry, country: texts.country },
    shipsTo: only === undefined || others.length > 0 ? null : texts.shipsTo(only.name),
    countries: offered,
    country: chosen ?? null,
    countryErrors: known.errors['country'],
    rows: chosen === undefined ? [] : rowsOf(postalFormat(chosen.code), known, texts)
  }
}

/**
 * The fields of the country that was typed, with what was typed; `check` also says what is wrong with it. Without a
 * country, those of the likely one.
 */
export function typedAddressView(
  db: Db,
  typed: Readonly<Record<string, string>>,
  { check, language, languages }: { check: boolean; language: Language; languages: string | null }
): AddressForm {
  const parsed = check ? addressInput(shipToCountries(db), language).safeParse(typed) : null
  const errors = parsed?.error === undefined ? {} : toFieldErrors(parsed.error)
  const country = check ? (typed['country'] ?? '') : likelyCountry(db, [typed['country']], languages)
  const values = parsed?.success === true ? { ...parsed.data } : typed
  return addressView(db, country, { values, errors }, language)
}

/** The country to begin with: the only one, one that is known, or that of the browser's first language. */
export function likelyCountry(
  db: Db,
  known: readonly (string | undefined)[],
  languages: string | null,
  offered = shipToCountries(db)
): string {
  const region = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})\b/i.exec(languages?.trim() ?? '')?.[1]?.toUpperCase()
  const only = offered.length === 1 ? offered[0] : undefined
  return [only, ...known, region].find((code) => code !== undefined && offered.includes(code)) ?? ''
}

function rowsOf(format: PostalFormat, known: Known, texts: PostalTexts): AddressField[][] {
  return format.lines.flatMap((line) => {
    const street = line.includes('A') ? [[street1(known, texts)], [street2(known, texts)]] : []
    const others = line.filter((field) => field !== 'A').map((field) => viewOf(format, field, known, texts))
    return others.length === 0 ? street : [...street, others]
  })
}

const names = { C: 'city', S: 'state', Z: 'postcode' } as const
const autocomplete = { C: 'address-level2', S: 'address-level1', Z: 'postal-code' } as const

function viewOf(
  format: PostalFormat,
  field: Exclude<PostalField, 'A'>,
  known: Known,
  texts: PostalTexts
): AddressField {
  const name = names[field]
  const required = format.required.includes(field)
  const label = postalWords(format, texts)[name]
  return {
    ...textField(name, required ? label : texts.optional(label), autocomplete[field], known),
    required,
    ...(field === 'S' && format.regions !== undefined ? { options: optionsOf(format.regions) } : {})
  }
}

function optionsOf(regions: NonNullable<PostalFormat['regions']>): { value: string; label: string }[] {
  return regions.map(([value, label = value]) => ({ value, label }))
}

function street1(known: Known, { street }: PostalTexts): AddressField {
  return { ...textField('address1', street, 'address-line1', known), required: true }
}

function street2(known: Known, { rest, optional }: PostalTexts): AddressField {
  return textField('address2', optional(rest), 'address-line2', known)
}

function textField(name: string, label: string, autocompletes: string, { values, errors }: Known): AddressField {
  const field = { name, label, type: 'text', autocomplete: autocompletes, required: false } as const
  return { ...field, value: values[name], errors: errorsOf(errors, name) }
}

function errorsOf(errors: FieldErrors, name: string): readonly string[] | undefined {
  return errors[name]
}

export type Country = { code: string; name: string }

/** The countries of an address form, by default those that the shop ships to, sorted by name. */
export function countries(db: Db, language: Language, codes = shipToCountries(db)): Country[] {
  const named = codes.map((code) => ({ code, name: countryName(code, language) }))
  return named.toSorted((a, b) => a.name.localeCompare(b.name, language))
}
