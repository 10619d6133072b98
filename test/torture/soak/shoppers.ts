import { Agent } from 'node:http'
import { sendRequest, cookiesOf, dataOf } from '../http-client.ts'
import type { Reply, RequestOptions } from '../http-client.ts'
import type { Random } from '../random.ts'
import { quay } from '../../support/addresses.ts'

export type SoakShop = {
  apiRoot: string
  url: string
  productIds: readonly number[]
  affiliate: { code: string; cookie: string }
  /** Called with every response and the expected statuses. */
  report(what: string, answer: Reply, expected: readonly number[]): void
}

const password = 'tidal-basalt-93'
const maxConcurrent = 16

/** Visitors who come to the shop repeatedly. Some have an account from an earlier visit. */
export class Shoppers {
  private readonly shop: SoakShop
  private readonly random: Random
  /**
   * The customers of each concurrent visitor. Nobody shops twice at the same time: a checkout replaces the buyer's unpaid
   * order of the same product, whose page then returns 410.
   */
  private readonly customers = Array.from({ length: maxConcurrent }, (): string[] => [])
  private agent = new Agent({ keepAlive: true })
  private visits = 0

  constructor(shop: SoakShop, random: Random) {
    this.shop = shop
    this.random = random
  }

  /** Sends this number of requests by concurrent visits. Resolves when all responses have arrived. */
  async sendRequests(requests: number): Promise<void> {
    const left = { requests }
    const spend = (): boolean => left.requests-- > 0
    await Promise.all(
      this.customers.map(async (emails) => {
        while (left.requests > 0) await this.visit(spend, emails)
      })
    )
    this.agent.destroy()
    this.agent = new Agent({ keepAlive: true })
  }

  private async visit(spend: () => boolean, emails: string[]): Promise<void> {
    const { shop, random } = this
    const send = async (what: string, path: string, options: RequestOptions = {}, expected = [200]): Promise<Reply> => {
      if (!spend()) throw new BudgetSpent()
      const to = path.startsWith('http') ? path : `${shop.apiRoot}${path}`
      const answer = await sendRequest(to, { agent: this.agent, ...options })
      shop.report(what, answer, expected)
      return answer
    }
    try {
      await send('browse', '/store/offers?perPage=20')
      await send('search', `/store/offers?search=number%20${random.between(1, 40)}`)
      const cookie = await this.enter(send, emails)
      await this.buy(send, cookie)
      if (cookie !== '') {
        await send('me', '/me', { headers: { cookie } })
        await send('orders', '/orders?perPage=20', { headers: { cookie } })
        await send('logout', '/auth/logout', { method: 'POST', headers: { cookie } })
      }
      await send('referrals', '/affiliates/referrals', { headers: { cookie: shop.affiliate.cookie } })
      await send(
        'a forged webhook',
        '/webhooks/stripe',
        { body: '{}', headers: { 'stripe-signature': 't=1,v1=0' } },
        [400]
      )
      await send('health', '/health')
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
    }
  }

  /** The cookie of a guest (empty), a new customer or a returning one. */
  private async enter(send: Send, emails: string[]): Promise<string> {
    this.visits += 1
    if (this.visits % 3 === 0) return ''
    if (this.visits % 3 === 1 && emails.length > 0) {
      const email = this.random.pick(emails)
      return cookiesOf(await send('login', '/auth/login', { body: { email, password } }))
    }
    const email = `shopper${this.visits}@example.com`
    const { nonce } = dataOf<{ nonce: string }>(await send('nonce', '/nonce'))
    const body = { email, password, displayName: 'Ada Quill', acceptTerms: true }
    const registered = await send('register', '/auth/register', { headers: { 'x-nonce': nonce }, body }, [201])
    emails.push(email)
    return cookiesOf(registered)
  }

  private async buy(send: Send, cookie: string): Promise<void> {
    const { shop, random } = this
    const items = [{ productId: random.pick(shop.productIds), quantity: random.between(1, 3) }]
    const headers = { cookie, 'idempotency-key': String(random.between(1, 2 ** 31 - 1)) }
    const path = `/store/checkout-session${random.oneIn(2) ? `?ref=${shop.affiliate.code}` : ''}`
    if (random.oneIn(3)) {
      const card = random.oneIn(10) ? 'pm_card_chargeDeclined' : 'pm_card_visa'
      const handoff = { items, strategy: 'token_handoff', paymentToken: card, returnUrl: 'https://site.example/thanks' }
      await send('checkout by card', path, { headers, body: handoff }, card === 'pm_card_visa' ? [200] : [402])
      return
    }
    const { checkoutUrl } = dataOf<{ checkoutUrl: string }>(
      await send('checkout by page', path, { headers, body: { items, shippingAddress: quay } })
    )
    // The URL has the shop's public origin, which may differ from the server's address.
    const page = `${shop.url}${new URL(checkoutUrl).pathname}`
    await send('payment page', page)
    if (random.oneIn(5)) return
    const pay = new URLSearchParams({ payment_method: 'pm_card_visa', email: 'buyer@example.com' })
    await send('pay', page, { body: pay }, [303])
  }
}

type Send = (what: string, path: string, options?: RequestOptions, expected?: number[]) => Promise<Reply>

/** Thrown when the number of requests is reached. */
class BudgetSpent extends Error {}
