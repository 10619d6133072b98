import { keyOf, setPlaced } from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import type { AddressForm, Site, Visit } from './site.ts'
import { isTextKey } from '../../platform/texts/languages.ts'

type Address = Partial<
  Record<'firstName' | 'lastName' | 'country' | 'state' | 'address1' | 'address2' | 'postcode' | 'city', string>
>
type Customer = {
  email?: string
  firstName?: string
  lastName?: string
  vatId?: string
  createAccount?: boolean
  password?: string
}

/** What a buyer wants to order, as a quote and a checkout take it. */
export type Wish = {
  items: CartItem[]
  strategy: 'redirect_to_store' | 'token_handoff'
  couponCode?: string
  giftCards?: string[]
  customer?: Customer
  buyerReference?: string
  shippingAddress?: Address
  shippingMethod?: string
  subscribeAgain?: true
  immediateDelivery?: true
  giftRecipient?: { email: string; message?: string; sendOn?: string }
}

function giftWords(message: string, sendOn: string): { message?: string; sendOn?: string } {
  return { ...(message === '' ? {} : { message }), ...(sendOn === '' ? {} : { sendOn }) }
}

/** The form of a gift card's code. */
const isCardCode = (text: string): boolean => /^[\da-z]{26}$/i.test(text.replaceAll(/[\s-]/g, ''))

/** What the field for codes has: gift cards, which have a form of their own, and a coupon. */
function codesIn(text: string): { couponCode: string; giftCards: string[] } {
  if (isCardCode(text)) return { couponCode: '', giftCards: [text] }
  const words = text.split(/[\s,;]+/)
  return {
    couponCode: words.filter((word) => !isCardCode(word)).join(' '),
    giftCards: words.filter(isCardCode)
  }
}

/** What the form of the cart asks for. */
export function requestOf(site: Site, items: CartItem[], form: URLSearchParams, address: AddressForm): Wish {
  const text = (name: string): string => form.get(name)?.trim() ?? ''
  const filled = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, text(name)]).filter(([, value]) => value !== ''))
  const country = address.country?.code
  const fields = address.rows.flat().map(({ name }) => name)
  const typed = Object.fromEntries(address.rows.flat().flatMap(({ name, value }) => (value ? [[name, value]] : [])))
  const isNew = form.has('createAccount')
  const customer: Customer = {
    ...filled(['email', 'firstName', 'lastName', 'vatId']),
    ...(isNew ? { createAccount: true, password: form.get('password') ?? '' } : {})
  }
  const giftEmail = text('giftEmail')
  const { couponCode, giftCards } = codesIn(text('couponCode'))
  const isHere = text('strategy') === 'token_handoff' && site.cart().testCards.length > 0
  return {
    items,
    strategy: isHere ? 'token_handoff' : 'redirect_to_store',
    ...(couponCode === '' ? {} : { couponCode }),
    ...(giftCards.length === 0 ? {} : { giftCards }),
    ...(Object.keys(customer).length === 0 ? {} : { customer }),
    ...(country === undefined
      ? {}
      : { shippingAddress: { ...filled(['firstName', 'lastName', ...fields]), ...typed, country } }),
    ...(text('buyerReference') === '' ? {} : { buyerReference: text('buyerReference') }),
    ...(text('shippingMethod') === '' ? {} : { shippingMethod: text('shippingMethod') }),
    ...(form.has('subscribeAgain') ? { subscribeAgain: true } : {}),
    ...(form.has('immediateDelivery') ? { immediateDelivery: true } : {}),
    ...(giftEmail === ''
      ? {}
      : { giftRecipient: { email: giftEmail, ...giftWords(text('giftMessage'), text('giftDay')) } })
  }
}

/**
 * Places the order. Its key follows from the visitor's own number and from what is ordered, so that a form that is sent
 * twice, or again after its answer was lost, is one purchase. With a final answer the number changes.
 *
 * @throws ShopError as POST /store/checkout-session
 */
export async function order(
  visit: Visit,
  wish: Wish,
  form: URLSearchParams
): Promise<{ redirect: string; cookies: string[] }> {
  const { client, site } = visit
  const notes = form.get('notes')?.trim() ?? ''
  const body = {
    ...wish,
    returnUrl: `${site.publicUrl}/thanks`,
    cancelUrl: `${site.publicUrl}/cart`,
    ...(notes === '' ? {} : { notes }),
    ...(wish.strategy === 'token_handoff' ? { paymentToken: form.get('paymentToken') ?? '' } : {})
  }
  const idempotencyKey = await digest(`${keyOf(visit)} ${JSON.stringify(body)}`)
  const result = await client.post('/store/checkout-session', body, { idempotencyKey, query: trackingOf(visit, form) })
  const { orderToken, statusUrl } = result
  const checkoutUrl = 'checkoutUrl' in result ? result.checkoutUrl : statusUrl
  const own = ('redirectUrl' in result ? result.redirectUrl : null) ?? `/thanks?orderToken=${orderToken}`
  return { redirect: checkoutUrl === statusUrl ? own : checkoutUrl, cookies: [setPlaced(orderToken, site)] }
}

/** Where the visitor came from. A script sends what it has stored; without a ref, the affiliate cookie counts. */
export function trackingOf({ cookie }: Visit, form: URLSearchParams) {
  const landing = new URLSearchParams(form.get('tracking') ?? '')
  const names = ['ref', 'campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const
  const stored = Object.fromEntries(names.flatMap((name) => (landing.get(name) ? [[name, landing.get(name)]] : [])))
  if (stored['ref'] !== undefined) return stored
  const kept = (['ref', 'campaign'] as const).map((name) => [name, cookie(`shopstead_${name}`)])
  return { ...stored, ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)) }
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(bytes).toString('base64url')
}

/** Says why a payment failed, as far as it is safe to show: not that a card was reported as stolen. */
export function declineText(safeReason: string, { t }: Site): string {
  const key = `declined.${safeReason}`
  return t(isTextKey(key) ? key : 'declined.payment_failed')
}
