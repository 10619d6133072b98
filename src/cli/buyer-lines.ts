import type { OrderRecord } from '../shop/customers/admin-orders.ts'
import type { Address, OrderContact } from '../shop/orders/address.ts'
import { plain } from './output.ts'

/** Who bought, where to ship it to and what was asked for, as far as the buyer said so. */
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

/** As on an envelope; the post of each country has its own order, this one is read everywhere. */
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
