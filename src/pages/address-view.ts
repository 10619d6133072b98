import type { Db } from '../platform/db/database.ts'
import type { FieldErrors } from '../errors.ts'
import { postalFormat } from '../platform/postal/format.ts'
import type { PostalField, PostalFormat } from '../platform/postal/format.ts'
import { postalTexts, postalWords } from '../platform/postal/words.ts'
import type { PostalLanguage, PostalTexts } from '../platform/postal/texts.ts'
import { shipToCountries } from '../shop/checkout/ship-to.ts'
import { countries } from './country-list.ts'
import type { Draft } from './draft.ts'

/** A field of a form, as field.eta shows it. */
type FieldView = {
  name: string
  label: string
  type: 'text'
  autocomplete: string
  required: boolean
  value: string | undefined
  errors: readonly string[] | undefined
  options?: readonly { value: string; label: string }[]
}

type Known = Pick<Draft, 'values' | 'errors'>

/**
 * The fields of a shipping address, a list for each line, in the order in which the country writes them. There are none
 * while the country is unknown, because they depend on it.
 */
export function addressView(db: Db, country: string, known: Known, language: PostalLanguage = 'en') {
  const offered = countries(db, language)
  const texts = postalTexts(language)
  const chosen = offered.find(({ code }) => code === country)
  return {
    texts,
    countries: offered,
    country: chosen ?? null,
    countryErrors: known.errors['country'],
    rows: chosen === undefined ? [] : rowsOf(postalFormat(chosen.code), known, texts)
  }
}

/** The country to begin with: the only one, one that is known, or that of the browser's first language. */
export function likelyCountry(db: Db, known: readonly (string | undefined)[], languages: string | null): string {
  const offered = shipToCountries(db)
  const region = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})\b/i.exec(languages?.trim() ?? '')?.[1]?.toUpperCase()
  const only = offered.length === 1 ? offered[0] : undefined
  return [only, ...known, region].find((code) => code !== undefined && offered.includes(code)) ?? ''
}

function rowsOf(format: PostalFormat, known: Known, texts: PostalTexts): FieldView[][] {
  return format.lines.flatMap((line) => {
    const street = line.includes('A') ? [[street1(known, texts)], [street2(known, texts)]] : []
    const others = line.filter((field) => field !== 'A').map((field) => viewOf(format, field, known, texts))
    return others.length === 0 ? street : [...street, others]
  })
}

const names = { C: 'city', S: 'state', Z: 'postcode' } as const
const autocomplete = { C: 'address-level2', S: 'address-level1', Z: 'postal-code' } as const

function viewOf(format: PostalFormat, field: Exclude<PostalField, 'A'>, known: Known, texts: PostalTexts): FieldView {
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

function street1(known: Known, { street }: PostalTexts): FieldView {
  return { ...textField('address1', street, 'address-line1', known), required: true }
}

function street2(known: Known, { rest, optional }: PostalTexts): FieldView {
  return textField('address2', optional(rest), 'address-line2', known)
}

function textField(name: string, label: string, autocompletes: string, { values, errors }: Known): FieldView {
  const field = { name, label, type: 'text', autocomplete: autocompletes, required: false } as const
  return { ...field, value: values[name], errors: errorsOf(errors, name) }
}

function errorsOf(errors: FieldErrors, name: string): readonly string[] | undefined {
  return errors[name]
}
