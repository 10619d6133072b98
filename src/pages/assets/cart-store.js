const key = 'shopstead.cart'

/** One product or variation: `{productId, variationId, slug, name, type, picture, amount, currency, quantity}`. */
export function readCart() {
  try {
    const lines = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(lines) ? lines : []
  } catch {
    // The stored text is not a cart, or incomplete: start with an empty cart.
    return []
  }
}

export function writeCart(lines) {
  localStorage.setItem(key, JSON.stringify(lines.slice(0, 30)))
  dispatchEvent(new Event('cart'))
}

export function addToCart(line) {
  const lines = readCart()
  const same = lines.find(
    ({ productId, variationId }) => productId === line.productId && variationId === line.variationId
  )
  if (same === undefined) writeCart([...lines, line])
  else
    writeCart(
      lines.map((known) =>
        known === same ? { ...line, quantity: Math.min(50, same.quantity + line.quantity) } : known
      )
    )
}
