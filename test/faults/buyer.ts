import { randomUUID } from 'node:crypto'
import type { Browser } from '../support/browser.ts'
import type { Lane } from './lane.ts'
import type { Run } from './runs.ts'

/** What a site was told of one request; `status` is null when no answer came. */
export type Told = {
  status: number | null
  orderId: number | null
  paymentStatus: string | null
  checkoutUrl: string | null
  redirectUrl: string | null
}

/** A customer of one run: an account, one cart, one Idempotency-Key, and a record of every answer. */
export class Buyer {
  readonly told: Told[] = []
  private readonly lane: Lane
  private readonly run: Pick<Run, 'buyer'>
  private readonly key = randomUUID()
  private readonly visitor: Browser
  private readonly productId: number

  private constructor(lane: Lane, run: Pick<Run, 'buyer'>, visitor: Browser, productId: number) {
    this.lane = lane
    this.run = run
    this.visitor = visitor
    this.productId = productId
  }

  static async enter(lane: Lane, run: Pick<Run, 'buyer'>): Promise<Buyer> {
    const visitor = lane.visitor()
    const registered = await visitor.register({ email: `${randomUUID()}@example.com` })
    if (registered.status !== 201) throw new Error(`nobody could register: ${registered.text}`)
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    return new Buyer(lane, run, visitor, data.offers[0]?.productId ?? 0)
  }

  /** Asks for the checkout, the first time or again, and pays where that is asked for. */
  async buy(): Promise<Told> {
    const told = await this.ask()
    this.told.push(told)
    const page = told.checkoutUrl ?? told.redirectUrl
    const id = page?.split('/').at(-1) ?? ''
    if (told.redirectUrl !== null) this.lane.sandbox.answerChallenge(id, true)
    // A page that leads to the shop itself is the one of an order that is paid.
    else if (page?.includes('/sandbox/checkout/')) await this.lane.sandbox.payCheckout(id, { waitMs: 10_000 })
    return told
  }

  /** Back at the shop's present address, should it have been started anew. */
  moveTo(visitor: Browser): Buyer {
    for (const [name, value] of this.visitor.cookies) visitor.cookies.set(name, value)
    const moved = new Buyer(this.lane, this.run, visitor, this.productId)
    moved.told.push(...this.told)
    return Object.assign(moved, { key: this.key })
  }

  async orders(): Promise<{ id: number; status: string; total: number }[]> {
    const { data } = await this.visitor.get<{ orders: { id: number; status: string; total: number }[] }>(
      '/orders?perPage=100'
    )
    return data.orders
  }

  private async ask(): Promise<Told> {
    try {
      const { status, data } = await this.visitor.post('/store/checkout-session', this.body(), {
        'idempotency-key': this.key
      })
      return {
        status,
        orderId: data?.orderId === undefined ? null : Number(data.orderId),
        paymentStatus: textOf(data?.paymentStatus),
        checkoutUrl: textOf(data?.checkoutUrl),
        redirectUrl: textOf(data?.redirectUrl)
      }
    } catch (error) {
      // The shop died under the request.
      if (!(error instanceof TypeError)) throw error
      return { status: null, orderId: null, paymentStatus: null, checkoutUrl: null, redirectUrl: null }
    }
  }

  private body(): object {
    const items = [{ productId: this.productId, quantity: 2 }]
    const { buyer } = this.run
    if (buyer === 'page') return { items }
    if (buyer === 'page and coupon') return { items, couponCode: 'TEN' }
    const paymentToken = {
      card: 'pm_card_visa',
      'declined card': 'pm_card_chargeDeclined',
      '3-D Secure': 'pm_card_threeDSecureRequired'
    }[buyer]
    return { items, strategy: 'token_handoff', paymentToken, returnUrl: 'https://site.example/thanks' }
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
