import { z } from 'zod'
import type { App } from '../app.ts'
import { codePoints } from '../platform/text.ts'
import { isEmail, optionalLine } from '../shop/accounts/fields.ts'
import { addressInput, countryInput } from '../shop/checkout/address-rules.ts'
import { missingPlace, placeColumn } from '../shop/checkout/buyer-place.ts'
import { offeredMethods, isVatIdOf } from '../shop/checkout/order-form.ts'
import { orderShipping, showOrder, lacksAddress, shipToCountries } from '../shop/checkout/shipping.ts'
import type { ShownOrder } from '../shop/checkout/shipping.ts'
import { shipToOf } from '../platform/postal/address.ts'
import { countryCodes } from '../platform/postal/countries.ts'
import { postalTexts } from '../platform/postal/words.ts'
import { lacksDeliveryConsent } from '../shop/declarations/delivery-consent.ts'
import type { Language } from '../platform/texts/languages.ts'
import { asksCard } from '../shop/payments/attempts.ts'
import { isNamed } from '../shop/orders/address.ts'
import { itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { findPickup, needsAddress } from '../shop/shipping/zones.ts'
import { siteOf } from './shop-site.ts'
import type { Site } from './storefront/site.ts'

const addressFields = ['country', 'address1', 'address2', 'postcode', 'city', 'state'] as const
const fields = [
  'email',
  'firstName',
  'lastName',
  'payment_method',
  'shipping_method',
  'total',
  'immediateDelivery',
  'coupon',
  'vatId',
  'buyerReference',
  ...addressFields
] as const

/** What the buttons of the form do; the button that orders has no name, and a script sends `update` for another method. */
export type FormAction = 'order' | 'coupon' | 'vatId' | 'country' | 'update'

/** Where to ship to, the address of a business for its invoice, or only the country of what is not shipped. */
export type AskedAddress = 'shipping' | 'business' | 'country'

/** What the form of an order asks for. */
export type Asked = {
  email: boolean
  name: boolean
  /** Whether an order without a name cannot be shipped. */
  isNameRequired: boolean
  address: AskedAddress | null
  shippingMethod: boolean
  /** Whether files may be delivered at once. */
  deliveryConsent: boolean
  /** What a business wants to read on its electronic invoice. */
  buyerReference: boolean
}

/**
 * What is missing, or with `isChange` also what the buyer may correct; no address to pick the goods up in the shop. The email
 * of an account's order is the account's.
 */
export function askedOf(app: App, order: OrderRow, isChange: boolean, values: Readonly<Record<string, string>>): Asked {
  const { contact, billingAddress, shippingAddress } = order
  const items = itemsOf(app.db, order.id)
  const { hasMethods } = orderShipping(app.db, order)
  const methodId = values['shipping_method']
  const shippingMethod = methodId === undefined ? order.shippingMethod : (findPickup(app.db, methodId) ?? null)
  const address = askedAddress(app, { ...order, shippingMethod }, isChange, values)
  const isNameRequired =
    address === 'business'
      ? isChange || !isNamed(contact, billingAddress, shippingAddress)
      : needsAddress(items, shippingMethod) && (isChange || !isNamed(contact, shipToOf(order)))
  return {
    email: order.email === null || (isChange && order.userId === null),
    name: isNameRequired || isChange || !isNamed(contact, billingAddress, shippingAddress),
    isNameRequired,
    address,
    shippingMethod:
      hasMethods && (isChange || address === 'shipping' || methodId !== undefined || order.shippingMethod === null),
    deliveryConsent: lacksDeliveryConsent(app.db, order, items),
    buyerReference: isBusiness(order) && (isChange || order.buyerReference === null)
  }
}

/** Whether the buyer has said that they are a business. */
function isBusiness({ vatId, buyerReference, contact, billingAddress, shippingAddress }: OrderRow): boolean {
  const companies = [contact.companyName, billingAddress?.company, shippingAddress?.company]
  return vatId !== null || buyerReference !== null || companies.some((company) => company !== undefined)
}

/** The address that is missing, or with `isChange` the one that the order needs. The typed country can make a sale tax-free. */
function askedAddress(
  { db, cards }: App,
  order: OrderRow,
  isChange: boolean,
  values: Readonly<Record<string, string>>
): AskedAddress | null {
  const items = itemsOf(db, order.id)
  if (isChange ? needsAddress(items, order.shippingMethod) : lacksAddress(db, items, order)) return 'shipping'
  if (order.totalMinor === 0 && !asksCard(db, cards, order)) return null
  const column = placeColumn(items)
  const known = isChange ? null : order[column]
  const typed = values['country'] ? { ...known, country: values['country'].toUpperCase() } : known
  return (
    missingPlace(db, items, { ...order, [column]: typed }) ?? missingPlace(db, items, { ...order, [column]: known })
  )
}

/** The countries of an address that is asked for. */
export function askedCountries({ db }: App, address: AskedAddress): readonly string[] {
  return address === 'shipping' ? shipToCountries(db) : countryCodes()
}

function addressSchema(app: App, address: AskedAddress, language: Language) {
  return address === 'country' ? countryInput(language) : addressInput(askedCountries(app, address), language)
}

/** The values of the known fields of a submitted form. */
export function readValues(form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(fields.flatMap((name) => (form.has(name) ? [[name, form.get(name) ?? '']] : [])))
}

/**
 * Which button submitted the form. A code or a VAT id in the form is applied before the order, and a VAT id that the form
 * showed and that is emptied is removed, so that the buyer sees the total first. Another browser's form does not show it.
 */
export function readAction(form: URLSearchParams, order: OrderRow): FormAction {
  const action = form.get('action')
  if (action === 'country' || action === 'vatId' || action === 'update') return action
  const code = form.get('coupon')
  if (action === 'coupon' || (code !== null && code.trim() !== '')) return 'coupon'
  const vatId = form.get('vatId')?.trim() ?? ''
  const isEmptied = vatId === '' && form.has('vatIdShown') && order.vatId !== null
  if (isEmptied || (vatId !== '' && !isVatIdOf(order, vatId))) return 'vatId'
  // A form that showed no field but the country, because the other fields depend on it.
  const isWhole = form.has('address1') || form.has('countryIsAll')
  return form.has('country') && !isWhole ? 'country' : 'order'
}

/**
 * The order as its form shows it, with the shipping and the taxes of what was typed; null if the form asks for none of
 * both, because the order has them.
 *
 * @param country the country of the form, if it is known
 */
export function shownOrder(
  app: App,
  order: OrderRow,
  asked: Asked,
  values: Readonly<Record<string, string>>,
  country = values['country']
): ShownOrder | null {
  if (asked.address === null && !asked.shippingMethod) return null
  const address = asked.address !== null ? { country: country || undefined, state: values['state'] } : null
  return showOrder(app.db, order, { address, methodId: values['shipping_method'] })
}

/** The rules of a submitted form. */
export function choiceInput(app: App, order: OrderRow, isChange: boolean, values: Readonly<Record<string, string>>) {
  const { t, textLanguage } = siteOf(app)
  const asked = askedOf(app, order, isChange, values)
  const shown = shownOrder(app, order, asked, values)?.shown ?? order
  const noName = postalTexts(textLanguage).refusals.name
  return z.object({
    payment_method: z.enum(offeredMethods(app, shown), t('invalid.method')),
    email: asked.email ? emailInput(t) : absent,
    firstName: optionalLine(100).refine((name) => name || !asked.isNameRequired || values['lastName']?.trim(), noName),
    lastName: optionalLine(100),
    buyerReference: asked.buyerReference ? optionalLine(100) : absent,
    shipping_method: asked.shippingMethod ? z.string(t('invalid.shipping')).max(100) : absent,
    immediateDelivery: z
      .string()
      .optional()
      .transform((tick) => tick !== undefined)
      .refine((isGiven) => isGiven || !asked.deliveryConsent, t('consent.needed')),
    total: z.coerce.number().int().optional().catch(undefined),
    address:
      asked.address === null
        ? z.unknown().transform((): undefined => undefined)
        : addressSchema(app, asked.address, textLanguage)
  })
}

const absent = z
  .unknown()
  .optional()
  .transform(() => null)

const emailInput = (t: Site['t']) =>
  z
    .string()
    .transform((text) => text.normalize('NFC').trim())
    .refine((text) => text !== '', { error: t('invalid.noEmail'), abort: true })
    .refine((text) => codePoints(text) <= 254 && isEmail(text), t('invalid.email'))
