import type { Site, Visit } from './site.ts'

/** What a cart holds at most: different products, and units of each. One order takes no more. */
export const limits = { lines: 30, quantity: 50 }

export type CartItem = { productId: number; variationId?: number; quantity: number }

/** The cookie that scripts and forms share: `12x1.15-3x2` is one of product 12 and two of variation 3 of product 15. */
export const cartCookie = 'shopstead_cart'

/** The items of a cart's cookie; what is not valid is left out. */
export function parseCart(text: string | undefined): CartItem[] {
  const items = (text ?? '').split('.').flatMap((part) => {
    const [, productId, variationId, quantity] = /^([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?x(\d{1,2})$/.exec(part) ?? []
    if (productId === undefined || Number(quantity) === 0) return []
    const variation = variationId === undefined ? {} : { variationId: Number(variationId) }
    return [{ productId: Number(productId), ...variation, quantity: Math.min(Number(quantity), limits.quantity) }]
  })
  return items.slice(0, limits.lines)
}

/** Names what a line sells, in the cookie and in forms: `15-3` is variation 3 of product 15. */
export function nameOf({ productId, variationId }: { productId: number; variationId?: number | null }): string {
  return variationId == null ? String(productId) : `${productId}-${variationId}`
}

/** The Set-Cookie header of a cart. Scripts read it, too. */
export function setCart(items: readonly CartItem[], { publicUrl }: { publicUrl: string }): string {
  const text = items.map((item) => `${nameOf(item)}x${item.quantity}`)
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cartCookie}=${text.join('.')}; Path=/; Max-Age=2592000; SameSite=Lax${secure}`
}

/** The cart with more units of an item; undefined when it is full. */
export function withItem(items: readonly CartItem[], added: CartItem): CartItem[] | undefined {
  const same = items.find((item) => item.productId === added.productId && item.variationId === added.variationId)
  if (same === undefined) return items.length >= limits.lines ? undefined : [...items, added]
  const quantity = Math.min(limits.quantity, same.quantity + added.quantity)
  return items.map((item) => (item === same ? { ...item, quantity } : item))
}

/** A quantity as it was typed, within the limits. */
export function quantityOf(text: string | null): number {
  return Math.min(limits.quantity, Math.max(1, Math.round(Number(text)) || 1))
}

type Cookies = Visit['cookie']
type Place = Pick<Site, 'publicUrl'>

const slugCookie = 'shopstead_slugs'

/** The name in the address of a product in the cart, if it is known. */
export function slugOf(cookie: Cookies, productId: number): string | undefined {
  return new RegExp(`(?:^|\\.)${productId}~([a-z0-9_-]{1,255})(?:\\.|$)`).exec(cookie(slugCookie) ?? '')?.[1]
}

/** The Set-Cookie header that keeps the addresses of products in the cart, the newest first. */
export function setSlug(cookie: Cookies, productId: number, slug: string, place: Place): string {
  const others = (cookie(slugCookie) ?? '')
    .split('.')
    .filter((part) => part !== '' && !part.startsWith(`${productId}~`))
  const parts = [`${productId}~${slug}`, ...others].slice(0, limits.lines)
  while (parts.join('.').length > 3000) parts.pop()
  return ownCookie(slugCookie, parts.join('.'), '/cart', place)
}

const placedCookie = 'shopstead_placed'

/** The token of the order that the cart became last; empty for none. */
export function placedOrder(cookie: Cookies): string {
  return cookie(placedCookie) ?? ''
}

/** Whether the cart became this order. A later visit must not empty the next cart. */
export function isPlaced(cookie: Cookies, token: string): boolean {
  return placedOrder(cookie) === token
}

/** The Set-Cookie header that names the order that the cart became; empty for none. */
export function setPlaced(token: string, place: Place): string {
  return ownCookie(placedCookie, token, '/thanks', place)
}

/** The pages that a payment leads back to, with the cookie that keeps the order's token out of their address. */
const returnCookies = { '/thanks': 'shopstead_thanks', '/cart': 'shopstead_returned' } as const

type ReturnPage = keyof typeof returnCookies

/** Anything but a token must not get into a path. */
export function isOrderToken(text: string): boolean {
  return /^[\w-]{1,100}$/.test(text)
}

/** The token of the order from whose payment the buyer came back to a page; null for none. */
export function returnedOrder(cookie: Cookies, page: ReturnPage): string | null {
  const token = cookie(returnCookies[page]) ?? ''
  return isOrderToken(token) ? token : null
}

/**
 * Leads the browser to the same page without the token of its order, which everyone with the address could use: addresses
 * get into histories, referrers and logs.
 */
export function withoutToken(token: string, page: ReturnPage, place: Place): { redirect: string; cookies: string[] } {
  return { redirect: page, cookies: [setReturned(token, page, place)] }
}

/** The Set-Cookie header that names the order of a page; empty for none. */
export function setReturned(token: string, page: ReturnPage, place: Place): string {
  return ownCookie(returnCookies[page], token, page, place)
}

const keyCookie = 'shopstead_key'

/** The visitor's own number, from which the keys of purchases follow. */
export function keyOf({ cookie }: Pick<Visit, 'cookie'>): string {
  const key = cookie(keyCookie) ?? ''
  return /^[\w-]{20,64}$/.test(key) ? key : crypto.randomUUID()
}

/** The Set-Cookie header of a new number, for the next purchase. */
export function setKey(place: Place): string {
  return ownCookie(keyCookie, crypto.randomUUID(), '/cart', place)
}

function ownCookie(name: string, value: string, path: string, { publicUrl }: Place): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  const age = value === '' ? 0 : 2_592_000
  return `${name}=${value}; Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`
}
