import { randomUUID } from 'node:crypto'
import type { Browser } from '../support/browser.ts'
import type { ShopAndGateway } from './shop-and-gateway.ts'
import type { Run } from './runs.ts'
import { quay } from '../support/addresses.ts'

/** The response to one checkout request; `status` is null when there was none. */
export type CheckoutResult = {
  status: number | null
  orderId: number | null
  paymentStatus: string | null
  checkoutUrl: string | null
  redirectUrl: string | null
  orderToken: string | null
  /** The result with which the shop sent the buyer to the site; null if it did not. */
  landed: string | null
}

type Plan = Pick<Run, 'buyer'> & Partial<Pick<Run, 'leaves'>>

/** The buyer of one run, with an account, one cart, one Idempotency-Key and a record of every response. */
export class Buyer {
  readonly results: CheckoutResult[] = []
  private readonly shop: ShopAndGateway
  private readonly run: Plan
  private readonly key = randomUUID()
  private readonly visitor: Browser
  private readonly productId: number

  private constructor(shop: ShopAndGateway, run: Plan, visitor: Browser, productId: number) {
    this.shop = shop
    this.run = run
    this.visitor = visitor
    this.productId = productId
  }

  static async enter(shop: ShopAndGateway, run: Plan): Promise<Buyer> {
    const visitor = shop.visitor()
    const registered = await visitor.register({ email: `${randomUUID()}@example.com` })
    if (registered.status !== 201) throw new Error(`the buyer could not register: ${registered.text}`)
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    return new Buyer(shop, run, visitor, data.offers[0]?.productId ?? 0)
  }

  /** Sends the checkout request, and pays or cancels on the page that the response leads to. */
  async buy(): Promise<CheckoutResult> {
    const result = await this.checkOut()
    this.results.push(result)
    const page = result.checkoutUrl ?? result.redirectUrl
    const id = page?.split('/').at(-1) ?? ''
    const { leaves = 'by closing it' } = this.run
    if (result.redirectUrl !== null) this.shop.sandbox.answerChallenge(id, true)
    // A checkoutUrl of the shop belongs to an order that is paid already.
    else if (!page?.includes('/sandbox/checkout/')) return result
    else if (leaves !== 'by cancelling') await this.shop.sandbox.payCheckout(id, { waitMs: 10_000 })
    if (leaves !== 'by closing it')
      result.landed = await this.leave(leaves === 'by returning' ? 'return' : 'cancel', result)
    return result
  }

  /** Follows a link back to the shop; returns the result that the site gets. */
  private async leave(link: 'return' | 'cancel', { orderToken }: CheckoutResult): Promise<string | null> {
    const { headers } = await this.visitor.fetch(`${this.visitor.origin}/checkout/${link}/${orderToken}`)
    const location = headers.get('location') ?? ''
    return location.startsWith('https://site.example/') ? new URL(location).searchParams.get('result') : null
  }

  /** The same buyer at the shop's new address after a restart. */
  moveTo(visitor: Browser): Buyer {
    for (const [name, value] of this.visitor.cookies) visitor.cookies.set(name, value)
    const moved = new Buyer(this.shop, this.run, visitor, this.productId)
    moved.results.push(...this.results)
    return Object.assign(moved, { key: this.key })
  }

  async orders(): Promise<{ id: number; status: string; total: number }[]> {
    const { data } = await this.visitor.get<{ orders: { id: number; status: string; total: number }[] }>(
      '/orders?perPage=100'
    )
    return data.orders
  }

  private async checkOut(): Promise<CheckoutResult> {
    try {
      const { status, data } = await this.visitor.post('/store/checkout-session', this.body(), {
        'idempotency-key': this.key
      })
      return {
        status,
        orderId: data?.orderId === undefined ? null : Number(data.orderId),
        paymentStatus: textOf(data?.paymentStatus),
        checkoutUrl: textOf(data?.checkoutUrl),
        redirectUrl: textOf(data?.redirectUrl),
        orderToken: textOf(data?.orderToken),
        landed: null
      }
    } catch (error) {
      // The shop was killed during the request.
      if (!(error instanceof TypeError)) throw error
      const nothing = { orderId: null, paymentStatus: null, checkoutUrl: null, redirectUrl: null, orderToken: null }
      return { status: null, ...nothing, landed: null }
    }
  }

  private body(): object {
    const items = [{ productId: this.productId, quantity: 2 }]
    const cart = { items, shippingAddress: quay, shippingMethod: 'parcel' }
    const { buyer } = this.run
    const site = { returnUrl: 'https://site.example/thanks', cancelUrl: 'https://site.example/cart' }
    if (buyer === 'page') return { ...cart, ...site }
    if (buyer === 'page and coupon') return { ...cart, ...site, couponCode: 'TEN' }
    const paymentToken = {
      card: 'pm_card_visa',
      'declined card': 'pm_card_chargeDeclined',
      '3-D Secure': 'pm_card_threeDSecureRequired'
    }[buyer]
    return { ...cart, strategy: 'token_handoff', paymentToken, ...site }
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
