import type Stripe from 'stripe'
import { required, shape, text } from '../http/params.ts'
import type { Values } from '../http/params.ts'

/** A postal address. */
export const address = shape({
  city: text(),
  country: text({ max: 2 }),
  line1: text(),
  line2: text(),
  postal_code: text(),
  state: text()
})
const fields = {
  address: required(address),
  name: required(text()),
  carrier: text(),
  phone: text(),
  tracking_number: text()
}

/** The parameter `shipping` of a payment. */
export const shipping = shape(fields)

/** The shipping details as a payment shows them. */
export function shippingObject(sent: Values<typeof fields> | undefined): Stripe.PaymentIntent.Shipping | null {
  if (sent === undefined) return null
  const { city, country, line1, line2, postal_code, state } = sent.address
  return {
    name: sent.name,
    carrier: sent.carrier ?? null,
    phone: sent.phone ?? null,
    tracking_number: sent.tracking_number ?? null,
    address: {
      city: city ?? null,
      country: country ?? null,
      line1: line1 ?? null,
      line2: line2 ?? null,
      postal_code: postal_code ?? null,
      state: state ?? null
    }
  }
}
