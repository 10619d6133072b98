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
import { dueTexts, ordersHere, renewalText, submitOf, sumsOf } from './cart-due.ts'
import { declineText, order } from './cart-order.ts'
import type { Wish } from './cart-order.ts'
import { cartText, quoteOf } from './cart-quote.ts'
import type { Quoted } from './cart-quote.ts'
import { checkoutFields, optionalAddress, outcomeOf } from './form-view.ts'
import type { FieldErrors } from './form-view.ts'
import { money } from '../../platform/texts/languages.ts'
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

/** Whether the form shows an error. */
const isWrong = ({ countryErrors, rows }: AddressForm): boolean =>
  [countryErrors, ...rows.flat().map(({ errors }) => errors)].some(Boolean)

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
