import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Browser } from '../../support/browser.ts'
import type { Answer } from '../../support/browser.ts'
import { allOrdersOf } from '../all-orders.ts'
import type { ShopAtRisk } from './shop-at-risk.ts'

type Order = { id: number; status: string; total: number; lineItems: { name: string; quantity: number }[] }
type Purchase = {
  key: string
  strategy: 'token_handoff' | 'redirect_to_store'
  orderId: number | null
  /** It was told that it is paid, or paid on the gateway's own page. */
  isPaid: boolean
}

/** A purchase that is not settled so long after the trouble is over never will be. */
const settledWithinMs = 90_000
const refusedAs = new Map([
  [503, 'DEPENDENCY_UNAVAILABLE'],
  [504, 'CHECKOUT_FAILED'],
  [409, 'IDEMPOTENCY_KEY_REUSE_CONFLICT']
])

/** Someone who buys one mug after the other, whatever is answered, and remembers what was. */
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
    if (registered.status !== 201) throw new Error(`nobody could register: ${registered.text}`)
    const { data } = await browser.get<{ offers: { productId: number }[] }>('/store/offers')
    return new Shopper(shop, browser, data.offers[0]?.productId ?? 0)
  }

  begin(strategy: Purchase['strategy']): Purchase {
    const purchase: Purchase = { key: randomUUID(), strategy, orderId: null, isPaid: false }
    this.purchases.push(purchase)
    this.shop.trial.count('checkouts')
    return purchase
  }

  ask({ key, strategy }: Purchase): Promise<Answer> {
    const handoff = { strategy, paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
    const items = [{ productId: this.productId, quantity: 1 }]
    const body = strategy === 'token_handoff' ? { items, ...handoff } : { items }
    return this.browser.post('/store/checkout-session', body, { 'idempotency-key': key })
  }

  /** Asks under one key until the answer settles it. */
  async buy(purchase: Purchase, isOver: () => number): Promise<void> {
    for (;;) {
      const answer = await this.ask(purchase)
      if (answer.status === 200) return this.take(purchase, answer)
      this.judgeRefusal(answer)
      if (performance.now() - isOver() > settledWithinMs)
        return this.shop.trial.violation(`checkout ${purchase.key} is not settled: ${answer.status} ${answer.text}`)
      await sleep(150)
    }
  }

  private judgeRefusal({ status, headers, error, text }: Answer): void {
    const { trial } = this.shop
    trial.count(`checkouts answered ${status}, asked again`)
    if (refusedAs.get(status) !== error?.code) trial.violation(`a checkout was answered ${status}: ${text}`)
    if (status === 503 && !(Number(headers.get('retry-after')) >= 1))
      trial.violation(`503 came with Retry-After ${headers.get('retry-after')}`)
    if (/sqlite|\.ts:|\.js:|INSERT|SELECT/i.test(text)) trial.violation(`an answer tells too much: ${text}`)
  }

  private async take(purchase: Purchase, { data }: Answer): Promise<void> {
    const { orderId, paymentStatus, checkoutUrl } = data as Record<string, string | number>
    purchase.orderId = Number(orderId)
    if (purchase.strategy === 'token_handoff') {
      purchase.isPaid = paymentStatus === 'succeeded'
      if (!purchase.isPaid) this.shop.trial.violation(`a good card was answered ${String(paymentStatus)}`)
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

/** Several at once, with somebody beside them who only looks. */
export class Shoppers {
  private readonly shop: ShopAtRisk
  private readonly people: Shopper[]
  private readonly going: Promise<void>[] = []
  private over = Number.POSITIVE_INFINITY
  /** The longest that a page of the shop, or a person's own, took to be shown since it was asked last. */
  private slowestReadMs = 0

  private constructor(shop: ShopAtRisk, people: Shopper[]) {
    this.shop = shop
    this.people = people
  }

  static async enter(shop: ShopAtRisk, count: number): Promise<Shoppers> {
    const people = []
    for (let index = 0; index < count; index += 1) people.push(await Shopper.enter(shop))
    return new Shoppers(shop, people)
  }

  /** They buy until `settle`. */
  start(): void {
    this.over = Number.POSITIVE_INFINITY
    for (const [index, person] of this.people.entries())
      this.going.push(
        this.keep(async () => {
          const purchase = person.begin(index % 2 === 0 ? 'token_handoff' : 'redirect_to_store')
          await person.buy(purchase, () => this.over)
          await sleep(40)
        })
      )
    this.going.push(this.keep(() => this.look()))
  }

  /** Ends when everybody has got what he asked for. */
  async settle(): Promise<void> {
    this.over = performance.now()
    await Promise.all(this.going.splice(0))
  }

  /** One of them asks once, and for the same again when `answer` has been looked at. */
  async askOnce(look: (answer: Answer) => Promise<void> | void): Promise<void> {
    const [person] = this.people
    const purchase = person?.begin('token_handoff')
    if (person === undefined || purchase === undefined) throw new Error('there is nobody to buy')
    await look(await person.ask(purchase))
    const now = performance.now()
    await person.buy(purchase, () => now)
  }

  takeSlowestReadMs(): number {
    const slowest = this.slowestReadMs
    this.slowestReadMs = 0
    return slowest
  }

  private async keep(work: () => Promise<void>): Promise<void> {
    try {
      while (this.over === Number.POSITIVE_INFINITY) await work()
    } catch (error) {
      this.shop.trial.violation(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
  }

  private async look(): Promise<void> {
    const [person] = this.people
    for (const path of ['/health', '/store/offers', '/me']) {
      const started = performance.now()
      const { status, text } = (await person?.browser.get(path)) ?? { status: 0, text: '' }
      this.shop.trial.count('reads')
      if (status !== 200) this.shop.trial.violation(`${path} was answered ${status}: ${text}`)
      this.slowestReadMs = Math.max(this.slowestReadMs, performance.now() - started)
    }
    await sleep(20)
  }

  /** The customers' own record and what they see of their orders, against the ledger of the gateway. */
  async judge(): Promise<void> {
    const { trial, gateway } = this.shop
    const { exitCode, stderr } = await this.shop.run('orders', 'reconcile')
    if (exitCode !== 0) trial.violation(`orders reconcile ended with ${exitCode}: ${stderr}`)
    const charges = gateway.sandbox.ledger().charges.filter(({ status }) => status === 'succeeded')
    const known = new Set<string>()
    for (const person of this.people) {
      const orders = await person.orders()
      judgePerson(this.shop, person, orders)
      for (const order of orders) {
        known.add(String(order.id))
        const own = charges.filter(({ metadata }) => metadata['shopstead_order'] === String(order.id))
        const expected = order.status === 'processing' || order.status === 'completed' ? 1 : 0
        if (own.length !== expected)
          trial.violation(`order ${order.id} is ${order.status}, but was charged ${own.length} times`)
        if (own.some(({ amount }) => amount !== Math.round(order.total * 100)))
          trial.violation(`order ${order.id} of ${order.total} was charged another amount`)
      }
    }
    for (const { id, metadata } of charges)
      if (!known.has(metadata['shopstead_order'] ?? '')) trial.violation(`${id}: charged, but no order`)
  }
}

function judgePerson({ trial }: ShopAtRisk, { purchases }: Shopper, orders: readonly Order[]): void {
  if (orders.length > purchases.length)
    trial.violation(`${purchases.length} checkouts made ${orders.length} orders: one key made two`)
  for (const { key, orderId, isPaid } of purchases) {
    const order = orders.find(({ id }) => id === orderId)
    if (order === undefined) trial.violation(`lost: checkout ${key} was told of order ${String(orderId)}`)
    else if (isPaid && order.status !== 'processing')
      trial.violation(`order ${order.id} was paid, but is ${order.status}`)
  }
  for (const { id, lineItems, total } of orders)
    if (lineItems.length !== 1 || lineItems[0]?.quantity !== 1 || total !== 12.5)
      trial.violation(`order ${id} is half an order: ${JSON.stringify(lineItems)}, ${total}`)
}
