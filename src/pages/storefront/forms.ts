import { ShopError } from '../../client/client.ts'
import type { Product } from '../../client/api-types.ts'
import { limits, cartCookie, nameOf, parseCart, setCart, withItem } from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import { toPicture } from './card.ts'
import { money } from './money.ts'
import { orderStates } from './order-states.ts'
import { PageNotFound } from './site.ts'
import type { Shown, Visit } from './site.ts'

/** Puts a product into the cart: the form of a product's page without script. @throws ShopError NOT_FOUND */
export async function addToCart(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const form = await visit.form()
  const slug = form.get('slug') ?? ''
  const { product } = await client.get(`/store/products/${encodeURIComponent(slug)}`)
  const back = `/products/${product.slug}`
  const variation = variationOf(product, form)
  if (variation === undefined) return { redirect: `${back}?notice=no-choice` }
  const item = { productId: product.productId, quantity: quantityOf(form.get('quantity')), ...variation }
  const items = withItem(parseCart(visit.cookie(cartCookie)), item)
  if (items === undefined) return { redirect: `${back}?notice=full` }
  return { redirect: '/cart', cookies: [setCart(items, site)] }
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

function quantityOf(text: string | null): number {
  return Math.min(limits.quantity, Math.max(1, Math.round(Number(text)) || 1))
}

/** The cart without script. */
export async function showPlainCart(visit: Visit): Promise<Shown> {
  const items = parseCart(visit.cookie(cartCookie))
  return plainCart(visit, items, null)
}

/**
 * Changes the cart without script, or takes it to the payment page, which asks for email and address. Another tab may have
 * changed the cart since the form was shown: only the lines that the form names change.
 */
export async function changePlainCart(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const form = await visit.form()
  const changed = parseCart(visit.cookie(cartCookie)).flatMap((item) => {
    if (form.get('remove') === nameOf(item)) return []
    return [{ ...item, quantity: quantityOf(form.get(`quantity-${nameOf(item)}`) ?? String(item.quantity)) }]
  })
  const cookies = [setCart(changed, site)]
  if (!form.has('pay') || changed.length === 0) return { redirect: '/cart/plain', cookies }
  try {
    const addresses = { returnUrl: `${site.publicUrl}/thanks/plain`, cancelUrl: `${site.publicUrl}/cart` }
    const sent = { items: changed, ...addresses }
    const result = await client.post('/store/checkout-session', sent, { idempotencyKey: keyOf(form) })
    if (!('checkoutUrl' in result)) return { redirect: '/orders', cookies }
    return { redirect: result.checkoutUrl, cookies: [...cookies, setPlaced(result.orderToken, site)] }
  } catch (error) {
    if (!(error instanceof ShopError)) throw error
    return plainCart(visit, changed, error.message)
  }
}

/** A form that is sent twice is one purchase: the page has a key. */
function keyOf(form: URLSearchParams): string {
  const key = form.get('key') ?? ''
  return /^[\w-]{20,64}$/.test(key) ? key : crypto.randomUUID()
}

async function plainCart({ client, site }: Visit, items: CartItem[], error: string | null): Promise<Shown> {
  const { t } = site
  const title = t('yourCart')
  const { userLoggedIn: isSignedIn } = await client.get('/nonce')
  if (items.length === 0)
    return { template: 'plain-cart', title, data: { isSignedIn, lines: [], total: '', error, payable: false, key: '' } }
  const quote = await client.post('/store/quote', { items })
  const lines = quote.lines.map((line) => ({
    item: nameOf(line),
    name: line.name ?? t('noLongerSold'),
    quantity: line.quantity,
    total: money(line.total, site),
    picture: toPicture(line.image, line.name ?? '', site),
    problem: line.problem?.message ?? null
  }))
  const data = {
    isSignedIn,
    lines,
    total: money(quote.total, site),
    error,
    payable: quote.lines.every(({ problem }) => problem === null),
    key: crypto.randomUUID()
  }
  return { template: 'plain-cart', title, data }
}

/**
 * Where the buyer without script comes back to. The cart is emptied if it became this order and the order needs no cart
 * any more. @throws ShopError NOT_FOUND
 */
export async function thankPlainly({ client, site, query, cookie }: Visit): Promise<Shown> {
  const token = query.get('orderToken') ?? ''
  if (!/^[\w-]{1,100}$/.test(token)) throw new PageNotFound()
  const { order, canPay, canCancel } = await client.get(`/store/orders/${token}`)
  const isAtBank = order.status === 'pending' && !canPay && !canCancel
  const isTaken = isAtBank || (order.status !== 'pending' && !orderStates[order.status].over)
  const isOurs = cookie(placedCookie) === token
  const cookies = isOurs && isTaken ? [setCart([], site), setPlaced('', site)] : []
  return { redirect: `/checkout/done/${token}`, cookies }
}

/** Names the order that the cart without script became, so that a later visit does not empty the next cart. */
const placedCookie = 'shopstead_placed'

function setPlaced(token: string, { publicUrl }: Visit['site']): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  const age = token === '' ? 0 : 2_592_000
  return `${placedCookie}=${token}; Path=/thanks; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`
}
