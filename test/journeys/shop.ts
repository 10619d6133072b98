import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { applyCatalog } from '../../src/operations/catalog.ts'
import { write } from '../../src/platform/db/database.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import type { TestClock } from '../support/shop-context.ts'
import { quay } from '../support/addresses.ts'

export const dayMs = 86_400_000

/** A running shop whose clock moves only when the test moves it. */
export type JourneyShop = RunningShop & { clock: TestClock }
export type Entry = { [key: string]: unknown }
export type Me = {
  user: Entry & { id: number; roles: string[] }
  roles: { wpRoles: string[]; serviceRoles: string[] }
  flags: Record<string, boolean>
  profile: Entry
  entitlements: Entry & {
    orders: Entry[]
    memberships: Entry[]
    subscriptions: Entry[]
    donations: { donations: Entry[] }
    membershipsSummary: Entry
    subscriptionsSummary: Entry
    donationsSummary: Entry
    ordersSummary: Entry
    affiliate: Entry
    dependencies: Record<string, boolean>
    formsProvider: string | null
  }
}
export type Order = Entry & { id: number; status: string; total: number }
export type Bought = { orderId: number; url: string }

/** Starts a shop that stops after the test. `catalog` is the content of an import file. */
export async function openShop(
  catalog: object,
  settings: { [K in SettingKey]?: string } = {},
  env: Record<string, string> = {}
): Promise<JourneyShop> {
  const clock = testClock()
  const shop = await startShop({ env, seed: null, overrides: { clock } })
  onTestFinished(() => shop.stop())
  const { file } = readCatalogFile(JSON.stringify(catalog), { currency: 'EUR', timeZone: 'UTC' })
  write(shop.app.db, (tx) => void applyCatalog(shop.app, tx, file, { keepStock: true }, clock.now()))
  applySettings(shop, settings)
  return { ...shop, clock }
}

export function applySettings(shop: RunningShop, settings: { [K in SettingKey]?: string }): void {
  for (const [key, value] of Object.entries(settings)) {
    setSetting(shop.app.db, key as SettingKey, value, shop.app.clock.now())
  }
}

const password = 'tidal-basalt-93'

/** Registers a user, who is then logged in. */
export async function registerUser(shop: RunningShop, name: string): Promise<Browser> {
  const visitor = shop.visitor()
  const answer = await visitor.register({ email: `${name}@shop.example`, displayName: 'A buyer', password })
  if (answer.status !== 201) throw new Error(answer.text)
  return visitor
}

/** Logs a registered user in, for example when the session has expired. */
export async function logIn(shop: RunningShop, name: string): Promise<Browser> {
  const visitor = shop.visitor()
  const answer = await visitor.post('/auth/login', { email: `${name}@shop.example`, password, rememberMe: true })
  if (answer.status !== 200) throw new Error(answer.text)
  return visitor
}

export async function me(visitor: Browser): Promise<Me> {
  const answer = await visitor.get<Me>('/me')
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.data
}

export async function ordersOf(visitor: Browser): Promise<Order[]> {
  return (await visitor.get<{ orders: Order[] }>('/orders?perPage=100')).data.orders
}

export function productId(shop: RunningShop, slug: string): number {
  return Number(shop.app.db.sqlite.prepare('SELECT id FROM products WHERE slug = ?').pluck().get(slug))
}

type Cart = { quantity?: number; query?: string; body?: object }

/** Checks out one product; the result links to the sandbox's payment page. */
export async function order(shop: RunningShop, visitor: Browser, slug: string, cart: Cart = {}): Promise<Bought> {
  const { quantity = 1, query = '', body = {} } = cart
  const items = [{ productId: productId(shop, slug), quantity }]
  const answer = await visitor.post<{ checkoutUrl: string; orderId: string }>(`/store/checkout-session${query}`, {
    items,
    shippingAddress: quay,
    ...body
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return { orderId: Number(answer.data.orderId), url: withLoopback(answer.data.checkoutUrl) }
}

/** Submits the sandbox's payment page. */
export async function pay(visitor: Browser, { url }: Bought, fields: Record<string, string> = {}): Promise<void> {
  const answer = await visitor.form(url, { payment_method: 'pm_card_visa', ...fields })
  if (answer.status !== 303) throw new Error(`The payment page answered ${answer.status}.`)
}

/** Orders and pays. */
export async function buy(shop: RunningShop, visitor: Browser, slug: string, cart: Cart = {}): Promise<Bought> {
  const bought = await order(shop, visitor, slug, cart)
  await pay(visitor, bought)
  return bought
}

/** Checks out with a payment token, without a payment page. */
export function handOff(
  shop: RunningShop,
  visitor: Browser,
  slug: string,
  { quantity = 1, query = '', body = {} }: Cart = {}
): Promise<Answer<{ orderId: number; status: string }>> {
  return visitor.post(`/store/checkout-session${query}`, {
    items: [{ productId: productId(shop, slug), quantity }],
    strategy: 'token_handoff',
    returnUrl: 'https://site.example/done',
    paymentToken: 'pm_card_visa',
    ...body
  })
}

/** Replaces localhost, which may resolve to another address than the one the shop listens on. */
export function withLoopback(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:')
}

/** Writes a file into the shop's downloads folder; returns its path. */
export function writeDownload(shop: RunningShop, path: string, content: string | Uint8Array): string {
  const file = join(shop.dataDir, 'downloads', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** Waits for the verification email and returns the token in its link. */
export function verificationToken(shop: RunningShop, recipient: string): Promise<string> {
  return vi.waitFor(
    () => {
      const files = globSync('mail/*.json', { cwd: shop.dataDir }).map((name) => join(shop.dataDir, name))
      const mails = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Mail)
      const link = mails.find(({ to, links }) => to === recipient && links.verify !== undefined)?.links.verify
      return new URL(link ?? '').searchParams.get('token') ?? ''
    },
    { timeout: 10_000 }
  )
}

type Mail = { to: string; links: { verify?: string } }
