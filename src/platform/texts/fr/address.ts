/** The texts of an address form in French. */
export const address = {
  title: 'Adresse de livraison',
  country: 'Pays',
  choose: 'Veuillez choisir',
  changeCountry: 'Changer de pays',
  street: 'Numéro et rue',
  rest: 'Appartement, étage ou entreprise',
  optional: (label: string) => `${label} (facultatif)`,
  shipsTo: (country: string) => `Nous livrons vers : ${country}.`,
  city: 'Ville',
  cities: { district: 'District', post_town: 'Ville', suburb: 'Banlieue ou ville' },
  state: 'Province',
  states: {
    area: 'Zone',
    county: 'Comté',
    department: 'Département',
    district: 'District',
    do_si: 'Province ou ville',
    emirate: 'Émirat',
    island: 'Île',
    oblast: 'Oblast',
    parish: 'Paroisse',
    prefecture: 'Préfecture',
    region: 'Région',
    state: 'État'
  },
  postcode: 'Code postal',
  postcodes: { eircode: 'Eircode', pin: 'Code PIN', zip: 'Code ZIP' },
  refusals: {
    name: 'Veuillez saisir le nom du destinataire.',
    noCountry: 'Veuillez choisir un pays.',
    notThere: (country: string) => `Nous ne livrons pas vers ce pays : ${country}.`,
    street: 'Veuillez saisir le numéro et la rue.',
    enter: (label: string) => `Veuillez remplir ce champ : ${label}.`,
    choose: (label: string) => `Veuillez choisir : ${label}.`,
    postcode: (label: string, example: string | undefined) =>
      `Veuillez remplir ce champ : ${label}${example === undefined ? '' : `, par exemple ${example}`}.`
  }
}
