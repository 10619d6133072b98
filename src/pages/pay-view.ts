import type { App } from '../app.ts'
import { findGuestBuyer } from '../api/checkout.ts'
import { findIdentity } from '../api/server.ts'
import { formatMoney } from '../platform/money.ts'
import { countryName, shipToOf, postalLines } from '../platform/postal/countries.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { canTakeCoupon } from '../shop/checkout/buyer-status.ts'
import { offeredMethods, takesVatId } from '../shop/checkout/order-form.ts'
import type { PaymentMethod } from '../shop/checkout/order-form.ts'
import type { ShownOrder } from '../shop/checkout/shipping.ts'
import type { Address } from '../shop/orders/address.ts'
import { itemsOf } from '../shop/orders/find.ts'
import { pendingOrdersOf } from '../shop/orders/holds.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { maskedEmail } from '../shop/orders/view.ts'
import { setting } from '../shop/settings/settings.ts'
import { needsAddress } from '../shop/shipping/zones.ts'
import { addressView, likelyCountry } from './address-form.ts'
import { pathOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { summaryOf } from './order-page.ts'
import type { PageCall, PageReply } from './page.ts'
import { askedOf, shownOrder } from './pay-form.ts'
import type { AddressForm } from './storefront/site.ts'

const methodWords: Readonly<Record<PaymentMethod, (app: App) => { label: string; hint: string }>> = {
  card: ({ cards }) => ({
    label: 'Card',
    hint: cards?.name === 'sandbox' ? 'Test payment: no money moves.' : 'You pay on the next page.'
  }),
  manual: ({ db }) => ({ label: 'Bank transfer or cash', hint: setting(db, 'payments.manualInstructions') }),
  free: () => ({ label: 'Nothing to pay', hint: 'There is nothing to pay for this order.' })
}

/**
 * The hosted page on which the buyer gives what is missing and chooses a payment method, with what this browser typed.
 * With `isChange` it also asks for what is known.
 */
export function choicePage(call: PageCall, order: OrderRow, draft: Draft, isChange: boolean): PageReply {
  const { app } = call
  const isTheirs = isBuyerOf(call, order)
  const values = { ...(isTheirs ? storedValues(app, order) : {}), ...draft.values }
  const asked = askedOf(app, order, isChange, draft.values)
  const known = { values, errors: draft.errors }
  const country = countryOf(call, order, values)
  const asksAddress = asked.address ? addressView(app.db, country, known) : null
  const preview = shownOrder(app, order, asked, values, asksAddress?.country?.code)
  const address = preview !== null && offersPickup(preview) ? optional(asksAddress) : asksAddress
  const shown = preview?.shown ?? order
  const methods = offeredMethods(app, shown)
  return {
    status: 200,
    template: 'checkout',
    title: 'Pay your order',
    data: {
      ...known,
      message: draft.message,
      action: pathOf(order),
      isChange,
      summary: summaryOf(app, shown, preview?.taxes),
      total: shown.totalMinor,
      shipping:
        preview === null || !asked.shippingMethod || (address?.country === null && !offersPickup(preview))
          ? null
          : shippingView(preview, country),
      takesCoupon: canTakeCoupon(app.db, order),
      takesVatId: takesVatId(app.db, order),
      asked,
      address,
      known: isChange ? null : knownDetails(app, order, { values: draft.values, isTheirs }),
      methods: methods.map((name) => ({ name, ...methodWords[name](app) })),
      chosen: methods.find((name) => name === draft.values['payment_method']) ?? methods[0],
      submit: submitWords(shown, methods, address?.country === null),
      firstError: firstErrorOf(draft),
      cancel: `/checkout/cancel/${order.publicToken}`
    },
    // Stripe's page can have the shop's own domain, which is not known here.
    leadsTo: [order.returnUrl, order.cancelUrl, app.cards?.name === 'stripe' ? 'https:' : null]
  }
}

function offersPickup({ choice }: ShownOrder): boolean {
  return choice.methods.some(({ pickup }) => pickup)
}

/** The fields of an address that the browser does not insist on, because the buyer can choose to pick the goods up. */
function optional(form: AddressForm | null): AddressForm | null {
  return form && { ...form, rows: form.rows.map((row) => row.map((field) => ({ ...field, required: false }))) }
}

/** The shipping methods of the form; there are none for an order that is too heavy for the country. */
function shippingView({ shown, choice: { methods, chosen } }: ShownOrder, country: string) {
  const { currency } = shown
  return {
    country: countryName(country),
    chosen: chosen?.id ?? null,
    methods: methods.map(({ id, name, estimate, pickup, amountMinor }) => ({
      id,
      pickup,
      name,
      estimate,
      amount: amountMinor === 0 ? 'Free' : formatMoney(amountMinor, currency)
    }))
  }
}

/** The order's button; while the country is unknown, the other fields are not shown yet. */
function submitWords(order: OrderRow, methods: readonly PaymentMethod[], isCountryUnknown: boolean) {
  if (isCountryUnknown) return { label: 'Continue', action: 'country' }
  if (methods.length === 1 && methods[0] === 'card') return { label: 'Continue to payment', action: '' }
  return { label: `Order for ${formatMoney(order.totalMinor, order.currency)}`, action: '' }
}

/** Whether the browser has the session of the order's account, or placed the order itself. */
function isBuyerOf({ app, request, now }: PageCall, { id, userId }: OrderRow): boolean {
  if (userId !== null) return findIdentity(app, request, now)?.user.id === userId
  const buyer = findGuestBuyer(app, request)
  return buyer !== null && pendingOrdersOf(app.db, buyer).includes(id)
}

type Viewer = { values: Draft['values']; isTheirs: boolean }

/**
 * The email and the address that the order has. Others may have the link, so only the browser that typed them, or
 * that of the buyer, sees them in full.
 */
function knownDetails(app: App, order: OrderRow, { values, isTheirs }: Viewer) {
  const { email } = order
  const address = needsAddress(itemsOf(app.db, order.id), order.shippingMethod) ? shipToOf(order) : null
  const isTyped = (value: string | undefined, name: string): boolean => isTheirs || values[name]?.trim() === value
  return {
    email: email === null ? null : isTyped(email, 'email') ? email : maskedEmail(email),
    address:
      address === null ? null : isTyped(address.address1, 'address1') ? fullLines(order, address) : [place(address)],
    mayChange: order.userId === null || address !== null
  }
}

function fullLines({ contact }: OrderRow, address: Address): string[] {
  return postalLines({ ...contact, ...address })
}

function place({ city, country }: Address): string {
  const known = [city, country === undefined ? undefined : countryName(country)].filter((part) => part !== undefined)
  return known.length === 0 ? 'The address that you entered' : known.join(', ')
}

/** What the order has. Without an address, that of the account. */
function storedValues({ db }: App, order: OrderRow): Record<string, string> {
  const { email, contact, userId, vatId } = order
  const address = shipToOf(order) ?? (userId === null ? null : getUserById(db, userId).address)
  return { ...(email === null ? {} : { email }), ...contact, ...address, ...(vatId === null ? {} : { vatId }) }
}

function countryOf({ app, request }: PageCall, order: OrderRow, values: Draft['values']): string {
  const known = [values['country'], order.shippingAddress?.country, order.billingAddress?.country]
  return likelyCountry(app.db, known, request.headers.get('accept-language'))
}

/** The field that gets the focus. */
function firstErrorOf({ errors }: Draft): string | null {
  const order = [
    'coupon',
    'vatId',
    'email',
    'firstName',
    'lastName',
    'country',
    'address1',
    'address2',
    'city',
    'postcode',
    'state',
    'shipping_method'
  ]
  return order.find((name) => errors[name] !== undefined) ?? null
}
