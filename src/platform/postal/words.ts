import type { PostalFormat } from './format.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'

/** The languages of address forms. A language is complete, or it does not compile. */
export type PostalLanguage = 'en' | 'de'

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
    noCountry: string
    notThere: (country: string) => string
    street: string
    enter: (label: string) => string
    choose: (label: string) => string
    postcode: (label: string, example: string | undefined) => string
  }
}

const languages: Readonly<Record<PostalLanguage, PostalTexts>> = { en, de }

/** The texts of an address form in a language. */
export function postalTexts(language: PostalLanguage): PostalTexts {
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
