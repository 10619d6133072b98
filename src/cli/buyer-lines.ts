import type { OrderRecord } from '../shop/customers/admin-orders.ts'
import type { Address, OrderContact } from '../shop/orders/address.ts'
import { plain } from './plain.ts'

/** The buyer, the addresses and the note of an order, as far as they are known. */
export function buyerLines({ contact, shippingAddress, billingAddress, notes }: OrderRecord): string[] {
  const who = contactLine(contact)
  return [
    ...(who === '' ? [] : [`Contact: ${who}`]),
    ...block('Ship to', addressLines(shippingAddress ?? {})),
    ...block('Bill to', addressLines(billingAddress ?? {})),
    ...block('Notes', (notes ?? '').split(/\r\n|[\r\n]/))
  ]
}

function contactLine({ firstName, lastName, companyName, phone }: OrderContact): string {
  return joined([joined([firstName, lastName], ' '), companyName, phone], ', ')
}

/** The lines of an envelope. The order of the parts differs between countries; this one is understood everywhere. */
function addressLines(address: Address): string[] {
  const { firstName, lastName, company, address1, address2, city, state, postcode, country, phone, email } = address
  const place = joined([joined([postcode, city], ' '), state], ', ')
  return [joined([firstName, lastName], ' '), company, address1, address2, place, country, phone, email].filter(isSaid)
}

function block(title: string, lines: readonly string[]): string[] {
  const shown = lines.map(plain).filter(isSaid)
  return shown.length === 0 ? [] : [`${title}:`, ...shown.map((line) => `  ${line}`)]
}

function joined(parts: readonly (string | undefined)[], between: string): string {
  return parts.filter(isSaid).map(plain).join(between)
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}
