import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../../../src/app.ts'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { createAffiliate } from '../../../src/shop/affiliates/create.ts'
import { readyGateway } from '../../../src/shop/payments/gateway.ts'
import { settlePayments } from '../../../src/shop/payments/reconcile.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { payPayouts } from '../../../src/shop/payouts/pay.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { addEndpoint } from '../../../src/shop/webhooks/endpoints.ts'
import { quay } from '../../support/addresses.ts'
import type { Browser } from '../../support/browser.ts'
import { withoutHoldLimits } from '../../support/hold-limits.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** How long the template's shop sells until today. */
export const templateDays = 120

const products = [
  { slug: 'mug', name: 'Enamel mug', price: '12.50', categories: ['Kitchen'], tags: ['enamel'] },
  { slug: 'lamp', name: 'Storm lantern', price: '40.00', categories: ['Light'] },
  { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
  digital('club', '8.00', { kind: 'subscription', interval: 'month' }),
  digital('keepers', '25.00', { kind: 'membership', module: 'A', plan: 'keepers', period: 'P1Y' }),
  digital('glazing', '30.00', { kind: 'course', course: 'glazing' }),
  digital('panes', '10.00', { kind: 'donation', campaign: 'panes' })
]

const catalog = {
  plans: [{ slug: 'keepers', name: 'Keepers', module: 'A', rank: 20, pro: true }],
  campaigns: [{ slug: 'panes', name: 'New panes' }],
  products,
  coupons: [
    { code: 'TEN', percent: 10, maxUsesPerCustomer: 1 },
    { code: 'FIVER', amount: '5.00' }
  ]
}

function digital(slug: string, price: string, ...grants: object[]) {
  return { slug, name: `Product ${slug}`, price, type: 'digital', grants }
}

/** A person who buys: their browser and, unless they have an account, the email that they give. */
type Buyer = { browser: Browser; email: string; isGuest: boolean }
type Cart = { slug: string; coupon?: string; ref?: boolean }

/**
 * A shop of a few months with about a hundred orders, all written by the product itself: its requests, its sandbox, its
 * webhooks and its commands. An old shop is made of many copies of it.
 *
 * @returns the running shop, whose clock stands at `now`
 */
export async function writeTemplate(dataDir: string, now: number): Promise<RunningShop> {
  let time = now - templateDays * dayMs
  const shop = await startShop({ dataDir, seed: catalog, overrides: { clock: { now: () => time } } })
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.end())).listen(0)
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  addEndpoint(shop.app.db, { url: `http://127.0.0.1:${port}/hook`, types: null }, time)
  const story = new Story(shop, (ms) => void (time += ms))
  await story.tell()
  await story.settle()
  await cleanUp(shop.app)
  time = now
  await story.leaveOpenOrders()
  await story.settle()
  receiver.close()
  return shop
}

class Story {
  private readonly shop: RunningShop
  private readonly app: App
  private readonly pass: (ms: number) => void
  private people = 0
  /** Paid orders of physical products, which are shipped or refunded later. */
  private readonly goods: number[] = []

  constructor(shop: RunningShop, pass: (ms: number) => void) {
    this.shop = shop
    this.app = shop.app
    this.pass = pass
    const settings = {
      ...withoutHoldLimits,
      'limits.register_ip': '1000000/60',
      'limits.checkout_ip': '1000000/60',
      'shop.name': 'Lanterns',
      'shop.legal': 'Harbour Lanterns GmbH, Quay 1, 20457 Hamburg',
      'shop.country': 'DE'
    } as const
    for (const [key, value] of Object.entries(settings))
      setSetting(this.app.db, key as keyof typeof settings, value, this.app.clock.now())
  }

  async tell(): Promise<void> {
    const mira = await this.member()
    const { id: userId } = this.userOf(mira)
    createAffiliate(this.app.db, { userId, code: 'mira', status: 'active', rateBps: null }, this.app.clock.now())
    const members: Buyer[] = [mira]
    for (let count = 0; count < 2; count += 1) await this.order(this.guest(), { slug: 'mug' })
    for (let count = 0; count < 33; count += 1) {
      const buyer = await this.member()
      members.push(buyer)
      await this.buy(buyer, {
        slug: ['mug', 'lamp', 'print', 'glazing', 'keepers', 'panes'][count % 6] ?? 'mug',
        ref: count % 5 === 0
      })
    }
    for (let count = 0; count < 30; count += 1)
      await this.buy(this.guest(), {
        slug: count % 2 === 0 ? 'mug' : 'lamp',
        ref: count % 7 === 0
      })
    // A coupon that a customer uses once asks a guest to prove the email, so accounts use it.
    for (const buyer of members.slice(24, 30)) await this.buy(buyer, { slug: 'lamp', coupon: 'TEN' })
    for (const buyer of members.slice(1, 13)) await this.buy(buyer, { slug: 'mug', coupon: 'FIVER' })
    await this.subscribe(members.slice(13, 19))
    await this.shipAndRefund()
    await settlePayments(this.app)
    payPayouts(this.app.db, { by: 'lena', reference: 'run 1' }, this.app.clock.now())
  }

  /** Six subscriptions with renewals; one of them continues. */
  private async subscribe(buyers: readonly Buyer[]): Promise<void> {
    const orders: number[] = []
    for (const buyer of buyers) orders.push(await this.buy(buyer, { slug: 'club' }))
    const ids = this.app.sandbox?.ledger().subscriptions.map(({ id }) => id) ?? []
    for (let round = 0; round < 3; round += 1) {
      for (const id of ids) this.app.sandbox?.renewSubscription(id, 'paid')
      await this.app.sandbox?.deliverDue()
      this.pass(hourMs)
    }
    const stripe = await readyGateway(this.app).client()
    for (const id of ids.slice(1)) await stripe.subscriptions.cancel(id)
    await this.app.sandbox?.deliverDue()
  }

  private async shipAndRefund(): Promise<void> {
    for (const [index, orderId] of this.goods.entries()) {
      this.pass(hourMs)
      if (index % 5 === 0) await refundOrder(this.app, orderId, index % 2 === 0 ? {} : { amountMinor: 500 }, 'operator')
      else if (index % 5 < 4)
        shipOrder(
          this.app.db,
          orderId,
          { items: null, carrier: 'DHL', tracking: '0034', url: null },
          'operator',
          this.app.clock.now()
        )
    }
    await this.app.sandbox?.deliverDue()
  }

  /** Waits until the emails and webhooks were sent. */
  async settle(): Promise<void> {
    const waiting = this.app.db.sqlite.prepare<[], { count: number }>(
      `SELECT (SELECT count(*) FROM mails WHERE state = 'queued')
        + (SELECT count(*) FROM webhook_deliveries WHERE state = 'queued') AS count -- of the test`
    )
    for (let waited = 0; (waiting.get()?.count ?? 0) > 0; waited += 1) {
      if (waited > 600) throw new Error('The emails and webhooks of the template were not sent.')
      await sleep(50)
    }
  }

  /** Orders whose payment pages are open. */
  async leaveOpenOrders(): Promise<void> {
    for (let count = 0; count < 4; count += 1) await this.order(this.guest(), { slug: 'mug' })
    await this.order(await this.member(), { slug: 'lamp' })
  }

  private async member(): Promise<Buyer> {
    const { email, browser } = this.guest()
    const answer = await browser.register({ email, displayName: 'Ada Quill' })
    if (answer.status !== 201) throw new Error(answer.text)
    return { browser, email, isGuest: false }
  }

  private async logIn({ browser, email }: Buyer): Promise<void> {
    const answer = await browser.post('/auth/login', { email, password: 'tidal-basalt-93', rememberMe: true })
    if (answer.status !== 200) throw new Error(answer.text)
  }

  private guest(): Buyer {
    this.people += 1
    return { browser: this.shop.visitor(), email: `buyer${this.people}@shop.example`, isGuest: true }
  }

  private userOf({ email }: Buyer): { id: number } {
    const found = this.app.db.sqlite
      .prepare<[string], { id: number }>('SELECT id FROM users WHERE email = ? -- of the test')
      .get(email)
    if (found === undefined) throw new Error(`${email} has no account`)
    return found
  }

  private async order({ browser, email, isGuest }: Buyer, { slug, coupon, ref }: Cart) {
    const product = this.app.db.sqlite
      .prepare<[string], { id: number }>('SELECT id FROM products WHERE slug = ? -- of the test')
      .get(slug)
    const answer = await browser.post<{ checkoutUrl: string; orderId: string }>(
      `/store/checkout-session${ref === true ? '?ref=mira&campaign=spring' : ''}`,
      {
        items: [{ productId: product?.id, quantity: 1 }],
        shippingAddress: quay,
        ...(isGuest ? { customer: { email } } : {}),
        ...(coupon === undefined ? {} : { couponCodes: [coupon] })
      },
      { 'idempotency-key': `${email} ${slug} ${coupon ?? ''}` }
    )
    if (answer.status !== 200) throw new Error(answer.text)
    return {
      orderId: Number(answer.data.orderId),
      url: answer.data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
    }
  }

  private async buy(buyer: Buyer, cart: Cart): Promise<number> {
    this.pass(16 * hourMs)
    if (!buyer.isGuest) await this.logIn(buyer)
    const { orderId, url } = await this.order(buyer, cart)
    const paid = await buyer.browser.form(url, { payment_method: 'pm_card_visa' })
    if (paid.status !== 303) throw new Error(`the payment page answered ${paid.status}: ${await paid.text()}`)
    await this.app.sandbox?.deliverDue()
    if (cart.slug === 'mug' || cart.slug === 'lamp') this.goods.push(orderId)
    return orderId
  }
}
