import type { PostalFormat } from './format.ts'
import { address as de } from '../texts/de/address.ts'
import { address as en } from '../texts/en/address.ts'
import { address as fr } from '../texts/fr/address.ts'
import type { Language } from '../texts/languages.ts'

/** The texts of an address form, its labels and its refusals. */
export type PostalTexts = {
  title: string
  country: string
  choose: string
  changeCountry: string
  street: string
  rest: string
  optional: (label: string) => string
  shipsTo: (country: string) => string
  city: string
  cities: Readonly<Record<NonNullable<PostalFormat['cityName']>, string>>
  state: string
  states: Readonly<Record<NonNullable<PostalFormat['stateName']>, string>>
  postcode: string
  postcodes: Readonly<Record<NonNullable<PostalFormat['postcodeName']>, string>>
  refusals: {
    name: string
    noCountry: string
    notThere: (country: string) => string
    street: string
    enter: (label: string) => string
    choose: (label: string) => string
    postcode: (label: string, example: string | undefined) => string
  }
}

/** A language is complete, or it does not compile. */
const languages: Readonly<Record<Language, PostalTexts>> = { en, de, fr }

/** The texts of an address form in a language. */
export function postalTexts(language: Language): PostalTexts {
  return languages[language]
}

/** What a country calls the fields of its addresses. */
export function postalWords(
  { cityName, stateName, postcodeName }: PostalFormat,
  { city, cities, state, states, postcode, postcodes }: PostalTexts
): { city: string; state: string; postcode: string } {
  return {
    city: cityName === undefined ? city : cities[cityName],
    state: stateName === undefined ? state : states[stateName],
    postcode: postcodeName === undefined ? postcode : postcodes[postcodeName]
  }
}
