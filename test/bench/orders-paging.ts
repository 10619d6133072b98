/**
 * Tests whether pages stay fast in a large shop, by the time of the HTTP response: pages 1 and 200 of a customer with
 * 5,000 orders in a shop with 100,000, compared with page 1 of one with 500 in a shop with 500; and offers of a shop with
 * 10,000 products compared with one with 500. Exits with 1 when one takes over twice as long.
 * Usage: node test/bench/orders-paging.ts
 */
import { Agent, get } from 'node:http'
import { write } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { affiliates } from '../../src/shop/affiliates/schema.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const maxRatio = 2
const rounds = 300
const warmUp = 30

type Size = { orders: number; own: number; products: number }

/** Starts a shop in which the customer's orders are spread evenly among those of others. */
async function shopOf({ orders, own, products }: Size): Promise<{ shop: RunningShop; cookie: string }> {
  const words = ['Lantern', 'Mug', 'Print', 'Candle', 'Basket', 'Quilt', 'Kettle']
  const catalog = {
    products: Array.from({ length: products }, (_, index) => ({
      slug: `product-${index}`,
      name: `${words[index % words.length]} ${index}`,
      description: `Number ${index}, made of ${words[(index * 3) % words.length]?.toLowerCase()} parts.`,
      price: '12.50',
      categories: [`Room ${index % 20}`],
      tags: [`tag-${index % 50}`]
    }))
  }
  const shop = await startShop({ seed: catalog })
  const lena = await makeUser(shop.app, { email: 'lena@shop.example' })
  const mira = await makeUser(shop.app, { email: 'mira@shop.example' })
  const { db } = shop.app
  const at = Date.now()
  const row = { userId: mira.id, code: 'mira', codeKey: 'mira', status: 'active', rateBps: 1000 } as const
  db.orm
    .insert(affiliates)
    .values({ ...row, createdAt: at, updatedAt: at })
    .run()
  write(db, () => insertOrders(db, { orders, own, userId: lena.id, otherId: mira.id, at }))
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)')
  const visitor = shop.visitor()
  await visitor.post('/auth/login', { email: lena.email, password: goodPassword })
  return { shop, cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
}

type InsertOptions = { orders: number; own: number; userId: number; otherId: number; at: number }

/** Inserts orders by SQL: each with two line items and an attribution, every fifth with a visit and a referral. */
function insertOrders({ sqlite }: Db, { orders, own, userId, otherId, at }: InsertOptions): void {
  const order = sqlite.prepare(
    `INSERT INTO orders (id, user_id, email, email_key, status, currency, subtotal_minor, discount_minor, total_minor,
       refunded_minor, strategy, contact, public_token, paid_at, created_at, updated_at)
     VALUES (?, ?, 'a@shop.example', 'a@shop.example', 'processing', 'EUR', 2500, 0, 2500, 0, 'redirect_to_store', '{}', ?, ?, ?, ?)`
  )
  const line = sqlite.prepare(
    `INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type,
       grants, stock_taken)
     VALUES (?, ?, 'Lantern', 1, 1250, 0, 1250, 'physical', '[]', 0)`
  )
  const visit = sqlite.prepare(
    'INSERT INTO visits (id, affiliate_id, order_id, campaign, created_at) VALUES (?, 1, ?, NULL, ?)'
  )
  const attribution = sqlite.prepare(
    `INSERT INTO order_attributions (order_id, affiliate_id, visit_id, affiliate_ref, affiliate_campaign, source_type,
       utm_source, ref_outcome)
     VALUES (?, ?, ?, ?, '', ?, ?, ?)`
  )
  const referral = sqlite.prepare(
    `INSERT INTO referrals (affiliate_id, order_id, visit_id, amount_minor, currency, rate_bps, status,
       day, created_at, updated_at)
     VALUES (1, ?, ?, 250, 'EUR', 1000, 'unpaid', '2026-01-01', ?, ?)`
  )
  const every = orders / own
  for (let id = 1; id <= orders; id += 1) {
    const time = at - (orders - id) * 1000
    order.run(id, id % every === 0 ? userId : otherId, `token-${id}`, time, time, time)
    line.run(id, (id % 100) + 1)
    line.run(id, (id % 77) + 1)
    const credited = id % 5 === 0
    if (credited) visit.run(id, id, time)
    if (credited) attribution.run(id, 1, id, 'mira', 'referral', 'affiliate:mira', 'credited')
    else attribution.run(id, null, null, '', 'typein', null, 'none')
    if (credited) referral.run(id, id, time, time)
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Milliseconds until the last byte of the response, over a keep-alive connection. */
function timeOf(url: string, cookie: string): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { cookie } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} returned ${response.statusCode}`))
      response.resume()
      response.on('end', () => resolve(performance.now() - started))
    }).on('error', reject)
  })
}

function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

type RequestSpec = { shop: RunningShop; path: string; cookie: string; before?: (db: Db) => void }

/** The median times of several requests, sent in turn, so that other load affects all of them equally. */
async function compare(requests: Record<string, RequestSpec>): Promise<Record<string, number>> {
  const times = new Map<string, number[]>()
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, { shop, path, cookie, before }] of Object.entries(requests)) {
      before?.(shop.app.db)
      const took = await timeOf(`${shop.apiRoot}${path}`, cookie)
      if (round >= 0) times.set(name, [...(times.get(name) ?? []), took])
    }
  }
  return Object.fromEntries([...times].map(([name, taken]) => [name, median(taken)]))
}

function ratios(times: Record<string, number>): Record<string, number> {
  const [base = Number.NaN, ...others] = Object.values(times)
  const names = Object.keys(times).slice(1)
  return Object.fromEntries(names.map((name, index) => [name, (others[index] ?? Number.NaN) / base]))
}

/** Changes the catalog's revision, so that the next response is not from the cache. */
const change = ({ sqlite }: Db): void =>
  void sqlite.prepare("UPDATE revisions SET value = value + 1 WHERE name = 'catalog'").run()

const small = await shopOf({ orders: 500, own: 500, products: 500 })
const large = await shopOf({ orders: 100_000, own: 5_000, products: 10_000 })

const orders = await compare({
  'page 1 of 500': { ...small, path: '/orders?page=1' },
  'page 1 of 5,000': { ...large, path: '/orders?page=1' },
  'page 200 of 5,000': { ...large, path: '/orders?page=200' }
})
const offers = await compare({
  'page 1 of 500': { ...small, path: '/store/offers' },
  'page 1 of 10,000': { ...large, path: '/store/offers' },
  'page 500 of 10,000': { ...large, path: '/store/offers?page=500' },
  'a category of 10,000': { ...large, path: '/store/offers?category=room-7' },
  'a search in 10,000': { ...large, path: '/store/offers?search=lantern' }
})
const afterChange = await compare({
  'page 1 of 500': { ...small, path: '/store/offers', before: change },
  'page 1 of 10,000': { ...large, path: '/store/offers', before: change }
})
await small.shop.stop()
await large.shop.stop()
agent.destroy()

const limited = { orders: ratios(orders), offers: ratios(offers) }
const holds = [limited.orders, limited.offers].every((group) =>
  Object.values(group).every((ratio) => ratio <= maxRatio)
)
const result = {
  milliseconds: { orders, offers, 'offers after each change': afterChange },
  ratios: { ...limited, 'offers after each change (without a limit)': ratios(afterChange) },
  maxRatio,
  holds
}
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
process.exitCode = holds ? 0 : 1
