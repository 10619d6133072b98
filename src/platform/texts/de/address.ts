/** The texts of an address form in German. */
export const address = {
  title: 'Lieferadresse',
  country: 'Land',
  choose: 'Bitte wählen',
  changeCountry: 'Land ändern',
  street: 'Straße und Hausnummer',
  rest: 'Wohnung, Stockwerk oder Firma',
  optional: (label: string) => `${label} (freiwillig)`,
  shipsTo: (country: string) => `Wir versenden nach: ${country}.`,
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
    name: 'Bitte geben Sie ein, wer die Sendung bekommt.',
    noCountry: 'Bitte wählen Sie ein Land.',
    notThere: (country: string) => `In dieses Land versenden wir nicht: ${country}.`,
    street: 'Bitte geben Sie Straße und Hausnummer ein.',
    enter: (label: string) => `Bitte füllen Sie dieses Feld aus: ${label}.`,
    choose: (label: string) => `Bitte wählen Sie aus: ${label}.`,
    postcode: (label: string, example: string | undefined) =>
      `Bitte füllen Sie dieses Feld aus: ${label}${example === undefined ? '' : `, zum Beispiel ${example}`}.`
  }
}
