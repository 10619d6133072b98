/**
 * Measures every kind of request, page, command and job of a new shop against those of an old one, in one run. The requests
 * of both shops alternate, so that a busy machine slows both.
 *
 *     npm run bench:old-shop                a new shop and one with 350,295 orders; takes three minutes
 *     npm run bench:old-shop -- 35000       one with 35,000 orders
 *     OLD_SHOP_FOLDER=DIR npm run …         an earlier shop; a copy of it is measured
 */
import { cpSync, rmSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { warnOfDifferences } from '../../../src/operations/reports/payments/differences.ts'
import { settlePayments, startPace } from '../../../src/shop/payments/reconcile.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { quay } from '../../support/addresses.ts'
import type { Browser } from '../../support/browser.ts'
import { shopstead } from '../../support/command-line.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { median } from '../measure/statistics.ts'
import { table } from '../measure/table.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeOldShop, oldShopOrders } from './old-shop.ts'

const requestsEach = 60
const commandsEach = 3
const password = 'tidal-basalt-93'
/** What may take longer in the old shop: a request or a command by this factor, and a block of the event loop in ms. */
const most = { ratio: 1.3, blockMs: 20 }

type Opened = RunningShop & { guest: Browser; member: Browser; affiliate: Browser; productId: number; token: string }
type Send = (shop: Opened, count: number) => Promise<{ status: number }>

async function open(orders: number): Promise<Opened> {
  const known = process.env['OLD_SHOP_FOLDER']
  const dataDir = known === undefined || orders === newOrders ? await makeOldShop(orders) : temporaryFolder('old-shop')
  if (known !== undefined && orders !== newOrders) cpSync(known, dataDir, { recursive: true })
  const startedAt = performance.now()
  const env = { SHOPSTEAD_BACKUPS: 'off' }
  const shop = await startShop({ dataDir, seed: null, env })
  await shop.visitor().get('/store/offers')
  times.get('start to the first answer')?.push(performance.now() - startedAt)
  setSetting(shop.app.db, 'storefront.enabled', 'true', shop.app.clock.now())
  const [member, affiliate] = [shop.visitor(), shop.visitor()]
  await member.post('/auth/login', { email: 'buyer14@shop.example', password })
  await affiliate.post('/auth/login', { email: 'buyer1@shop.example', password })
  const one = (sql: string): unknown => shop.app.db.sqlite.prepare(sql).pluck().get()
  const token = one(`SELECT public_token FROM orders WHERE email = 'buyer14@shop.example' ORDER BY id DESC LIMIT 1`)
  const productId = Number(one(`SELECT id FROM products WHERE slug = 'mug'`))
  return { ...shop, guest: shop.visitor(), member, affiliate, productId, token: String(token) }
}

const cart = ({ productId }: Opened) => ({ items: [{ productId, quantity: 1 }], shippingAddress: quay })
const page =
  (path: (shop: Opened) => string): Send =>
  async (shop) => {
    const response = await shop.guest.fetch(`${shop.url}${path(shop)}`)
    await response.text()
    return response
  }

const requests: Readonly<Record<string, Send>> = {
  ...Object.fromEntries(
    ['/store/offers', '/store/products', '/store/products/mug', '/store/categories', '/store/payment-config'].map(
      (path): [string, Send] => [`GET ${path}`, ({ guest }) => guest.get(path)]
    )
  ),
  // Another number each time, so that no cache answers.
  'GET /store/products?search=': ({ guest }, count) => guest.get(`/store/products?search=lantern${count}`),
  'GET /store/products?sort=price': ({ guest }, count) => guest.get(`/store/products?sort=price&perPage=${count + 1}`),
  'POST /store/quote': (shop) => shop.guest.post('/store/quote', cart(shop)),
  'POST /store/checkout-session, guest': (shop, count) =>
    shop.visitor().post('/store/checkout-session', { ...cart(shop), customer: { email: `new${count}@shop.example` } }),
  'POST /store/checkout-session, coupon': (shop) =>
    shop.member.post('/store/checkout-session', { ...cart(shop), couponCodes: ['TEN'] }),
  'POST /auth/login': ({ visitor }) => visitor().post('/auth/login', { email: 'buyer20@shop.example', password }),
  'POST /auth/forgot-password': ({ visitor }, count) =>
    visitor().post('/auth/forgot-password', { email: `unknown${count}@shop.example` }),
  ...Object.fromEntries(
    ['/me', '/orders', '/orders?page=2&perPage=1', '/me/subscriptions', '/me/downloads', '/me/address'].map(
      (path): [string, Send] => [`GET ${path}`, ({ member }) => member.get(path)]
    )
  ),
  ...Object.fromEntries(
    ['/affiliates/me', '/affiliates/stats', '/affiliates/referrals'].map((path): [string, Send] => [
      `GET ${path}`,
      ({ affiliate }) => affiliate.get(path)
    ])
  ),
  ...Object.fromEntries(
    ['/', '/products/mug', '/cart', '/sitemap.xml'].map((path): [string, Send] => [`page ${path}`, page(() => path)])
  ),
  'page of an order': page(({ token }) => `/checkout/done/${token}`),
  'page of an invoice': page(({ token }) => `/checkout/invoice/${token}`)
}

const month = '--from 2026-10-01 --to 2026-10-31'
const commands: readonly string[] = [
  'users list --limit 20',
  'users show buyer14@shop.example',
  'users export buyer14@shop.example',
  'orders list --limit 20',
  'orders list --status processing --limit 20',
  'orders warnings',
  'offers list',
  'coupons list',
  'affiliates list',
  'affiliates show mira',
  'referrals list --limit 20',
  'events list --limit 20',
  'webhooks deliveries',
  ...['sales', 'products', 'coupons', 'affiliates', 'tax'].map((name) => `report ${name} ${month}`)
]

const pace = new WeakMap<Opened, ReturnType<typeof startPace>>()
const jobs: Readonly<Record<string, (shop: Opened) => Promise<unknown>>> = {
  'payments, first': ({ app }) => settlePayments(app, { underWay: 'take' }),
  'payments, each minute': (shop) => {
    const kept = pace.get(shop) ?? startPace()
    pace.set(shop, kept)
    return settlePayments(shop.app, { pace: kept })
  },
  'comparison with Stripe, each day': ({ app }) => warnOfDifferences(app),
  'housekeeping, each hour': ({ app }) => cleanUp(app)
}

/** The times of each row in milliseconds: those of the new shop and then those of the old one. */
const times = new Map<string, number[]>([['start to the first answer', []]])

async function alternate(
  name: string,
  shops: readonly Opened[],
  runs: number,
  run: (shop: Opened, count: number) => Promise<unknown>
) {
  const taken = shops.map((): number[] => [])
  for (let count = 0; count < runs; count += 1) {
    for (const [index, shop] of shops.entries()) {
      const startedAt = performance.now()
      await run(shop, count)
      taken[index]?.push(performance.now() - startedAt)
    }
  }
  times.set(name, taken.map(median))
}

async function measureRequest(name: string, send: Send, shops: readonly Opened[]): Promise<void> {
  await alternate(name, shops, requestsEach, async (shop, count) => {
    const { status } = await send(shop, count)
    if (status >= 400) throw new Error(`${name} was answered with ${status}.`)
  })
}

async function measureCommand(words: string, shops: readonly Opened[]): Promise<void> {
  await alternate(words, shops, commandsEach, async ({ dataDir }) => {
    const { code, stderr } = await shopstead(dataDir, [...words.split(' '), '--json'])
    if (code !== 0) throw new Error(`shopstead ${words}: ${stderr}`)
  })
}

/** The longest block of the event loop while a job runs. */
async function blockOf(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await new Promise((resolve) => setTimeout(resolve, 20))
  delay.reset()
  await work()
  delay.disable()
  return delay.max / 1e6
}

const newOrders = 100
const shops = [await open(newOrders), await open(Number(process.argv[2] ?? oldShopOrders.large))] as const
const blocks: string[][] = []
// First, because the jobs of both servers begin with their start and would slow the requests.
for (const [name, work] of Object.entries(jobs)) {
  const [few, many] = [await blockOf(() => work(shops[0])), await blockOf(() => work(shops[1]))]
  blocks.push([`block by: ${name}`, inMs(few), inMs(many), '', many > most.blockMs ? 'over' : ''])
}
for (const [name, send] of Object.entries(requests)) await measureRequest(name, send, shops)
for (const words of commands) await measureCommand(words, shops)
const rows = [...times].map(([name, [few = 0, many = 0]]) => {
  const isOver = name !== 'start to the first answer' && many / few > most.ratio
  return [name, inMs(few), inMs(many), (many / few).toFixed(2), isOver ? 'over' : '']
})
process.stdout.write(`${table(['what', 'new shop', 'old shop', 'ratio', ''], [...rows, ...blocks])}\n`)
for (const shop of shops) {
  await shop.stop()
  rmSync(shop.dataDir, { recursive: true, force: true })
}

function inMs(ms: number): string {
  return `${ms.toFixed(2)} ms`
}
