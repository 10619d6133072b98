import { isShopError } from '../../client/client.ts'
import type { Quote } from '../../client/client.ts'
import { toPicture } from './products.ts'
import {
  cartCookie,
  isOrderToken,
  limits,
  nameOf,
  parseCart,
  quantityOf,
  returnedOrder,
  setCart,
  setKey,
  setReturned,
  slugOf,
  setSlug,
  withItem,
  withoutToken
} from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import { declineText, order, requestOf } from './cart-order.ts'
import type { Wish } from './cart-order.ts'
import { checkoutFields, optionalAddress, outcomeOf } from './form-view.ts'
import type { FieldErrors } from './form-view.ts'
import { dayText, money } from '../../platform/texts/languages.ts'
import { taxLabel } from './order-card.ts'
import type { AddressForm, Shown, ShownPage, Site, Visit } from './site.ts'
import type { Product } from '../../client/api-types.ts'

/** What became of a cart that was sent. */
type Outcome = {
  status?: number
  refused?: FieldErrors
  error?: string | null
  address?: AddressForm
  cookies?: string[]
}

/** The cart. After the payment page it says whether the order was cancelled; the address alone proves nothing. */
export async function showCart(visit: Visit): Promise<Shown> {
  const { query, cookie, site } = visit
  const sent = query.get('orderToken')
  if (sent !== null) return withoutToken(isOrderToken(sent) ? sent : '', '/cart', site)
  const token = returnedOrder(cookie, '/cart')
  const isCancelled = token !== null && (await statusOf(visit, token)) === 'cancelled'
  const note = isCancelled ? site.t('cart.cancelled') : null
  const cookies = [
    ...(cookie('shopstead_key') === undefined ? [setKey(site)] : []),
    ...(token === null ? [] : [setReturned('', '/cart', site)])
  ]
  return cartPage(visit, parseCart(visit.cookie(cartCookie)), new URLSearchParams(), { cookies }, note)
}

async function statusOf({ client }: Visit, token: string): Promise<string | null> {
  return client.get(`/store/orders/${token}`).then(
    ({ order: found }) => found.status,
    () => null
  )
}

/**
 * Changes the cart, and shows its prices again or orders it. Another tab may have changed the cart since the form was
 * shown: only the lines that the form names change.
 */
export async function changeCart(visit: Visit, form: URLSearchParams): Promise<Shown> {
  const items = parseCart(visit.cookie(cartCookie)).flatMap((item) => {
    if (form.get('remove') === nameOf(item)) return []
    // The button that corrects a quantity follows its field.
    const typed = form.getAll(`quantity-${nameOf(item)}`).at(-1)
    return [{ ...item, quantity: typed === undefined ? item.quantity : quantityOf(typed) }]
  })
  const cookies = [setCart(items, visit.site)]
  if (form.has('prove')) return prove(visit, items, form, cookies)
  if (!form.has('pay') || items.length === 0) return cartPage(visit, items, form, { cookies })
  return pay(visit, items, form, cookies)
}

/** Sends a guest a code that proves the email, or checks it, for a coupon that counts for each customer. */
async function prove(visit: Visit, items: CartItem[], form: URLSearchParams, cookies: string[]): Promise<Shown> {
  const email = form.get('email')?.trim() ?? ''
  const code = form.get('emailCode') ?? ''
  const isCheck = form.get('prove') === 'check'
  try {
    await visit.client.post('/store/prove-email', isCheck ? { email, code } : { email })
  } catch (error) {
    if (!isShopError(error, 'TOKEN_INVALID'))
      return cartPage(visit, items, form, { ...outcomeOf(error, form), cookies })
    const refused = { emailCode: [visit.site.t('prove.wrong')] }
    return cartPage(visit, items, form, { status: error.status, refused, cookies })
  }
  if (!isCheck) form.set('codeSentTo', email)
  return cartPage(visit, items, form, { cookies })
}

async function pay(visit: Visit, items: CartItem[], form: URLSearchParams, cookies: string[]): Promise<Shown> {
  const { t } = visit.site
  const { quote, wish, couponError, isPickup } = await quoteOf(visit, items, form)
  const isTyped = form.has('address1') && !isPickup
  const address = isTyped ? await visit.addressForm(Object.fromEntries(form), true) : undefined
  if (address !== undefined && isWrong(address)) return cartPage(visit, items, form, { status: 422, address, cookies })
  // Another page of the shop shows the total itself. Here, the buyer orders what this page has shown, or less.
  const isHigher = ordersHere(visit.site, wish, quote) && !(quote.due <= Number(form.get('total') ?? ''))
  const isOther = wish.shippingMethod !== undefined && wish.shippingMethod !== form.get('shippingMethod')
  if (couponError !== null || isHigher || (isOther && wish.strategy === 'token_handoff')) {
    const error = couponError === null ? t('cart.totalChanged', { total: money(quote.due, visit.site) }) : null
    return cartPage(visit, items, form, {
      status: couponError === null ? 409 : 422,
      error,
      cookies
    })
  }
  if (quote.asksDeliveryConsent && wish.immediateDelivery !== true) {
    const refused = { immediateDelivery: [t('consent.needed')] }
    return cartPage(visit, items, form, { status: 422, refused, cookies })
  }
  try {
    const { redirect, cookies: placed } = await order(visit, wish, form)
    return { redirect, cookies: [...cookies, setKey(visit.site), ...placed] }
  } catch (error) {
    const { refused, ...outcome } = outcomeOf(error, form)
    const text = isShopError(error, 'CHECKOUT_FAILED')
      ? declineText(error.details.safeReason, visit.site)
      : outcome.error
    // Without a final answer, the next try repeats the same purchase.
    const isFinal = isShopError(error) && error.status !== 504 && error.status !== 0
    const next = isFinal ? [...cookies, setKey(visit.site)] : cookies
    return cartPage(visit, items, form, { ...outcome, refused, error: text, cookies: next })
  }
}

/**
 * Whether the button of the cart orders, because no other page of the shop comes before the payment: with a test card, and
 * where EU law asks for a button that says so and only cards are offered, or a gift card pays everything. The gateway's own button does not
 * (directive 2011/83/EU, article 8(2); § 312j BGB).
 */
function ordersHere(site: Site, { strategy }: Wish, { total, due, recurring }: Quote): boolean {
  if (strategy === 'token_handoff') return true
  const isCovered = total > 0 && due === 0
  return site.isEuLaw && (isCovered || !site.cart().byHand) && (total > 0 || recurring !== null)
}

/** The button of the cart. Without a country, the total is not known yet. */
function submitOf(site: Site, wish: Wish, quote: Quote, isTotalKnown: boolean): { name: string; label: string } {
  const { t, isEuLaw } = site
  if (!ordersHere(site, wish, quote)) return { name: 'pay', label: t('cart.toPayment') }
  if (!isTotalKnown && isEuLaw) return { name: 'update', label: t('continue') }
  return { name: 'pay', label: t(isEuLaw ? 'pay.oblige' : 'cart.payNow') }
}

/** What the buyer owes, directly above a button that orders: now, and with each period of a subscription. */
function dueTexts(site: Site, wish: Wish, quote: Quote): string[] {
  const { t, isEuLaw } = site
  if (!isEuLaw || !ordersHere(site, wish, quote)) return []
  const { recurring } = quote
  const due = t('pay.due', { amount: money(quote.due, site) })
  if (recurring === null) return [due]
  const each = { amount: money(recurring.amount, site), day: dayText(recurring.from, site) }
  return [due, t(`pay.each.${recurring.interval}`, each)]
}

/** Whether the form shows an error. */
const isWrong = ({ countryErrors, rows }: AddressForm): boolean =>
  [countryErrors, ...rows.flat().map(({ errors }) => errors)].some(Boolean)

type Quoted = {
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
async function quoteOf(visit: Visit, items: CartItem[], form: URLSearchParams, typed?: AddressForm): Promise<Quoted> {
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
const cartText = (items: readonly CartItem[]): string =>
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

async function cartPage(
  visit: Visit,
  items: CartItem[],
  form: URLSearchParams,
  { status = 200, refused = {}, error = null, address: checked, cookies = [] }: Outcome,
  note: string | null = null
): Promise<ShownPage> {
  const { client, site } = visit
  const { t } = site
  const { userLoggedIn: isSignedIn } = await client.get('/nonce')
  const page = { status, template: 'cart', title: t('yourCart'), cookies }
  if (items.length === 0) return { ...page, data: { isSignedIn, note, lines: [] } }
  const { quote, wish, couponError, needsProof, address, methods, isPickup } = await quoteOf(
    visit,
    items,
    form,
    checked
  )
  const lines = linesOf(visit, quote, form)
  const wrong = [...Object.keys(refused), ...(couponError === null ? [] : ['couponCode'])]
  const { required } = quote.shipping
  const values = { ...(isSignedIn && required ? await nameOfAccount(visit) : {}), ...Object.fromEntries(form) }
  const hasPickup = methods.some(({ pickup }) => pickup)
  const isNameRequired = required && !hasPickup
  const focus = form.has('pay') ? (wrong[0] ?? firstWrong(checked)) : null
  const closed = quote.problems.find(({ code }) => code === 'shop_closed')
  const invalidId = quote.problems.find(({ code }) => code === 'vat_id_invalid')?.message
  const errors = {
    ...refused,
    ...(couponError === null ? {} : { couponCode: [couponError] }),
    ...(invalidId === undefined ? {} : { vatId: [invalidId] })
  }
  const isTotalKnown = !required || isPickup || address.country !== null
  const sentTo = form.get('codeSentTo') ?? ''
  const proof = needsProof && { sentTo, sent: sentTo === '' ? null : t('prove.sent', { email: sentTo }) }
  return {
    ...page,
    data: {
      isSignedIn,
      note,
      error,
      proof,
      cart: cartText(items),
      lines,
      payable: lines.every(({ problems }) => problems.length === 0) && closed === undefined,
      news: newsOf(quote, lines, t),
      total: quote.due,
      sums: sumsOf(quote, site),
      totalText: money(quote.total, site),
      renewal: renewalText(quote, site),
      values,
      fields: checkoutFields(
        site,
        { values, errors, focus },
        { coupon: 'couponCode', refreshes: 'update', isNameRequired }
      ),
      focus,
      accepted: couponError === null && quote.coupons.length > 0 ? acceptedText(quote, site) : null,
      address: required ? (hasPickup ? optionalAddress(address) : address) : null,
      isPickup,
      hasPickup,
      shipping: methods.length === 0 ? null : shippingChoice(methods, wish, site),
      strategy: wish.strategy,
      subscribeAgain: wish.subscribeAgain === true,
      asksConsent: quote.asksDeliveryConsent,
      asksGift: quote.asksGiftRecipient,
      due: isTotalKnown ? dueTexts(site, wish, quote) : [],
      submit: submitOf(site, wish, quote, isTotalKnown),
      ...site.cart()
    }
  }
}

/** The name of the account, which is that of the recipient unless the buyer types another one. */
async function nameOfAccount({ client }: Visit): Promise<{ firstName: string; lastName: string }> {
  const { firstName, lastName } = (await client.get('/me')).profile
  return { firstName: firstName ?? '', lastName: lastName ?? '' }
}

function firstWrong(address: AddressForm | undefined): string | null {
  if (address === undefined) return null
  if (address.countryErrors) return 'country'
  return address.rows.flat().find(({ errors }) => errors)?.name ?? null
}

function renewalText({ recurring, discount }: Quote, site: Site): string | null {
  if (recurring === null) return null
  const { amount, interval, from } = recurring
  const text = site.t(`renewal.${interval}`, { amount: money(amount, site), day: dayText(from, site) })
  return discount > 0 ? `${site.t('renewal.discount')} ${text}` : text
}

function acceptedText({ coupons, discount }: Quote, site: Site): string {
  const code = coupons.map((coupon) => coupon.code.toUpperCase()).join(', ')
  return site.t('cart.coupon', { code, amount: money(discount, site) })
}

function shippingChoice(methods: Quoted['methods'], { shippingMethod }: Wish, site: Site) {
  const { t } = site
  return {
    legend: t(methods.some(({ pickup }) => pickup) ? 'shipping.howToGet' : 'shipping.how'),
    name: 'shippingMethod',
    refreshes: 'update',
    options: methods.map(({ id, name, amount, estimate }) => ({
      value: id,
      label: name,
      price: amount === 0 ? t('shipping.free') : money(amount, site),
      hint: estimate,
      isChosen: id === shippingMethod
    }))
  }
}

type Line = ReturnType<typeof linesOf>[number]

/** The lines with what is wrong with them, and what solves it; some problems are only solved by removing the line. */
function linesOf({ site, cookie }: Visit, { lines, problems }: Quote, form: URLSearchParams) {
  return lines.map((line, index) => {
    const item = nameOf(line)
    const name = line.name ?? site.t('noLongerSold')
    const slug = slugOf(cookie, line.productId)
    const own = problems.filter(({ path }) => path.startsWith(`items.${index}.`) || path === `items.${index}`)
    return {
      item,
      name,
      href: slug === undefined ? null : `/products/${slug}`,
      quantity: line.quantity,
      price: money((line.unitPrice ?? 0) * line.quantity, site),
      picture: toPicture(line.image, name, site),
      most: isOver(form, item) ? site.t('cart.most', { count: limits.quantity }) : null,
      isOut: own.some(({ code }) => code !== 'not_enough'),
      problems: own.map(({ code, message, left = 0 }) => ({
        message,
        left: code === 'not_enough' && left > 0 ? left : null,
        choose: code === 'choose_variation' && slug !== undefined ? `/products/${slug}` : null,
        isSubscribed: code === 'already_subscribed'
      }))
    }
  })
}

/** Whether the buyer typed more of a product than an order can have. The cart then has as many as it can. */
function isOver(form: URLSearchParams, item: string): boolean {
  return Number(form.getAll(`quantity-${item}`).at(-1)) > limits.quantity
}

/** The problems that belong to no line and no field. The form itself asks for the address. */
function newsOf({ problems }: Quote, lines: readonly Line[], t: Site['t']): string[] {
  const count = lines.filter((line) => line.problems.length > 0).length
  const general = problems.filter(
    ({ path, code }) => !/^(items\.|coupon|giftCards|customer)/.test(path) && code !== 'address_needed'
  )
  return [...(count === 0 ? [] : [t('cart.attention', { count })]), ...general.map(({ message }) => message)]
}

function sumsOf({ subtotal, discount, shipping, tax, total, giftCards, due }: Quote, site: Site) {
  const { t } = site
  const taxes = tax.lines.map((line) => ({
    name: 'tax',
    label: taxLabel({ ...line, included: tax.included }, site),
    value: line.amount,
    isIncluded: tax.included && line.ratePercent > 0
  }))
  const sums = [
    ...(subtotal === total ? [] : [{ name: 'subtotal', label: t('sum.subtotal'), value: subtotal }]),
    ...(discount === 0 ? [] : [{ name: 'discount', label: t('sum.discount'), value: -discount }]),
    ...(shipping.amount === 0 ? [] : [{ name: 'shipping', label: t('sum.shipping'), value: shipping.amount }]),
    ...taxes.filter(({ isIncluded }) => !isIncluded),
    { name: 'total', label: t('sum.total'), value: total },
    ...taxes.filter(({ isIncluded }) => isIncluded),
    ...giftCards.flatMap(({ code, amount }) =>
      amount === 0 ? [] : [{ name: 'gift-card', label: t('sum.giftCard', { name: lastSigns(code) }), value: -amount }]
    ),
    ...(due === total ? [] : [{ name: 'due', label: t('sum.due'), value: due }])
  ]
  return sums.map(({ name, label, value }) => ({ name, label, amount: money(value, site) }))
}

const lastSigns = (code: string): string => code.trim().slice(-4).toUpperCase()

/** A form that was sent to the cart: a product that is added, or the cart itself. */
export async function takeCart(visit: Visit): Promise<Shown> {
  const form = await visit.form()
  return form.has('slug') ? addToCart(visit, form) : changeCart(visit, form)
}

/** Puts a product into the cart: the form of a product's page. `stay` shows the product again. @throws ShopError NOT_FOUND */
async function addToCart(visit: Visit, form: URLSearchParams): Promise<Shown> {
  const { client, site, cookie } = visit
  const slug = form.get('slug') ?? ''
  const { product } = await client.get(`/store/products/${encodeURIComponent(slug)}`)
  const back = `/products/${product.slug}`
  const variation = variationOf(product, form)
  if (variation === undefined) return { redirect: `${back}?notice=no-choice` }
  const item = { productId: product.productId, quantity: quantityOf(form.get('quantity')), ...variation }
  const items = withItem(parseCart(cookie(cartCookie)), item)
  if (items === undefined) return { redirect: `${back}?notice=full` }
  const isMost = items.some((each) => isSame(each, item) && each.quantity < item.quantity + quantityIn(cookie, item))
  const cookies = [setCart(items, site), setSlug(cookie, product.productId, product.slug, site)]
  if (form.has('stay')) return { redirect: `${back}?notice=${isMost ? 'most' : 'added'}`, cookies }
  return { redirect: '/cart', cookies }
}

function variationOf(product: Product, form: URLSearchParams): { variationId?: number } | undefined {
  const { variations, options } = product
  if (variations.length === 0) return {}
  const found = variations.find(({ variationId, options: own }) =>
    options.length === 0
      ? form.get('variation') === String(variationId)
      : options.every(({ name }, index) => form.get(`option-${index}`) === own[name])
  )
  return found === undefined ? undefined : { variationId: found.variationId }
}

const isSame = (a: CartItem, b: CartItem): boolean => a.productId === b.productId && a.variationId === b.variationId

function quantityIn(cookie: Visit['cookie'], item: CartItem): number {
  return parseCart(cookie(cartCookie)).find((each) => isSame(each, item))?.quantity ?? 0
}
