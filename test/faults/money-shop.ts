import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Stripe from 'stripe'
import { createWebApp } from '../../src/web-app.ts'
import { createApp, databaseFile } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { createPasswordHasher } from '../../src/platform/crypto/passwords.ts'
import { write } from '../../src/platform/db/database.ts'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { httpClientOver } from '../../src/sandbox/http/http-client.ts'
import type { ApiOutcome } from '../../src/sandbox/http/errors.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { startSession, sessionCookieName } from '../../src/shop/accounts/sessions.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { applyTaxRates } from '../../src/shop/tax/rates.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { idOf } from '../../src/shop/payments/gateway-state.ts'
import type { EventCursor } from '../../src/shop/payments/webhook.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { lowestCost } from '../support/password-cost.ts'
import { makeUser } from '../support/people.ts'
import { testClock } from '../support/shop-context.ts'
import type { TestClock } from '../support/shop-context.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** A subscription by the month, and a tax on it. */
const shelf = {
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19 }],
  products: [
    {
      slug: 'club',
      name: 'Club',
      price: '8.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    }
  ]
}

/** A buyer's first order, and the subscription that it started. */
export type Subscriber = { orderId: number; subscription: string }

/**
 * A shop with its sandbox and a clock of its own, but without a server: nothing happens by itself, so that a seed repeats
 * every step, and a year passes in seconds. A request to the gateway is not repeated by stripe-node.
 */
export class MoneyShop {
  readonly clock: TestClock
  private readonly dataDir: string
  private opened: Opened
  private events: EventCursor = { since: null }
  private buyers = 0

  private constructor(dataDir: string, clock: TestClock) {
    this.dataDir = dataDir
    this.clock = clock
    this.opened = openApp(dataDir, clock)
  }

  static open(): MoneyShop {
    const shop = new MoneyShop(mkdtempSync(join(tmpdir(), 'shopstead-money-')), testClock())
    const { file } = readCatalogFile(JSON.stringify(shelf), { currency: 'EUR', timeZone: 'UTC' })
    write(shop.app.db, (tx) => {
      applyCatalogFile(tx, file, { keepStock: false }, shop.clock.now())
      applyTaxRates(tx, file.tax)
    })
    setSetting(shop.app.db, 'shop.country', 'DE', shop.clock.now())
    setSetting(shop.app.db, 'tax.pricesIncludeTax', 'false', shop.clock.now())
    const off = shop.app.db.sqlite.prepare('INSERT INTO settings (key, value, updated_at) VALUES (?, ?, 0)')
    for (const bucket of ['checkout_ip', 'checkout_decline']) off.run(`limits.${bucket}`, '"off"')
    return shop
  }

  get app(): App {
    return this.opened.app
  }

  get sandbox(): Sandbox {
    return sandboxOf(this.opened.app)
  }

  /** Ends the process, as far as the data can tell, and starts another one. */
  restart(): void {
    this.opened.app.close()
    this.events = { since: null }
    this.opened = openApp(this.dataDir, this.clock)
  }

  /** Stripe's API as its dashboard uses it. */
  stripe(): Promise<Stripe> {
    return this.opened.dashboard()
  }

  /** A new account buys a subscription with a card, and the shop hears of it. */
  async subscribe(paymentMethod = 'pm_card_visa'): Promise<Subscriber> {
    const orderId = await this.checkOut('club')
    const [attempt] = attemptsOf(this.app.db, orderId)
    await this.pay(attempt?.objectId ?? '', paymentMethod)
    const { subscription } = await (await this.stripe()).checkout.sessions.retrieve(attempt?.objectId ?? '')
    return { orderId, subscription: idOf(subscription) ?? '' }
  }

  /** Sends every webhook that is due within an hour, late ones included. */
  async deliver(): Promise<void> {
    await this.sandbox.deliverDue(this.clock.now() + hourMs)
  }

  async reconcile(): Promise<void> {
    await settlePayments(this.app, { underWay: 'take', events: this.events })
  }

  /** Lets the shop hear of everything: no more faults, all webhooks, and the reconciler until nothing is left to do. */
  async settle(): Promise<void> {
    this.sandbox.clearFaults()
    for (let round = 0; round < 3; round += 1) {
      // The bank takes some seconds for a delayed refund.
      this.clock.advance(30_000)
      await this.deliver()
      await this.reconcile()
    }
  }

  close(): void {
    this.opened.app.close()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  private async pay(sessionId: string, paymentMethod: string): Promise<void> {
    const { outcome } = await this.sandbox.payCheckout(sessionId, { paymentMethod, waitMs: 0 })
    if (outcome.kind !== 'complete') throw new Error(`the payment page answered with ${outcome.kind}`)
    await this.deliver()
  }

  private async checkOut(slug: string): Promise<number> {
    this.buyers += 1
    const email = `buyer-${this.buyers}@example.com`
    const user = await makeUser(this.app, { email })
    const now = this.clock.now()
    const { token } = write(this.app.db, (tx) => startSession(tx, { userId: user.id, rememberMe: true }, now))
    const product = this.app.db.sqlite.prepare<[string], { id: number }>('SELECT id FROM products WHERE slug = ?')
    const items = [{ productId: product.get(slug)?.id, quantity: 1 }]
    const cookie = `${sessionCookieName(this.app)}=${token}`
    const body = JSON.stringify({ items, billingAddress: { country: 'DE' } })
    const response = await this.opened.post('/store/checkout-session', body, { cookie })
    const { data } = (await response.json()) as { data?: { orderId?: string } }
    if (data?.orderId === undefined) throw new Error(`the checkout answered with ${response.status}`)
    return Number(data.orderId)
  }
}

type Post = (path: string, body: string, headers: Record<string, string>) => Promise<Response>
/** An open shop, its API, and the gateway's dashboard. */
type Opened = { app: App; post: Post; dashboard: () => Promise<Stripe> }

const silent = { debug() {}, info() {}, warn() {}, error() {} }

function openApp(dataDir: string, clock: TestClock): Opened {
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir })
  createMigratedDatabase(databaseFile(config))
  const passwords = createPasswordHasher({ cost: lowestCost })
  const made = createApp(config, { database: 'migrated' }, { clock, log: silent, passwords })
  // No process is killed here, so that waiting for the disk proves nothing.
  made.db.sqlite.pragma('synchronous = OFF')
  const sandbox = sandboxOf(made)
  const impatient = createStripeClient({
    secretKey: 'sk_test_shop',
    httpClient: httpClientOver((request) => withoutWaiting(sandbox.handleApi(request))),
    maxNetworkRetries: 0
  })
  const dashboard = createStripeClient({ secretKey: 'sk_test_dashboard', httpClient: sandbox.httpClient })
  const app: App = { ...made, cards: made.cards && { ...made.cards, client: () => impatient } }
  const api = createWebApp(app).fetch
  const post: Post = async (path, body, headers) => {
    const url = `${app.publicUrl()}${app.config.apiPrefix}${path}`
    const sent = { 'content-type': 'application/json', ...headers }
    return api(new Request(url, { method: 'POST', body, headers: sent }))
  }
  app.setWebhookReceiver((body, headers) => post('/webhooks/stripe', body, headers))
  return { app, post, dashboard: () => dashboard }
}

/** An answer that never comes fails at once, as it would after the client's timeout. */
async function withoutWaiting(answer: Promise<ApiOutcome>): Promise<ApiOutcome> {
  const outcome = await answer
  if (outcome.kind === 'timeout') throw Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })
  return outcome
}

function sandboxOf({ sandbox }: App): Sandbox {
  if (sandbox === null) throw new Error('this shop has no sandbox')
  return sandbox
}
