import { isShopError } from '../../client/client.ts'
import type { Quote } from '../../client/client.ts'
import { nameOf } from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import { requestOf } from './cart-order.ts'
import type { Wish } from './cart-order.ts'
import type { AddressForm, Visit } from './site.ts'

/** The prices of a cart, and what they are for. */
export type Quoted = {
  quote: Quote
  wish: Wish
  couponError: string | null
  needsProof: boolean
  address: AddressForm
  methods: Quote['shipping']['methods']
  isPickup: boolean
}

/**
 * The prices of a cart with what was typed. The first shipping method counts until the buyer chooses another one, and a
 * coupon that the shop refused is left out.
 */
export async function quoteOf(
  visit: Visit,
  items: CartItem[],
  form: URLSearchParams,
  typed?: AddressForm
): Promise<Quoted> {
  const { client } = visit
  const address = typed ?? (await startAddress(visit, form))
  const asked = requestOf(visit.site, items, form, address)
  const known = refusalOf(form, items)
  const {
    quote: first,
    couponError,
    needsProof
  } = await quoteWithCoupon(visit, known === null ? asked : without(asked), asked, form)
  const coupon = known ?? couponError
  const used = coupon === null ? asked : without(asked)
  const { required, methods, chosen } = first.shipping
  const { shippingAddress: _address, shippingMethod: _method, ...unshipped } = used
  if (!required) {
    const quote = used.shippingAddress === undefined ? first : await client.post('/store/quote', quoteBody(unshipped))
    return { quote, wish: unshipped, couponError: coupon, needsProof, address, methods: [], isPickup: false }
  }
  const wanted = methods.find(({ id }) => id === used.shippingMethod) ?? methods.find(({ pickup }) => !pickup)
  const isPickup = wanted?.pickup === true
  const wish = {
    ...unshipped,
    ...(isPickup || _address === undefined ? {} : { shippingAddress: _address }),
    ...(wanted && { shippingMethod: wanted.id })
  }
  const isSame = wanted?.id === chosen && wanted?.id === used.shippingMethod && !(isPickup && _address !== undefined)
  const isChosen = wanted === undefined || isSame
  const quote = isChosen ? first : await client.post('/store/quote', quoteBody(wish))
  return { quote, wish, couponError: coupon, needsProof, address, methods, isPickup }
}

function without({ couponCode: _coupon, giftCards: _cards, ...wish }: Wish): Wish {
  return wish
}

/** What a price depends on. */
function quoteBody({
  items,
  couponCode,
  giftCards,
  customer,
  shippingAddress,
  shippingMethod,
  subscribeAgain,
  strategy
}: Wish) {
  const { vatId, email } = customer ?? {}
  // The email decides about a code that counts for each customer.
  const buyer = { ...(vatId && { vatId }), ...(couponCode && email && { email }) }
  const { country, state } = shippingAddress ?? {}
  return {
    items,
    strategy,
    ...(couponCode === undefined ? {} : { couponCode }),
    ...(giftCards === undefined ? {} : { giftCards }),
    ...(Object.keys(buyer).length === 0 ? {} : { customer: buyer }),
    ...(subscribeAgain === undefined ? {} : { subscribeAgain }),
    ...(country === undefined ? {} : { shippingAddress: { country, ...(state === undefined ? {} : { state }) } }),
    ...(shippingMethod === undefined ? {} : { shippingMethod })
  }
}

/** A coupon can be refused by the quote, or as an input, or because too many codes were tried. */
async function quoteWithCoupon({ client, site }: Visit, wish: Wish, asked: Wish, form: URLSearchParams) {
  try {
    const quote = await client.post('/store/quote', quoteBody(wish))
    const problem = quote.problems.find(({ path }) => path === 'couponCode' || path.startsWith('giftCards.'))
    if (problem === undefined) return { quote, couponError: null, needsProof: false }
    const needsProof = problem.code === 'login_needed'
    const couponError = needsProof ? site.t('prove.coupon') : problem.message
    if (!needsProof) remember(form, couponError, dependsOnCart.has(problem.code) ? cartText(asked.items) : '')
    return { quote: await client.post('/store/quote', quoteBody(without(wish))), couponError, needsProof }
  } catch (error) {
    const { couponCode, giftCards } = wish
    if ((couponCode === undefined && giftCards === undefined) || !isShopError(error)) throw error
    const {
      couponCode: wrong,
      giftCards: wrongCards,
      'customer.email': wrongEmail
    } = error.code === 'VALIDATION_FAILED' ? error.details.fieldErrors : {}
    const refused = (wrong ?? wrongCards ?? wrongEmail)?.join(' ')
    if (refused === undefined && error.code !== 'RATE_LIMITED') throw error
    const couponError = refused ?? site.t('cart.tooManyCodes')
    if (wrongEmail === undefined) remember(form, couponError, '')
    return { quote: await client.post('/store/quote', quoteBody(without(wish))), couponError, needsProof: false }
  }
}

/** Whether a code applies may change with the cart for these reasons. */
const dependsOnCart: ReadonlySet<string> = new Set(['coupon_minimum', 'coupon_not_for_cart', 'gift_card_not_for_cart'])
/** The cart as a text, to see whether it has changed. */
export const cartText = (items: readonly CartItem[]): string =>
  items.map((item) => `${nameOf(item)}x${item.quantity}`).join('.')

/** A refused code is not sent again for the same cart, because each wrong code counts against the limit on guesses. */
function remember(form: URLSearchParams, message: string, cart: string): void {
  form.set('refusedCode', form.get('couponCode') ?? '')
  form.set('refusedCart', cart)
  form.set('refusedText', message)
}

function refusalOf(form: URLSearchParams, items: readonly CartItem[]): string | null {
  const cart = form.get('refusedCart') ?? ''
  const isSame = form.has('refusedCode') && form.get('refusedCode') === form.get('couponCode')
  return isSame && (cart === '' || cart === cartText(items)) ? form.get('refusedText') : null
}

/** The address starts with what was typed, else with the address of the account. */
async function startAddress(visit: Visit, form: URLSearchParams): Promise<AddressForm> {
  const typed = Object.fromEntries(form)
  if (form.has('country')) return visit.addressForm(typed, false)
  const { address } = await visit.client.get('/me/address').catch((error: unknown) => {
    if (!isShopError(error, 'NOT_AUTHENTICATED')) throw error
    return { address: null }
  })
  return visit.addressForm({ ...address, ...typed }, false)
}
