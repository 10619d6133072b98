/** The texts of an address form in English. */
export const address = {
  title: 'Shipping address',
  country: 'Country',
  choose: 'Please choose',
  changeCountry: 'Change country',
  street: 'Street and number',
  rest: 'Flat, floor or company',
  optional: (label: string) => `${label} (optional)`,
  shipsTo: (country: string) => `We ship to ${country}.`,
  city: 'Town or city',
  cities: { district: 'District', post_town: 'Town or city', suburb: 'Suburb or town' },
  state: 'Province',
  states: {
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
  },
  postcode: 'Postcode',
  postcodes: { eircode: 'Eircode', pin: 'PIN code', zip: 'ZIP code' },
  refusals: {
    name: 'Please enter the name of the recipient.',
    noCountry: 'Please choose a country.',
    notThere: (country: string) => `We do not ship to ${country}.`,
    street: 'Please enter the street and house number.',
    enter: (label: string) => `Please enter the ${lower(label)}.`,
    choose: (label: string) => `Please choose the ${lower(label)}.`,
    postcode: (label: string, example: string | undefined) =>
      `Please enter the ${lower(label)}${example === undefined ? '' : `, for example ${example}`}.`
  }
}

/** A label within a sentence: `ZIP code` and `Eircode` stay as they are. */
function lower(label: string): string {
  return /^[A-Z]{2}|^Eircode/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1)
}
