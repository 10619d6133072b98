const stored = 'shopstead.checkout'

/** A purchase that is sent twice is one purchase: it keeps its key until the service has given a final answer. */
export function keyFor(body) {
  const text = textOf(body)
  const last = lastSent()
  if (last.text === text) return last.key
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  sessionStorage.setItem(stored, JSON.stringify({ text, key }))
  return key
}

/** Whether the same purchase was sent before and got no final answer. */
export function isUnanswered(body) {
  return lastSent().text === textOf(body)
}

export function forgetKey() {
  sessionStorage.removeItem(stored)
}

/** The browser must not store the password of a new account. */
function textOf(body) {
  return JSON.stringify(body, (name, value) => (name === 'password' ? undefined : value))
}

function lastSent() {
  return JSON.parse(sessionStorage.getItem(stored) ?? '{}')
}
