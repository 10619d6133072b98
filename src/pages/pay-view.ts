import type { App } from '../app.ts'
import { postalLines, shipToOf } from '../platform/postal/address.ts'
import { countryName } from '../platform/postal/countries.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { canTakeCoupon } from '../shop/checkout/buyer-status.ts'
import { isBuyerOf } from '../shop/checkout/order-visitor.ts'
import { offeredMethods, takesVatId } from '../shop/checkout/order-form.ts'
import type { PaymentMethod } from '../shop/checkout/order-form.ts'
import type { ShownOrder } from '../shop/checkout/shipping.ts'
import type { Address } from '../shop/orders/address.ts'
import { dueMinor } from '../shop/orders/refunds/credits.ts'
import { itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { maskedEmail } from '../shop/orders/view.ts'
import { manualInstructions } from '../shop/settings/language.ts'
import { addInterval } from '../shop/benefits/period.ts'
import { recurringOfOrder } from '../shop/orders/renewal-order.ts'
import { setting } from '../shop/settings/settings.ts'
import { toIso } from '../platform/iso-time.ts'
import { dayText } from '../platform/texts/languages.ts'
import { dueNotes } from '../platform/texts/renewal.ts'
import { needsAddress } from '../shop/shipping/zones.ts'
import { addressView, countries, likelyCountry } from './address-form.ts'
import { pathOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { moneyText, summaryOf } from './order-page.ts'
import type { HtmlReply, PageCall } from './page.ts'
import { askedCountries, askedOf, shownOrder } from './pay-form.ts'
import type { AskedAddress } from './pay-form.ts'
import { visitorOf } from './prove-page.ts'
import { shopPage, siteOf } from './shop-site.ts'
import { checkoutFields, optionalAddress } from './storefront/form-view.ts'
import { lineImage } from '../shop/catalog/public/image.ts'
import type { Summary } from './storefront/order-card.ts'
import { toPicture } from './storefront/products.ts'
import type { AddressForm, Site } from './storefront/site.ts'

/**
 * The hosted page on which the buyer gives what is missing and chooses a payment method, with what this browser typed.
 * With `isChange` it also asks for what is known.
 */
export function choicePage(call: PageCall, order: OrderRow, draft: Draft, isChange: boolean): HtmlReply {
  const { app } = call
  const site = siteOf(app)
  const isTheirs = isBuyerOf(app, order, visitorOf(call, order), call.now)
  const values = { ...(isTheirs ? storedValues(app, order) : {}), ...draft.values }
  const asked = askedOf(app, order, isChange, draft.values)
  const known = { values, errors: draft.errors, focus: firstErrorOf(draft) }
  const country = countryOf(call, order, values, asked.address ?? 'shipping')
  const asksAddress = asked.address === null ? null : askedView(app, asked.address, { country, known }, site)
  const preview = shownOrder(app, order, asked, values, asksAddress?.country?.code)
  const isOptional = asked.address === 'shipping' && preview !== null && offersPickup(preview)
  const address = isOptional && asksAddress !== null ? optionalAddress(asksAddress) : asksAddress
  const { shown, recurring } = preview ?? { shown: order, recurring: recurringOfOrder(app.db, order) }
  const methods = offeredMethods(app, shown)
  const fields = checkoutFields(site, known, { coupon: 'coupon', isNameRequired: asked.isNameRequired && !isOptional })
  const asksShipping = asked.shippingMethod && preview !== null && (address?.country !== null || offersPickup(preview))
  const data = {
    error: draft.message,
    focus: known.focus,
    action: pathOf(order),
    isChange,
    summary: pictured(app, order, summaryOf(app, shown, site, preview ?? undefined), site),
    totalText: moneyText(dueMinor(app.db, shown), shown, site),
    total: dueMinor(app.db, shown),
    shipping: asksShipping ? shippingView(preview, country, site, draft) : null,
    coupon: canTakeCoupon(app.db, order) ? fields.coupon : null,
    vatId: takesVatId(app.db, order) ? fields.vatId : null,
    vatNote: vatNote(order, site),
    buyerReference: asked.buyerReference ? fields.buyerReference : null,
    rows: [...(asked.email ? [[fields.email]] : []), ...(asked.name ? [[fields.firstName, fields.lastName]] : [])],
    address,
    countryIsAll: asked.address === 'country' && address?.country !== null,
    known: isChange ? null : knownDetails(app, order, site, { values: draft.values, isTheirs }),
    consent: asked.deliveryConsent ? fields.immediateDelivery : null,
    ...paymentView(app, methods, draft, site),
    due: site.isEuLaw && address?.country !== null ? dueTexts(app, { shown, recurring }, site, call.now) : [],
    submit: submitWords(dueMinor(app.db, shown), shown, methods, address?.country === null, site),
    cancel: `/checkout/cancel/${order.publicToken}`
  }
  return {
    ...shopPage(app, { template: 'checkout', title: site.t('pay.title'), data }, {}, site),
    script: 'enhance',
    // Stripe's page can have the shop's own domain, which is not known here.
    leadsTo: [order.returnUrl, order.cancelUrl, app.cards?.name === 'stripe' ? 'https:' : null]
  }
}

/** The summary with a picture for each line that has one. */
function pictured({ db, publicUrl }: App, { id }: OrderRow, summary: Summary, site: Site): Summary {
  const items = itemsOf(db, id)
  const lines = summary.lines.map((line, index) => {
    const item = items[index]
    return item === undefined
      ? line
      : { ...line, picture: toPicture(lineImage(db, item, publicUrl()), line.name, site) }
  })
  return { ...summary, lines }
}

/** Why the VAT id of an order does not take the tax off; null if it does, or if there is none. */
function vatNote({ vatCheck }: OrderRow, { t }: Site): string | null {
  if (vatCheck === null || vatCheck.accepted || vatCheck.outcome === 'confirmed') return null
  return t(`vat.${vatCheck.outcome}`)
}

/** The methods to pay with, the first of them or that of the draft chosen; a single one is not a choice. */
function paymentView(app: App, methods: readonly PaymentMethod[], { values, errors }: Draft, { t }: Site) {
  const cardHint = t(app.cards?.name === 'sandbox' ? 'method.cardTest' : 'method.cardText')
  const words: Readonly<Record<PaymentMethod, { label: string; hint: string }>> = {
    card: { label: t('method.card'), hint: cardHint },
    manual: { label: t('method.manual'), hint: manualInstructions(app) },
    free: { label: t('method.free'), hint: t('method.freeText') }
  }
  const chosen = methods.find((name) => name === values['payment_method']) ?? methods[0]
  const options = methods.map((name) => ({ value: name, ...words[name], isChosen: name === chosen }))
  return {
    payment: { legend: t('howToPay'), name: 'payment_method', errors: errors['payment_method'], options },
    only: options.length === 1 ? options[0] : undefined
  }
}

function offersPickup({ choice }: ShownOrder): boolean {
  return choice.methods.some(({ pickup }) => pickup)
}

/** The shipping methods of the form; `tooHeavy` says that there are none for an order of this weight. */
function shippingView({ shown, choice }: ShownOrder, country: string, site: Site, { errors }: Draft) {
  const { t, textLanguage } = site
  const { methods, chosen } = choice
  return {
    tooHeavy: methods.length === 0 ? t('pay.tooHeavy', { country: countryName(country, textLanguage) }) : null,
    legend: t(methods.some(({ pickup }) => pickup) ? 'shipping.howToGet' : 'shipping.how'),
    name: 'shipping_method',
    refreshes: 'update',
    errors: errors['shipping_method'],
    options: methods.map(({ id, name, estimate, amountMinor }) => ({
      value: id,
      label: name,
      price: amountMinor === 0 ? t('shipping.free') : moneyText(amountMinor, shown, site),
      hint: estimate,
      isChosen: id === chosen?.id
    }))
  }
}

/** The order's button; while the country is unknown, the other fields are not shown yet. */
function submitWords(
  amountMinor: number,
  order: OrderRow,
  methods: readonly PaymentMethod[],
  isCountryUnknown: boolean,
  site: Site
) {
  const { t } = site
  if (isCountryUnknown) return { label: t('continue'), action: 'country' }
  if (site.isEuLaw) return { label: t('pay.oblige'), action: '' }
  if (methods.length === 1 && methods[0] === 'card') return { label: t('pay.continue'), action: '' }
  return { label: t('pay.order', { amount: moneyText(amountMinor, order, site) }), action: '' }
}

/**
 * What the buyer owes, directly above the button: the amount now, and for subscriptions that of each period and the
 * minimum term (directive 2011/83/EU, article 8(2); § 312j BGB).
 */
function dueTexts(
  app: App,
  { shown, recurring }: Pick<ShownOrder, 'shown' | 'recurring'>,
  site: Site,
  now: number
): string[] {
  const renewal = recurring && {
    interval: recurring.interval,
    amount: moneyText(recurring.totals.totalMinor, shown, site),
    day: dayText(toIso(addInterval(now, recurring.interval)), site)
  }
  return dueNotes(site, moneyText(dueMinor(app.db, shown), shown, site), renewal)
}

type Viewer = { values: Draft['values']; isTheirs: boolean }

/**
 * The email and the address that the order has. Others may have the link, so only the browser that typed them, or
 * that of the buyer, sees them in full.
 */
function knownDetails(app: App, order: OrderRow, site: Site, { values, isTheirs }: Viewer) {
  const { email } = order
  const address = needsAddress(itemsOf(app.db, order.id), order.shippingMethod) ? shipToOf(order) : null
  const isTyped = (value: string | undefined, name: string): boolean => isTheirs || values[name]?.trim() === value
  if (email === null && address === null) return null
  const linesOf = (shipTo: Address): string[] =>
    isTyped(shipTo.address1, 'address1') ? postalLines({ ...order.contact, ...shipTo }) : [place(shipTo, site)]
  return {
    email: email === null ? null : isTyped(email, 'email') ? email : maskedEmail(email),
    address: address === null ? null : linesOf(address),
    mayChange: order.userId === null || address !== null
  }
}

function place({ city, country }: Address, { t, textLanguage }: Site): string {
  const known = [city, country === undefined ? undefined : countryName(country, textLanguage)]
  return known.filter((part) => part !== undefined).join(', ') || t('pay.addressTyped')
}

/** What the order has. Without an address, that of the account. */
function storedValues({ db }: App, order: OrderRow): Record<string, string> {
  const { email, contact, userId, vatId, buyerReference } = order
  const address = shipToOf(order) ?? (userId === null ? null : getUserById(db, userId).address)
  return {
    ...(email === null ? {} : { email }),
    ...contact,
    ...address,
    ...(vatId === null ? {} : { vatId }),
    ...(buyerReference === null ? {} : { buyerReference })
  }
}

function countryOf(
  { app, request }: PageCall,
  order: OrderRow,
  values: Draft['values'],
  address: AskedAddress
): string {
  const known = [values['country'], order.shippingAddress?.country, order.billingAddress?.country]
  const likely = likelyCountry(app.db, known, request.headers.get('accept-language'), askedCountries(app, address))
  return likely === '' && address === 'country' ? setting(app.db, 'shop.country') : likely
}

type Typed = { country: string; known: Pick<Draft, 'values' | 'errors'> }

/** The fields of an address that is asked for, under what it is for. */
function askedView(app: App, address: AskedAddress, { country, known }: Typed, site: Site): AddressForm {
  const { t, textLanguage } = site
  const offered = countries(app.db, textLanguage, askedCountries(app, address))
  const view = addressView(app.db, country, known, textLanguage, offered)
  if (address === 'shipping') return view
  const title = t(address === 'business' ? 'pay.businessAddress' : 'pay.country')
  return { ...view, texts: { ...view.texts, title }, rows: address === 'country' ? [] : view.rows }
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
    'shipping_method',
    'immediateDelivery'
  ]
  return order.find((name) => errors[name] !== undefined) ?? null
}
