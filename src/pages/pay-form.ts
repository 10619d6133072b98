import { z } from 'zod'
import type { App } from '../app.ts'
import type { FieldErrors } from '../errors.ts'
import { formatMoney } from '../platform/money.ts'
import type { Db } from '../platform/db/database.ts'
import { codePoints } from '../platform/text.ts'
import { isEmail, lineField, optionalLine } from '../shop/accounts/fields.ts'
import { needsShipping } from '../shop/catalog/product-types.ts'
import { offeredMethods } from '../shop/checkout/choose-payment.ts'
import type { PaymentMethod } from '../shop/checkout/choose-payment.ts'
import { isCountry } from '../shop/checkout/countries.ts'
import { canTakeCoupon } from '../shop/checkout/buyer-status.ts'
import { itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import type { Address } from '../shop/orders/address.ts'
import { setting } from '../shop/settings/settings.ts'
import { countries } from './country-list.ts'
import { summaryOf } from './order-page.ts'
import type { PageCall, PageReply } from './page.ts'

/** The values and errors that the form shows again after an invalid input. */
export type Filled = { values: Readonly<Record<string, string>>; errors: FieldErrors; message: string | null }

export const untouched: Filled = { values: {}, errors: {}, message: null }

const addressFields = ['address1', 'address2', 'postcode', 'city', 'country'] as const
const fields = ['email', 'firstName', 'lastName', 'payment_method', ...addressFields] as const

/** Whether an order has items to ship and no address to ship them to. */
export function asksAddress(db: Db, { id, billingAddress, shippingAddress }: OrderRow): boolean {
  if (shippingAddress?.address1 !== undefined || billingAddress?.address1 !== undefined) return false
  return needsShipping(itemsOf(db, id))
}

/** The values of the known fields of a submitted form. */
export function readValues(form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(fields.flatMap((name) => (form.has(name) ? [[name, form.get(name) ?? '']] : [])))
}

/** An address that the form shows is required. A program that sends no address field does not need it. */
export function choiceInput(app: App, order: OrderRow, values: Readonly<Record<string, string>>) {
  const isShown = asksAddress(app.db, order) && addressFields.some((name) => name in values)
  return z.object({
    payment_method: z.enum(offeredMethods(app, order), 'Please choose a payment method.'),
    email: email.default(null),
    firstName: optionalLine(100),
    lastName: optionalLine(100),
    address: isShown ? address : z.unknown().transform((): undefined => undefined)
  })
}

const email = z
  .string()
  .transform((text) => text.normalize('NFC').trim())
  .refine(
    (text) => text === '' || (codePoints(text) <= 254 && isEmail(text)),
    'Please enter an email address such as name@example.com.'
  )
  .transform((text) => (text === '' ? null : text))

const needed = (message: string) => lineField(200).refine((text) => text !== '', message)

const address = z
  .object({
    address1: needed('Please enter the street and house number.'),
    address2: lineField(200).default(''),
    postcode: needed('Please enter a postcode.'),
    city: needed('Please enter a town or city.'),
    country: z
      .string('Please choose a country.')
      .transform((code) => code.trim().toUpperCase())
      .refine(isCountry, 'Please choose a country.')
  })
  .transform(({ address2, ...address }): Address => (address2 === '' ? address : { ...address, address2 }))

const methodLabels: Readonly<Record<PaymentMethod, (app: App) => { label: string; hint: string }>> = {
  card: ({ cards }) => ({
    label: 'Card',
    hint: cards?.name === 'sandbox' ? 'Test payment: no money moves.' : 'You pay on the next page.'
  }),
  manual: ({ db }) => ({ label: 'Bank transfer or cash', hint: setting(db, 'payments.manualInstructions') })
}

/** The hosted page on which the buyer chooses a payment method, with the values that were entered. */
export function choicePage({ app }: Pick<PageCall, 'app'>, order: OrderRow, status: number, filled: Filled): PageReply {
  const methods = offeredMethods(app, order)
  const { contact, billingAddress, shippingAddress } = order
  const lastName = contact.lastName ?? billingAddress?.lastName ?? shippingAddress?.lastName
  const needsAddress = asksAddress(app.db, order)
  return {
    status,
    template: 'checkout',
    title: 'Pay your order',
    data: {
      ...filled,
      action: `/checkout/${order.publicToken}`,
      summary: summaryOf(app, order),
      total: formatMoney(order.totalMinor, order.currency),
      takesCoupon: canTakeCoupon(app.db, order),
      asksEmail: order.email === null,
      asksName: (contact.firstName ?? lastName) === undefined,
      asksAddress: needsAddress,
      countries: needsAddress ? countries() : [],
      methods: methods.map((name) => ({ name, ...methodLabels[name](app) })),
      chosen: methods.find((name) => name === filled.values['payment_method']) ?? methods[0],
      back: `/checkout/cancel/${order.publicToken}`
    },
    // Stripe's page can have the shop's own domain, which is not known here.
    leadsTo: [order.returnUrl, app.cards?.name === 'stripe' ? 'https:' : null]
  }
}
