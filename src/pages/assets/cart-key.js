const stored = 'shopstead.checkout'

/** A purchase that is sent twice is one purchase: it keeps its key until the service has given a final answer. */
export function keyFor(body) {
  const text = JSON.stringify(body)
  const last = lastSent()
  if (last.text === text) return last.key
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  sessionStorage.setItem(stored, JSON.stringify({ text, key }))
  return key
}

/** Whether the same purchase was sent before and got no final answer. */
export function isUnanswered(body) {
  return lastSent().text === JSON.stringify(body)
}

export function forgetKey() {
  sessionStorage.removeItem(stored)
}

function lastSent() {
  return JSON.parse(sessionStorage.getItem(stored) ?? '{}')
}
