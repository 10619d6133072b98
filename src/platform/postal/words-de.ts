import type { PostalTexts } from './texts.ts'

/** The texts of an address form in German. */
const texts: PostalTexts = {
  title: 'Lieferadresse',
  country: 'Land',
  choose: 'Bitte wählen',
  changeCountry: 'Land ändern',
  street: 'Straße und Hausnummer',
  rest: 'Wohnung, Stockwerk oder Firma',
  optional: (label) => `${label} (freiwillig)`,
  shipsTo: (country) => `Wir versenden nach: ${country}.`,
  city: 'Ort',
  cities: { district: 'Bezirk', post_town: 'Ort', suburb: 'Vorort oder Ort' },
  state: 'Provinz',
  states: {
    area: 'Gebiet',
    county: 'Grafschaft',
    department: 'Departement',
    district: 'Bezirk',
    do_si: 'Provinz oder Stadt',
    emirate: 'Emirat',
    island: 'Insel',
    oblast: 'Region',
    parish: 'Gemeinde',
    prefecture: 'Präfektur',
    region: 'Region',
    state: 'Bundesstaat'
  },
  postcode: 'Postleitzahl',
  postcodes: { eircode: 'Eircode', pin: 'PIN-Code', zip: 'ZIP-Code' },
  refusals: {
    noCountry: 'Bitte wählen Sie ein Land.',
    notThere: (country) => `In dieses Land versenden wir nicht: ${country}.`,
    street: 'Bitte geben Sie Straße und Hausnummer ein.',
    enter: (label) => `Bitte füllen Sie dieses Feld aus: ${label}.`,
    choose: (label) => `Bitte wählen Sie aus: ${label}.`,
    postcode: (label, example) =>
      `Bitte füllen Sie dieses Feld aus: ${label}${example === undefined ? '' : `, zum Beispiel ${example}`}.`
  }
}

export default texts
