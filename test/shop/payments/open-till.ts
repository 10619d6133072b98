import { createHmac } from 'node:crypto'
import type Stripe from 'stripe'
import { settlePayments } from '../../../src/shop/payments/reconcile.ts'
import type { LogFields } from '../../../src/platform/log.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { attemptsOf } from '../../../src/shop/payments/attempts.ts'
import { readyGateway } from '../../../src/shop/payments/gateway.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import type { ReconcileOptions } from '../../../src/shop/payments/reconcile.ts'
import { quay } from '../../support/addresses.ts'
import type { Answer, Browser } from '../../support/browser.ts'
import { startShop } from '../../support/running-shop.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { testClock } from '../../support/shop-context.ts'
import type { TestClock } from '../../support/shop-context.ts'
import { until } from '../../support/until.ts'

/** A shop with its sandbox, a clock of its own and what one needs to pay, to break and to look at payments. */
export type Till = {
  shop: RunningShop
  sandbox: Sandbox
  /** The gateway's API, as its dashboard uses it. */
  stripe: Stripe
  clock: TestClock
  /** Warnings of the log, oldest first. */
  logged: { message: string; fields: LogFields }[]
  productId(slug: string): number
  handOff(paymentToken: string, extra?: Purchase): Promise<Answer>
  /** An order with its open payment page. */
  redirect(extra?: Purchase): Promise<{ id: number; url: string; sessionId: string }>
  order(id: number): OrderRow
  /** The newest attempt of an order. */
  attempt(id: number): AttemptRow
  ofNewest(): { order: OrderRow; attempt: AttemptRow }
  stockOf(slug: string): number | null
  /** Sends the webhooks that are due. */
  deliver(): Promise<void>
  loseWebhooks(): void
  /** The gateway takes its time over the next such call; resolves when that has arrived there. */
  slowDown(target: string): Promise<void>
  /** A delivery that is signed as `sign` says. */
  webhook(event: object, sign?: Signature): Promise<Answer>
  settle(options?: ReconcileOptions): Promise<void>
  close(): Promise<void>
}

type Purchase = { slug?: string; quantity?: number; visitor?: Browser; key?: string; body?: object }
type Signature = { secret?: string; atMs?: number; header?: string }

const returnUrl = 'https://site.example/thanks'

export const shelf = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50' },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'last', name: 'Last one', price: '5.00', stock: 1 },
    {
      slug: 'club',
      name: 'Club',
      price: '8.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    },
    {
      slug: 'yearbook',
      name: 'Yearbook',
      price: '60.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'year', pro: true }]
    }
  ],
  coupons: [{ code: 'TEN', percent: 10 }]
}

export async function openTill(seed: object = shelf, env: Record<string, string> = {}): Promise<Till> {
  const clock = testClock()
  const logged: Till['logged'] = []
  const quiet = () => undefined
  const log = {
    debug: quiet,
    info: quiet,
    // A loaded machine blocks the event loop too.
    warn: (message: string, fields: LogFields = {}) =>
      void (message !== 'the event loop was blocked' && logged.push({ message, fields })),
    error: quiet
  }
  const shop = await startShop({ env, seed, overrides: { clock, log } })
  const { app } = shop
  // All buyers of a till have one address.
  setSetting(app.db, 'checkout.heldOrdersPerAddress', '100000', clock.now())
  const { sandbox } = app
  if (sandbox === null) throw new Error('this shop has no sandbox')
  const products = app.db.sqlite.prepare<[], { id: number; slug: string; stock: number | null }>(
    'SELECT id, slug, stock FROM products'
  )
  const product = (slug: string) => {
    const found = products.all().find((row) => row.slug === slug)
    if (found === undefined) throw new Error(`there is no product ${slug}`)
    return found
  }
  const buy = (strategy: string, { slug = 'mug', quantity = 1, visitor, key, body = {} }: Purchase) =>
    (visitor ?? shop.visitor()).post(
      '/store/checkout-session',
      { strategy, returnUrl, items: [{ productId: product(slug).id, quantity }], subscribeAgain: true, ...body },
      key === undefined ? {} : { 'idempotency-key': key }
    )
  const attempt = (id: number): AttemptRow => {
    const [newest] = attemptsOf(app.db, id)
    if (newest === undefined) throw new Error(`order ${id} has no payment attempt`)
    return newest
  }
  return {
    shop,
    sandbox,
    stripe: await readyGateway(app).client(),
    clock,
    logged,
    productId: (slug) => product(slug).id,
    handOff: (paymentToken, extra = {}) => buy('token_handoff', { ...extra, body: { paymentToken, ...extra.body } }),
    async redirect(extra = {}) {
      const { status, data, text } = await buy('redirect_to_store', {
        ...extra,
        body: { customer: { email: 'ada@example.com' }, shippingAddress: quay, ...extra.body }
      })
      if (status !== 200) throw new Error(`no payment page was opened: ${text}`)
      const id = Number(data.orderId)
      return { id, url: String(data.checkoutUrl), sessionId: attempt(id).objectId ?? '' }
    },
    order: (id) => getOrder(app.db, id),
    attempt,
    ofNewest() {
      const { id } = app.db.sqlite.prepare<[], { id: number }>('SELECT max(id) AS id FROM orders').get() ?? { id: 0 }
      return { order: getOrder(app.db, id), attempt: attempt(id) }
    },
    stockOf: (slug) => product(slug).stock,
    deliver: async () => void (await sandbox.deliverDue()),
    loseWebhooks: () => void sandbox.addFault({ target: 'webhook:*', fault: 'lost', times: -1 }),
    async slowDown(target) {
      const { id } = sandbox.addFault({ target, fault: 'slow', delayMs: 150 })
      await until('the slow call', () => sandbox.listFaults().every((fault) => fault.id !== id))
    },
    webhook(event, { secret = app.cards?.webhookSecret ?? '', atMs = clock.now(), header } = {}) {
      const body = JSON.stringify(event)
      const at = Math.floor(atMs / 1000)
      const proof = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
      return shop.visitor().post('/webhooks/stripe', body, { 'stripe-signature': header ?? `t=${at},v1=${proof}` })
    },
    settle: async (options = { underWay: 'take' }) => void (await settlePayments(app, options)),
    close: () => shop.stop()
  }
}

let made = 0

/** An event as Stripe would send it about an object. */
export function eventOf(type: string, object: object, fields: object = {}): Record<string, unknown> & { id: string } {
  made += 1
  return {
    id: `evt_made_${made}`,
    object: 'event',
    type,
    livemode: false,
    created: Math.floor(Date.UTC(2026, 0, 15, 12) / 1000),
    data: { object },
    ...fields
  }
}
