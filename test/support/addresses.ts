/** An address to ship to. */
export const quay = { address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE' }
