import { service } from './service.js'

/** Long enough that typing 12 asks once, short enough to feel immediate. */
const pauseMs = 250

/**
 * Asks the shop for quotes of the cart: one at a time, after a short pause, and only the answer to the newest request
 * counts. When the browser is online again, it sends a new request.
 *
 * @param {() => object | null} bodyNow the request for the cart as it is now; null for an empty cart
 * @param {{ asked: () => void, answered: (quote: import('../../client/api-types.ts').Quote, body: object) => void, failed: (error: unknown, body: object) => void }} handlers
 */
export function createQuotes(bodyNow, { asked, answered, failed }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  /** @type {AbortController | undefined} */
  let running

  async function send() {
    const body = bodyNow()
    if (body === null) return
    const mine = new AbortController()
    running = mine
    try {
      const quote = await service.quote(body, mine.signal)
      if (running === mine) answered(quote, body)
    } catch (error) {
      if (running === mine && !mine.signal.aborted) failed(error, body)
    }
  }

  /** Ignores the answers to the requests so far. */
  function stop() {
    running?.abort()
    running = undefined
    clearTimeout(timer)
  }

  /** Asks for a quote soon, and ignores the answers to older requests from now on. */
  function ask(afterMs = pauseMs) {
    stop()
    asked()
    timer = setTimeout(() => void send(), afterMs)
  }

  addEventListener('online', () => ask(0))
  return { ask, stop }
}
