import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Browser } from '../../support/browser.ts'
import type { Answer } from '../../support/browser.ts'
import { allOrdersOf } from '../all-orders.ts'
import type { ShopAtRisk } from './shop-at-risk.ts'
import { quay } from '../../support/addresses.ts'

type Order = { id: number; status: string; total: number; lineItems: { name: string; quantity: number }[] }
type Purchase = {
  key: string
  strategy: 'token_handoff' | 'redirect_to_store'
  orderId: number | null
  /** The response or the gateway's page confirmed the payment. */
  isPaid: boolean
}

/** The time after a fault in which every purchase must succeed. */
const finishedWithinMs = 90_000
const retryableRefusals = new Map([
  [503, 'DEPENDENCY_UNAVAILABLE'],
  [504, 'CHECKOUT_FAILED'],
  [409, 'IDEMPOTENCY_KEY_REUSE_CONFLICT']
])

/** A customer who buys one mug after another and records the responses. */
class Shopper {
  readonly browser: Browser
  readonly purchases: Purchase[] = []
  private readonly shop: ShopAtRisk
  private readonly productId: number

  private constructor(shop: ShopAtRisk, browser: Browser, productId: number) {
    this.shop = shop
    this.browser = browser
    this.productId = productId
  }

  static async enter(shop: ShopAtRisk): Promise<Shopper> {
    const browser = new Browser(shop.apiRoot)
    const registered = await browser.register({ email: `${randomUUID()}@example.com` })
    if (registered.status !== 201) throw new Error(`the registration failed: ${registered.text}`)
    const { data } = await browser.get<{ offers: { productId: number }[] }>('/store/offers')
    return new Shopper(shop, browser, data.offers[0]?.productId ?? 0)
  }

  begin(strategy: Purchase['strategy']): Purchase {
    const purchase: Purchase = { key: randomUUID(), strategy, orderId: null, isPaid: false }
    this.purchases.push(purchase)
    this.shop.trial.count('checkouts')
    return purchase
  }

  checkOut({ key, strategy }: Purchase): Promise<Answer> {
    const handoff = { strategy, paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
    const items = [{ productId: this.productId, quantity: 1 }]
    const body = strategy === 'token_handoff' ? { items, ...handoff } : { items, shippingAddress: quay }
    return this.browser.post('/store/checkout-session', body, { 'idempotency-key': key })
  }

  /** Sends the request with the same key until it succeeds. */
  async buy(purchase: Purchase, faultEndedAt: () => number): Promise<void> {
    for (;;) {
      const answer = await this.checkOut(purchase)
      if (answer.status === 200) return this.take(purchase, answer)
      this.verifyRefusal(answer)
      if (performance.now() - faultEndedAt() > finishedWithinMs)
        return this.shop.trial.violation(`checkout ${purchase.key} did not succeed: ${answer.status} ${answer.text}`)
      await sleep(150)
    }
  }

  private verifyRefusal({ status, headers, error, text }: Answer): void {
    const { trial } = this.shop
    trial.count(`checkouts with ${status}, retried`)
    if (retryableRefusals.get(status) !== error?.code) trial.violation(`a checkout returned ${status}: ${text}`)
    if (status === 503 && !(Number(headers.get('retry-after')) >= 1))
      trial.violation(`503 has the Retry-After ${headers.get('retry-after')}`)
    if (/sqlite|\.ts:|\.js:|INSERT|SELECT/i.test(text)) trial.violation(`a response exposes internals: ${text}`)
  }

  private async take(purchase: Purchase, { data }: Answer): Promise<void> {
    const { orderId, paymentStatus, checkoutUrl } = data as Record<string, string | number>
    purchase.orderId = Number(orderId)
    if (purchase.strategy === 'token_handoff') {
      purchase.isPaid = paymentStatus === 'succeeded'
      if (!purchase.isPaid) this.shop.trial.violation(`a valid card returned ${String(paymentStatus)}`)
      return
    }
    const id = String(checkoutUrl).split('/').at(-1) ?? ''
    await this.shop.gateway.sandbox.payCheckout(id, { waitMs: 0 })
    purchase.isPaid = true
  }

  async orders(): Promise<Order[]> {
    return allOrdersOf(this.browser)
  }
}

/** Several concurrent shoppers, and one client that only reads. */
export class Shoppers {
  private readonly shop: ShopAtRisk
  private readonly shoppers: Shopper[]
  private readonly loops: Promise<void>[] = []
  private endedAt = Number.POSITIVE_INFINITY
  /** The slowest read since the last call of takeSlowestReadMs. */
  private slowestReadMs = 0

  private constructor(shop: ShopAtRisk, shoppers: Shopper[]) {
    this.shop = shop
    this.shoppers = shoppers
  }

  static async enter(shop: ShopAtRisk, count: number): Promise<Shoppers> {
    const shoppers = []
    for (let index = 0; index < count; index += 1) shoppers.push(await Shopper.enter(shop))
    return new Shoppers(shop, shoppers)
  }

  /** Starts to buy and to read; see finish. */
  start(): void {
    this.endedAt = Number.POSITIVE_INFINITY
    for (const [index, shopper] of this.shoppers.entries())
      this.loops.push(
        this.repeat(async () => {
          const purchase = shopper.begin(index % 2 === 0 ? 'token_handoff' : 'redirect_to_store')
          await shopper.buy(purchase, () => this.endedAt)
          await sleep(40)
        })
      )
    this.loops.push(this.repeat(() => this.browse()))
  }

  /** Stops new purchases. Resolves when all pending ones have succeeded. */
  async finish(): Promise<void> {
    this.endedAt = performance.now()
    await Promise.all(this.loops.splice(0))
  }

  /** Sends one checkout, passes the response to `inspect`, and then retries the checkout until it succeeds. */
  async buyDuring(inspect: (answer: Answer) => Promise<void> | void): Promise<void> {
    const [shopper] = this.shoppers
    const purchase = shopper?.begin('token_handoff')
    if (shopper === undefined || purchase === undefined) throw new Error('shoppers are missing')
    await inspect(await shopper.checkOut(purchase))
    const now = performance.now()
    await shopper.buy(purchase, () => now)
  }

  takeSlowestReadMs(): number {
    const slowest = this.slowestReadMs
    this.slowestReadMs = 0
    return slowest
  }

  private async repeat(work: () => Promise<void>): Promise<void> {
    try {
      while (this.endedAt === Number.POSITIVE_INFINITY) await work()
    } catch (error) {
      this.shop.trial.violation(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
  }

  private async browse(): Promise<void> {
    const [shopper] = this.shoppers
    for (const path of ['/health', '/store/offers', '/me']) {
      const started = performance.now()
      const { status, text } = (await shopper?.browser.get(path)) ?? { status: 0, text: '' }
      this.shop.trial.count('reads')
      if (status !== 200) this.shop.trial.violation(`${path} returned ${status}: ${text}`)
      this.slowestReadMs = Math.max(this.slowestReadMs, performance.now() - started)
    }
    await sleep(20)
  }

  /** Compares the shoppers' records and orders with the gateway's ledger. */
  async verify(): Promise<void> {
    const { trial, gateway } = this.shop
    const { exitCode, stderr } = await this.shop.run('orders', 'reconcile')
    if (exitCode !== 0) trial.violation(`orders reconcile ended with ${exitCode}: ${stderr}`)
    const charges = gateway.sandbox.ledger().charges.filter(({ status }) => status === 'succeeded')
    const known = new Set<string>()
    for (const shopper of this.shoppers) {
      const orders = await shopper.orders()
      verifyPerson(this.shop, shopper, orders)
      for (const order of orders) {
        known.add(String(order.id))
        const own = charges.filter(({ metadata }) => metadata['shopstead_order'] === String(order.id))
        const expected = order.status === 'processing' || order.status === 'completed' ? 1 : 0
        if (own.length !== expected)
          trial.violation(`order ${order.id} is ${order.status}, but was charged ${own.length} times`)
        if (own.some(({ amount }) => amount !== Math.round(order.total * 100)))
          trial.violation(`order ${order.id} of ${order.total} was charged a different amount`)
      }
    }
    for (const { id, metadata } of charges)
      if (!known.has(metadata['shopstead_order'] ?? '')) trial.violation(`${id}: charged, but no order`)
  }
}

function verifyPerson({ trial }: ShopAtRisk, { purchases }: Shopper, orders: readonly Order[]): void {
  if (orders.length > purchases.length)
    trial.violation(`${purchases.length} checkouts created ${orders.length} orders: one key created two`)
  for (const { key, orderId, isPaid } of purchases) {
    const order = orders.find(({ id }) => id === orderId)
    if (order === undefined)
      trial.violation(`lost: order ${String(orderId)} of checkout ${key} was confirmed, but is missing`)
    else if (isPaid && order.status !== 'processing')
      trial.violation(`order ${order.id} was paid, but is ${order.status}`)
  }
  for (const { id, lineItems, total } of orders)
    if (lineItems.length !== 1 || lineItems[0]?.quantity !== 1 || total !== 12.5)
      trial.violation(`order ${id} is incomplete: ${JSON.stringify(lineItems)}, ${total}`)
}
