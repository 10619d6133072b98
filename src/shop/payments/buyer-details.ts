import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import type { Address } from '../orders/address.ts'
import type { OrderRow } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import { gatewayEmail } from './gateway-email.ts'

type Order = Pick<OrderRow, 'id' | 'email' | 'contact' | 'billingAddress' | 'shippingAddress'>

/** Stripe's limit for a statement descriptor with its prefix (docs.stripe.com/get-started/account/statement-descriptors). */
const longestSuffix = 22

/** The details of a payment at Stripe beside its amount: for receipts, for the bank, and for Radar's fraud detection. */
export function paymentDetails({ db }: Pick<ShopContext, 'db'>, order: Order) {
  const shipping = shippingOf(order)
  const suffix = setting(db, 'payments.statementSuffix').replaceAll('{order}', `ORDER ${order.id}`)
  const receipt = order.email !== null && setting(db, 'payments.receiptEmail') ? gatewayEmail(order.email) : null
  return {
    ...(shipping === undefined ? {} : { shipping }),
    ...(receipt === null ? {} : { receipt_email: receipt }),
    ...(suffix === '' ? {} : { statement_descriptor_suffix: suffix.slice(0, longestSuffix).trim() })
  }
}

/** The payment method configuration that the operator has chosen. */
export function methodConfiguration({ db }: Pick<ShopContext, 'db'>): { payment_method_configuration?: string } {
  const id = setting(db, 'payments.methodConfiguration')
  return id === '' ? {} : { payment_method_configuration: id }
}

/** The buyer's name, email, phone and billing address. */
export function billingDetails(order: Order) {
  const { contact, billingAddress } = order
  const name = nameOf(billingAddress, order)
  const phone = billingAddress?.phone ?? contact.phone
  return {
    ...(name === undefined ? {} : { name }),
    ...(order.email === null ? {} : { email: gatewayEmail(order.email) }),
    ...(phone === undefined ? {} : { phone }),
    ...(billingAddress === null ? {} : { address: toGatewayAddress(billingAddress) })
  }
}

/** The shipping address, if it has a street; Stripe requires a name with it. */
export function shippingOf(
  order: Order
): { name: string; phone?: string; address: Stripe.ShippingAddressParam } | undefined {
  const { shippingAddress, contact } = order
  const name = nameOf(shippingAddress, order)
  const line1 = shippingAddress?.address1
  if (!shippingAddress || line1 === undefined || name === undefined) return undefined
  const phone = shippingAddress.phone ?? contact.phone
  return { name, ...(phone === undefined ? {} : { phone }), address: { ...toGatewayAddress(shippingAddress), line1 } }
}

function nameOf(address: Address | null, { contact }: Order): string | undefined {
  const { firstName = contact.firstName, lastName = contact.lastName } = address ?? {}
  const name = [firstName, lastName].filter((part) => part !== undefined).join(' ')
  return name === '' ? undefined : name
}

function toGatewayAddress({ address1, address2, city, state, postcode, country }: Address): Stripe.AddressParam {
  const parts = { line1: address1, line2: address2, city, state, postal_code: postcode, country }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
}
