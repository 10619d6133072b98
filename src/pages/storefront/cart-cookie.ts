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
