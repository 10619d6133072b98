/**
 * Measures the endpoints and jobs of a new shop against those of old ones, in one run:
 *
 *     npm run bench:old-shop                100, 35,000 and 350,295 orders; takes ten minutes
 *     npm run bench:old-shop -- 100 35000   these sizes
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { settlePayments } from '../../../src/shop/payments/reconcile.ts'
import { quay } from '../../support/addresses.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { makeOldShop, oldShopOrders } from './old-shop.ts'

const requestsEach = 60
type Times = Map<string, string>

async function measure(orders: number): Promise<Times> {
  const known = process.env['OLD_SHOP_FOLDER']
  const dataDir = known !== undefined && orders === oldShopOrders.large ? known : await makeOldShop(orders)
  const times: Times = new Map()
  const startedAt = performance.now()
  const shop = await startShop({ dataDir, seed: null, env: { SHOPSTEAD_BACKUPS: 'off' } })
  try {
    await shop.visitor().get('/store/offers')
    times.set('start to first answer', `${Math.round(performance.now() - startedAt)} ms`)
    await measureRequests(shop, times)
    await measureJob('payments (each minute)', () => settlePayments(shop.app, { underWay: 'take' }), times)
    await measureJob('housekeeping (each hour)', () => cleanUp(shop.app), times)
  } finally {
    await shop.stop()
  }
  return times
}

async function measureRequests(shop: RunningShop, times: Times): Promise<void> {
  const [guest, member] = [shop.visitor(), shop.visitor()]
  await member.post('/auth/login', { email: 'buyer14@shop.example', password: 'tidal-basalt-93' })
  const productId = shop.app.db.sqlite.prepare(`SELECT id FROM products WHERE slug = 'mug'`).pluck().get()
  const cart = { items: [{ productId, quantity: 1 }], shippingAddress: quay }
  const buyer = { customer: { email: 'new@shop.example' } }
  const requests: Record<string, () => Promise<{ status: number }>> = {
    'GET /store/offers': () => guest.get('/store/offers'),
    'GET /store/products?q=': () => guest.get('/store/products?q=lantern'),
    'POST /store/quote': () => guest.post('/store/quote', cart),
    'GET /me': () => member.get('/me'),
    'GET /orders': () => member.get('/orders'),
    'GET /me/subscriptions': () => member.get('/me/subscriptions'),
    'GET /me/downloads': () => member.get('/me/downloads'),
    'POST /store/checkout-session': () => shop.visitor().post('/store/checkout-session', { ...cart, ...buyer })
  }
  for (const [name, send] of Object.entries(requests)) times.set(name, `${(await median(send)).toFixed(2)} ms`)
}

async function median(send: () => Promise<{ status: number }>): Promise<number> {
  const taken: number[] = []
  for (let count = 0; count < requestsEach; count += 1) {
    const startedAt = performance.now()
    const { status } = await send()
    if (status !== 200) throw new Error(`A measured request was answered with ${status}.`)
    taken.push(performance.now() - startedAt)
  }
  return taken.toSorted((a, b) => a - b)[requestsEach / 2] ?? Number.NaN
}

/** The longest block of the event loop while a job runs. */
async function measureJob(name: string, work: () => Promise<unknown>, times: Times): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const startedAt = performance.now()
  await work()
  delay.disable()
  const total = Math.round(performance.now() - startedAt)
  times.set(name, `${Math.round(delay.max / 1e6)} ms block, ${total} ms in all`)
}

const sizes =
  process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, oldShopOrders.medium, oldShopOrders.large]
const columns: Times[] = []
for (const orders of sizes) columns.push(await measure(orders))
process.stdout.write(
  `| | ${sizes.map((orders) => `${orders.toLocaleString('en')} orders`).join(' | ')} |\n|---|${'---|'.repeat(sizes.length)}\n`
)
for (const name of columns[0]?.keys() ?? [])
  process.stdout.write(`| ${name} | ${columns.map((times) => times.get(name)).join(' | ')} |\n`)
