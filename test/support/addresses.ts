/** An address to ship to, with the name of its recipient. */
export const quay = {
  firstName: 'Gwen',
  lastName: 'Quill',
  address1: 'Quay 7',
  postcode: '20457',
  city: 'Hamburg',
  country: 'DE'
}
