const key = 'shopstead.order'

/** The order's token in the address of the page; null without one. Anything else must not get into a path. */
export function readToken() {
  const token = new URLSearchParams(location.search).get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? token : null
}

/** Remembers the order that was made from the cart, also for another tab: a bank's app may open the way back in one. */
export function rememberPlaced(token) {
  localStorage.setItem(key, token)
}

/** Whether the cart became this order. */
export function isPlaced(token) {
  return localStorage.getItem(key) === token
}

export function forgetPlaced() {
  localStorage.removeItem(key)
}
