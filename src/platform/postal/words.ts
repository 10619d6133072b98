import type { PostalFormat } from './format.ts'

/** The fields of an address in the words of its country, for labels and messages in English. */
export type PostalWords = { city: string; state: string; postcode: string }

const cities: Readonly<Record<NonNullable<PostalFormat['cityName']>, string>> = {
  district: 'District',
  post_town: 'Town or city',
  suburb: 'Suburb or town'
}

const states: Readonly<Record<NonNullable<PostalFormat['stateName']>, string>> = {
  area: 'Area',
  county: 'County',
  department: 'Department',
  district: 'District',
  do_si: 'Province or city',
  emirate: 'Emirate',
  island: 'Island',
  oblast: 'Region',
  parish: 'Parish',
  prefecture: 'Prefecture',
  region: 'Region',
  state: 'State'
}

const postcodes: Readonly<Record<NonNullable<PostalFormat['postcodeName']>, string>> = {
  eircode: 'Eircode',
  pin: 'PIN code',
  zip: 'ZIP code'
}

/** What the country calls the fields of its addresses. */
export function postalWords({ cityName, stateName, postcodeName }: PostalFormat): PostalWords {
  return {
    city: cityName === undefined ? 'Town or city' : cities[cityName],
    state: stateName === undefined ? 'Province' : states[stateName],
    postcode: postcodeName === undefined ? 'Postcode' : postcodes[postcodeName]
  }
}
