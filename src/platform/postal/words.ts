import type { PostalFormat } from './format.ts'
import de from './words-de.ts'
import type { PostalLanguage, PostalTexts } from './texts.ts'
import en from './words-en.ts'

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
