import type { NewOrder } from '../../../src/shop/orders/create-order.ts'
import type { Buyer } from './year-order.ts'

/** The card with which a person pays. */
export const cardOf = (person: number) => ({ fingerprint: `card ${person}`, country: 'DE' })
/** The address of a person. */
export const homeOf = (person: number) => ({
  address1: `Quay ${person}`,
  postcode: '20457',
  city: 'Hamburg',
  country: 'DE'
})

/** Most buyers are honest. */
export const buyers: readonly Buyer[] = [
  'honest',
  'honest',
  'honest',
  'honest',
  'own email',
  'plus',
  'same person',
  'same card',
  'no email'
]

/** What the order of a buyer says about them. */
export function personOf(buyer: Buyer, person: number): Partial<NewOrder> {
  if (buyer === 'own email' || buyer === 'no email') return { email: null }
  if (buyer === 'plus') return { email: `person${person}+lamp@shop.example` }
  if (buyer === 'same person')
    return { contact: { firstName: 'Lena', phone: `+4940555 01${person}` }, shippingAddress: homeOf(person) }
  return {}
}
