import { z } from 'zod'
import { countryName } from '../../platform/postal/countries.ts'
import { postalFormat } from '../../platform/postal/format.ts'
import type { PostalField, PostalFormat } from '../../platform/postal/format.ts'
import { readPostcode } from '../../platform/postal/postcode.ts'
import { postalTexts, postalWords } from '../../platform/postal/words.ts'
import type { PostalLanguage, PostalTexts } from '../../platform/postal/texts.ts'
import { lineField } from '../accounts/fields.ts'
import type { Address } from '../orders/address.ts'

const part = lineField(200)
  .nullish()
  .transform((text) => text ?? '')
/** An address as it was typed; a missing part is empty. `addressInput` has the rules of its country. */
export const addressParts = z.object({
  address1: part,
  address2: part,
  city: part,
  state: part,
  postcode: part,
  country: part.meta({ description: 'ISO 3166-1 alpha-2.' })
})
export type TypedAddress = z.output<typeof addressParts>
type PartName = keyof TypedAddress

const partOf: Readonly<Record<PostalField, PartName>> = { A: 'address1', C: 'city', S: 'state', Z: 'postcode' }

/**
 * An address in one of `countries`, by the rules of its country: which parts it has, which of them are required, and how a
 * postcode looks. Parts that the country does not use are dropped.
 *
 * @param language of the messages
 */
export function addressInput(countries: readonly string[], language: PostalLanguage = 'en') {
  const texts = postalTexts(language)
  const { noCountry, notThere } = texts.refusals
  return addressParts.transform((typed, context): Address => {
    const country = typed.country.toUpperCase()
    const refuse = (name: PartName, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (!countries.includes(country)) {
      refuse('country', country === '' ? noCountry : notThere(countryName(country, language)))
      return z.NEVER
    }
    const format = postalFormat(country)
    const address: Address = { country, ...present('address2', typed.address2) }
    for (const field of format.lines.flat()) {
      const name = partOf[field]
      const value = read(format, field, typed[name])
      if (value === undefined) refuse(name, messages[field](format, texts))
      else Object.assign(address, present(name, value))
    }
    return address
  })
}

/** The part as it is stored, empty if it is absent; undefined if it is wrong or missing. */
function read(format: PostalFormat, field: PostalField, typed: string): string | undefined {
  if (typed === '') return format.required.includes(field) ? undefined : ''
  if (field === 'Z') return readPostcode(format, typed)
  if (field === 'S' && format.regions !== undefined) return readRegion(format.regions, typed)
  return typed
}

/** A region by its value or its label, in any case. */
function readRegion(regions: NonNullable<PostalFormat['regions']>, typed: string): string | undefined {
  const wanted = typed.toLowerCase()
  return regions.find((names) => names.some((name) => name?.toLowerCase() === wanted))?.[0]
}

const messages: Readonly<Record<PostalField, (format: PostalFormat, texts: PostalTexts) => string>> = {
  A: (_format, { refusals }) => refusals.street,
  C: (format, texts) => texts.refusals.enter(postalWords(format, texts).city),
  S: (format, texts) => {
    const { enter, choose } = texts.refusals
    return (format.regions === undefined ? enter : choose)(postalWords(format, texts).state)
  },
  Z: (format, texts) => texts.refusals.postcode(postalWords(format, texts).postcode, format.example || undefined)
}

function present(name: PartName, value: string): Partial<Address> {
  return value === '' ? {} : { [name]: value }
}
