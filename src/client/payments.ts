import type { CheckoutHandoff, CheckoutRedirect } from './api-types.ts'
import { ShopError } from './errors.ts'

/** The address of a page, such as `window.location`. */
export type PageAddress = { href: string }

/** `success`: paid. `failed`: not paid, or the order is over. `pending`: not decided yet. */
export type PaymentResult = 'success' | 'pending' | 'failed'

const key = 'shopstead.payments'
const mostStored = 10
/** The parameters that Stripe and the shop add to a return URL, and those that prove something. */
const ownParameters = [
  'orderId',
  'orderToken',
  'result',
  'payment_intent',
  'payment_intent_client_secret',
  'redirect_status'
]

/** What a browser has and a server does not. */
type Browser = {
  location?: PageAddress
  history?: { state: unknown; replaceState(state: unknown, unused: string, url: string): void }
}
type Stored = { paymentId: string; orderToken: string }

/** Remembers which order a payment belongs to: the bank sends the buyer back with the id of the payment only. */
export function rememberPayment(answer: CheckoutHandoff | CheckoutRedirect): void {
  if (!('paymentId' in answer) || answer.paymentId === undefined) return
  const { paymentId, orderToken } = answer
  const others = readStored().filter((each) => each.paymentId !== paymentId)
  try {
    localStorage.setItem(key, JSON.stringify([{ paymentId, orderToken }, ...others].slice(0, mostStored)))
  } catch {
    // A server, or a browser that refuses to store. The site passes the order's token to `finish`.
  }
}

/**
 * The token of the order that a buyer comes back from. In a browser, it is removed from the page's address with everything
 * else that Stripe and the shop have added, so that it gets into no referrer and no log, and stays in the state of the
 * history entry for a reload.
 *
 * @throws ShopError NOT_FOUND for an address that names no order
 */
export function takeOrderToken(address: PageAddress): string {
  const url = new URL(address.href)
  const { searchParams: query } = url
  const paymentId = query.get('payment_intent')
  const known = readStored().find((each) => each.paymentId === paymentId)
  const token = query.get('orderToken') ?? known?.orderToken ?? tokenOfState()
  const { history, location } = globalThis as Browser
  if (history !== undefined && location?.href === address.href) {
    for (const name of ownParameters) query.delete(name)
    const state = typeof history.state === 'object' ? history.state : {}
    history.replaceState({ ...state, shopsteadOrder: token }, '', url.href)
  }
  if (token === undefined || !/^[\w-]{1,100}$/.test(token))
    throw new ShopError('NOT_FOUND', 'This address belongs to no order of this browser.', { status: 404 })
  return token
}

/** What an order's status says about its payment. */
export function resultOf(status: string): PaymentResult {
  if (status === 'processing' || status === 'completed') return 'success'
  return status === 'pending' || status === 'on-hold' ? 'pending' : 'failed'
}

function tokenOfState(): string | undefined {
  const state = (globalThis as Browser).history?.state as { shopsteadOrder?: string } | null | undefined
  return state?.shopsteadOrder
}

function readStored(): Stored[] {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? '[]') ?? []) as Stored[]
  } catch {
    return []
  }
}
