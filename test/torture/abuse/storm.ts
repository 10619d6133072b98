import { Agent } from 'node:http'
import { sendRequest, runConcurrently } from '../http-client.ts'
import type { Reply, RequestOptions } from '../http-client.ts'
import { Random } from '../random.ts'
import { disguise } from './disguises.ts'
import type { Disguise } from './disguises.ts'

export type StormOrder = {
  apiRoot: string
  productId: number
  what: 'wrong password' | 'declined card' | 'impossible cart' | 'weak password'
  /** So many in all; the storm ends early at `untilMs` after its beginning. */
  times: number
  untilMs?: number
  width: number
  from: Disguise
  /** Where the first of them counts from. */
  startAt?: number
  /** Failed logins to this account alone instead of another one each time. */
  account?: string
  headers?: Record<string, string>
  seed: number
}

/** How often each answer came, by status and code or bucket (`429 checkout_ip`), and what was no answer. */
export type StormHarm = { answers: Record<string, number>; broken: string[]; ms: number }

const cards = ['pm_card_chargeDeclined', 'pm_card_chargeDeclinedInsufficientFunds', 'pm_card_chargeDeclinedStolenCard']

/** Sends the same kind of request again and again, each from where the disguise has it come from. */
export async function storm(order: StormOrder): Promise<StormHarm> {
  const harm: StormHarm = { answers: {}, broken: [], ms: 0 }
  const agent = new Agent({ keepAlive: true })
  const random = new Random(order.seed)
  const started = performance.now()
  const isOver = (): boolean => order.untilMs !== undefined && performance.now() - started > order.untilMs
  await runConcurrently(order.times, order.width, async (turn) => {
    if (isOver()) return
    const index = turn + (order.startAt ?? 0)
    const { path, ...question } = request(order, index)
    const headers = { ...order.headers, ...disguise(order.from, index, random) }
    try {
      const name = nameOf(await sendRequest(`${order.apiRoot}${path}`, { ...question, headers, agent }))
      harm.answers[name] = (harm.answers[name] ?? 0) + 1
    } catch (error) {
      harm.broken.push(String(error))
    }
  })
  agent.destroy()
  harm.ms = Math.round(performance.now() - started)
  return harm
}

function request({ what, account, productId }: StormOrder, index: number): RequestOptions & { path: string } {
  if (what === 'wrong password')
    return {
      path: '/auth/login',
      body: { email: account ?? `target${index}@example.com`, password: 'not-the-password' }
    }
  if (what === 'weak password')
    return {
      path: '/auth/register',
      body: { email: `new${index}@example.com`, password: 'x', displayName: 'Nobody', acceptTerms: true }
    }
  // Refused for what is in it only after it has counted.
  if (what === 'impossible cart')
    return { path: '/store/checkout-session', body: { items: [{ productId: 999_999, quantity: 1 }] } }
  return {
    path: '/store/checkout-session',
    body: {
      items: [{ productId, quantity: 1 }],
      strategy: 'token_handoff',
      paymentToken: cards[index % cards.length],
      returnUrl: 'https://site.example/thanks'
    }
  }
}

function nameOf({ status, text, headers }: Reply): string {
  const { error } = JSON.parse(text) as { error?: { code: string; details?: { bucket?: string } } }
  if (error === undefined) return String(status)
  const patience = status === 503 && headers['retry-after'] === undefined ? ' without Retry-After' : ''
  return `${status} ${error.details?.bucket ?? error.code}${patience}`
}
