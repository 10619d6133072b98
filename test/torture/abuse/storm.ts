import { Agent } from 'node:http'
import { sendRequest, runConcurrently } from '../http-client.ts'
import type { Reply, RequestOptions } from '../http-client.ts'
import { Random } from '../random.ts'
import { sourceHeaders } from './forged-sources.ts'
import type { ForgedSource } from './forged-sources.ts'

export type StormKind =
  | 'wrong password'
  | 'declined card'
  | 'impossible cart'
  | 'weak password'
  | 'guest order'
  | 'scarce product'
  | 'forgotten password'
  | 'search'
  | 'forged webhook'

export type StormOptions = {
  apiRoot: string
  productId: number
  what: StormKind
  /** The number of requests. */
  times: number
  /** Ends the storm early, in milliseconds after its start. */
  untilMs?: number
  /** The number of concurrent requests. */
  width: number
  from: ForgedSource
  /** The index of the first request. */
  startAt?: number
  /** Sends all logins to this account instead of a different one each. */
  account?: string
  headers?: Record<string, string>
  seed: number
}

/** The number of responses by status and code or bucket (`429 checkout_ip`), and the failed requests. */
export type StormResult = { answers: Record<string, number>; broken: string[]; ms: number }

const cards = ['pm_card_chargeDeclined', 'pm_card_chargeDeclinedInsufficientFunds', 'pm_card_chargeDeclinedStolenCard']

/** Sends the same kind of request many times, each with the headers of its forged source. */
export async function storm(options: StormOptions): Promise<StormResult> {
  const result: StormResult = { answers: {}, broken: [], ms: 0 }
  const agent = new Agent({ keepAlive: true })
  const random = new Random(options.seed)
  const started = performance.now()
  const isOver = (): boolean => options.untilMs !== undefined && performance.now() - started > options.untilMs
  await runConcurrently(options.times, options.width, async (turn) => {
    if (isOver()) return
    const index = turn + (options.startAt ?? 0)
    const { path, ...question } = request(options, index)
    const headers = { ...question.headers, ...options.headers, ...sourceHeaders(options.from, index, random) }
    try {
      const name = nameOf(await sendRequest(`${options.apiRoot}${path}`, { ...question, headers, agent }))
      result.answers[name] = (result.answers[name] ?? 0) + 1
    } catch (error) {
      result.broken.push(String(error))
    }
  })
  agent.destroy()
  result.ms = Math.round(performance.now() - started)
  return result
}

function request({ what, account, productId }: StormOptions, index: number): RequestOptions & { path: string } {
  if (what === 'wrong password')
    return {
      path: '/auth/login',
      body: { email: account ?? `target${index}@example.com`, password: 'not-the-password' }
    }
  if (what === 'weak password')
    return {
      path: '/auth/register',
      body: { email: `new${index}@example.com`, password: 'x', displayName: 'New User', acceptTerms: true }
    }
  if (what === 'guest order') return { path: '/store/checkout-session', body: { items: [{ productId, quantity: 1 }] } }
  if (what === 'scarce product')
    return { path: '/store/checkout-session', body: { items: [{ productId, quantity: 10 }] } }
  if (what === 'forgotten password')
    return { path: '/auth/forgot-password', body: { email: `target${index}@example.com` } }
  if (what === 'search') return { path: `/store/offers?search=${encodeURIComponent(`%${index.toString(36)}_`)}` }
  if (what === 'forged webhook')
    return { path: '/webhooks/stripe', headers: { 'stripe-signature': 't=1,v1=00' }, body: { id: `evt_${index}` } }
  // Counted first, then refused because of its content.
  if (what === 'impossible cart')
    return { path: '/store/checkout-session', body: { items: [{ productId: 999_999, quantity: 1 }] } }
  return {
    path: '/store/checkout-session',
    body: {
      items: [{ productId, quantity: 1 }],
      strategy: 'token_handoff',
      paymentToken: cards[index % cards.length],
      returnUrl: 'https://site.example/thanks',
      // The same purchase of one browser is answered once.
      notes: `card ${index}`
    }
  }
}

function nameOf({ status, text, headers }: Reply): string {
  const { error } = JSON.parse(text) as { error?: { code: string; details?: { bucket?: string } } }
  if (error === undefined) return String(status)
  const missing = status === 503 && headers['retry-after'] === undefined ? ' without Retry-After' : ''
  return `${status} ${error.details?.bucket ?? error.code}${missing}`
}
