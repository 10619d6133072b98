import { cartCookie, limits, parseCart, setCart } from '../storefront/cart-cookie.ts'
import { t } from './texts.js'

const key = 'shopstead.cart'
const { currency } = document.body.dataset

/**
 * The cart. Its items are in a cookie that forms without script share; names and prices, which may be old, are stored beside
 * it. A line is `{productId, variationId, slug, name, type, picture, amount, currency, quantity}`.
 */
export function readCart() {
  const known = readDetails()
  return itemsNow().map(({ productId, variationId = null, quantity }) => {
    const details = known.find((line) => line.productId === productId && line.variationId === variationId)
    return {
      slug: '',
      name: t('product.unnamed'),
      type: 'physical',
      picture: null,
      amount: 0,
      currency,
      ...details,
      productId,
      variationId,
      quantity
    }
  })
}

export function writeCart(lines) {
  const stored = lines.slice(0, limits.lines)
  const items = stored.map(({ productId, variationId, quantity }) => {
    return { productId, quantity, ...(variationId === null ? {} : { variationId }) }
  })
  document.cookie = setCart(items, { publicUrl: location.origin })
  writeDetails(stored)
  dispatchEvent(new Event('cart'))
}

/**
 * Calls a listener when the cart may have changed in another tab. The stored names can arrive before the cookie, and a form
 * without script changes the cookie alone. Older browsers tell only of the stored names.
 */
export function onCartChange(listener) {
  addEventListener('storage', (event) => {
    if (event.key === key) listener()
  })
  globalThis.cookieStore?.addEventListener('change', ({ changed, deleted }) => {
    if ([...changed, ...deleted].some(({ name }) => name === cartCookie)) listener()
  })
}

/** Stores the names and prices of the lines, but not which lines there are: another tab may have changed those. */
export function writeDetails(lines) {
  localStorage.setItem(key, JSON.stringify(lines))
}

/** Adds a line. `full` means that the cart has no room and did not change, `most` that it has the most units of one. */
export function addToCart(line) {
  const lines = readCart()
  const same = lines.find(
    ({ productId, variationId }) => productId === line.productId && variationId === line.variationId
  )
  if (same === undefined) {
    if (lines.length >= limits.lines) return 'full'
    writeCart([...lines, line])
    return 'added'
  }
  const quantity = Math.min(limits.quantity, same.quantity + line.quantity)
  writeCart(lines.map((known) => (known === same ? { ...line, quantity } : known)))
  return same.quantity + line.quantity > limits.quantity ? 'most' : 'added'
}

function itemsNow() {
  const sent = document.cookie.split('; ').find((pair) => pair.startsWith(`${cartCookie}=`))
  // A cart from before the cookie existed.
  if (sent === undefined)
    return readDetails().map(({ variationId, ...line }) => (variationId === null ? line : { ...line, variationId }))
  return parseCart(sent.slice(cartCookie.length + 1))
}

function readDetails() {
  try {
    const lines = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(lines) ? lines : []
  } catch {
    // The stored text is not a cart, or incomplete.
    return []
  }
}
