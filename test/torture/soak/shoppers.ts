import { Agent } from 'node:http'
import { sendRequest, cookiesOf, dataOf } from '../http-client.ts'
import type { Reply, RequestOptions } from '../http-client.ts'
import type { Random } from '../random.ts'

export type Street = {
  apiRoot: string
  url: string
  productIds: readonly number[]
  affiliate: { code: string; cookie: string }
  /** Told of every answer: what was asked, and whether it was answered as it should have been. */
  told(what: string, answer: Reply, expected: readonly number[]): void
}

const password = 'tidal-basalt-93'
const widest = 16

/** People who come to the shop again and again, of whom some have an account from an earlier visit. */
export class Shoppers {
  private readonly street: Street
  private readonly random: Random
  private readonly known: string[] = []
  private agent = new Agent({ keepAlive: true })
  private came = 0

  constructor(street: Street, random: Random) {
    this.street = street
    this.random = random
  }

  /** Lets them come side by side until they have sent so many requests; afterwards none is under way. */
  async come(requests: number): Promise<void> {
    const left = { requests }
    const spend = (): boolean => left.requests-- > 0
    await Promise.all(
      Array.from({ length: widest }, async () => {
        while (left.requests > 0) await this.visit(spend)
      })
    )
    this.agent.destroy()
    this.agent = new Agent({ keepAlive: true })
  }

  private async visit(spend: () => boolean): Promise<void> {
    const { street, random } = this
    const send = async (
      what: string,
      path: string,
      question: RequestOptions = {},
      expected = [200]
    ): Promise<Reply> => {
      if (!spend()) throw new Closed()
      const to = path.startsWith('http') ? path : `${street.apiRoot}${path}`
      const answer = await sendRequest(to, { agent: this.agent, ...question })
      street.told(what, answer, expected)
      return answer
    }
    try {
      await send('browse', '/store/offers?perPage=20')
      await send('search', `/store/offers?search=number%20${random.between(1, 40)}`)
      const cookie = await this.enter(send)
      await this.buy(send, cookie)
      if (cookie !== '') {
        await send('me', '/me', { headers: { cookie } })
        await send('orders', '/orders?perPage=20', { headers: { cookie } })
        await send('logout', '/auth/logout', { method: 'POST', headers: { cookie } })
      }
      await send('referrals', '/affiliates/referrals', { headers: { cookie: street.affiliate.cookie } })
      await send(
        'a forged webhook',
        '/webhooks/stripe',
        { body: '{}', headers: { 'stripe-signature': 't=1,v1=0' } },
        [400]
      )
      await send('health', '/health')
    } catch (error) {
      if (!(error instanceof Closed)) throw error
    }
  }

  /** A guest, somebody new, or somebody who was here before; their cookie. */
  private async enter(send: Send): Promise<string> {
    this.came += 1
    if (this.came % 3 === 0) return ''
    if (this.came % 3 === 1 && this.known.length > 0) {
      const email = this.random.pick(this.known)
      return cookiesOf(await send('login', '/auth/login', { body: { email, password } }))
    }
    const email = `shopper${this.came}@example.com`
    const { nonce } = dataOf<{ nonce: string }>(await send('nonce', '/nonce'))
    const body = { email, password, displayName: 'Ada Quill', acceptTerms: true }
    const registered = await send('register', '/auth/register', { headers: { 'x-nonce': nonce }, body }, [201])
    this.known.push(email)
    return cookiesOf(registered)
  }

  private async buy(send: Send, cookie: string): Promise<void> {
    const { street, random } = this
    const items = [{ productId: random.pick(street.productIds), quantity: random.between(1, 3) }]
    const headers = { cookie, 'idempotency-key': String(random.between(1, 2 ** 31 - 1)) }
    const path = `/store/checkout-session${random.oneIn(2) ? `?ref=${street.affiliate.code}` : ''}`
    if (random.oneIn(3)) {
      const card = random.oneIn(10) ? 'pm_card_chargeDeclined' : 'pm_card_visa'
      const handoff = { items, strategy: 'token_handoff', paymentToken: card, returnUrl: 'https://site.example/thanks' }
      await send('checkout by card', path, { headers, body: handoff }, card === 'pm_card_visa' ? [200] : [402])
      return
    }
    const { checkoutUrl } = dataOf<{ checkoutUrl: string }>(
      await send('checkout by page', path, { headers, body: { items } })
    )
    // The page stands under the address that browsers know, which may be localhost.
    const page = `${street.url}${new URL(checkoutUrl).pathname}`
    await send('payment page', page)
    if (random.oneIn(5)) return
    const pay = new URLSearchParams({ payment_method: 'pm_card_visa', email: 'buyer@example.com' })
    await send('pay', page, { body: pay }, [303])
  }
}

type Send = (what: string, path: string, question?: RequestOptions, expected?: number[]) => Promise<Reply>

/** So many requests have been sent as were to be. */
class Closed extends Error {}
