import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { settlePayments, startPace } from '../../../src/shop/payments/reconcile.ts'
import { makeOldShop, oldShopOrders } from '../../bench/old-shop/old-shop.ts'
import { walksOf } from '../../bench/old-shop/plans.ts'
import { quay } from '../../support/addresses.ts'
import type { Browser } from '../../support/browser.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'

/** Walks that are allowed: what the step of the plan and the statement look like, why, and what bounds them. */
const allowed: readonly { step: RegExp; source: RegExp; why: string }[] = [
  {
    step: /(SEARCH .*_at<\?|ends_at<\?|SCAN (webhook_inbox|sessions|idempotency_keys|webhook_deliveries)$)/,
    source:
      /^delete from "(webhook_inbox|webhook_deliveries|mails|sessions|idempotency_keys|email_tokens)" where .* limit/s,
    why: 'housekeeping deletes every row that the index finds, at most 100 in a step; a scan is chosen if most are old'
  },
  {
    step: /INTEGER PRIMARY KEY \(rowid>\?\)$/,
    source: /from "(invoices|events|order_holders|payouts)" .*order by "\w+"\."(id|order_id)" asc limit/s,
    why: 'a step of housekeeping: the next 100 rows after an id'
  },
  {
    step: /users_by_activity \(active_at<\?\)$/,
    source: /from "users" where .* limit/s,
    why: 'housekeeping changes every account that the index finds, 5 in a step'
  },
  {
    step: /users_by_password_hash \(password_hash>\? AND password_hash<\?\)$/,
    source: /^select min\("password_hash"\)/,
    why: 'a login asks which kinds of hashes there are: the smallest value of a range of an index is its first entry'
  },
  {
    step: /orders_paid_guests \(created_at>\? AND created_at<\?\)$/,
    source: /ORDER BY created_at LIMIT/,
    why: 'a step of housekeeping: the next 100 guest orders after a time'
  },
  {
    step: /orders_by_user \(user_id=\?\)$/,
    source: /"email_key" = \+\? and "orders"\."user_id" is null/,
    why: 'the orders of one account; the guest orders are found by their email'
  },
  {
    step: /gateway_subscriptions_open \(gateway_id>\?\)$/,
    source: /LIMIT @limit$/,
    why: 'a step of the payment job: the next 50 running subscriptions'
  },
  {
    step: /^SCAN gateway_subscriptions/,
    source: /^select "gateway_id" from "gateway_subscriptions" limit \S+$/,
    why: 'whether the shop has any: it reads one row'
  },
  {
    step: /webhook_inbox_by_time \(applied_at[<>]\?\)$/,
    source: /order by "webhook_inbox"\."applied_at" (asc|desc) limit/,
    why: 'once in the life of a server; it reads the times of 1,000 events in a step'
  },
  {
    step: /invoices_sequence \(kind=\? AND year=\?\)$/,
    source: /^select max\("sequence"\)/,
    why: 'reads the last entry of the index'
  },
  {
    step: /(commission_entries_by_referral|referrals_by_affiliate|AUTOMATIC COVERING INDEX \(referral_id=\?\) LEFT-JOIN)$/,
    source: /"owed_minor"/,
    why: "the operator's command for payouts adds up all commissions; no request runs it"
  },
  {
    step: /(SCAN referral_totals|sqlite_autoindex_referral_totals_1 \(affiliate_id=\?( AND day>\?)?\))$/,
    source: /from "referral_totals"/,
    why: "one affiliate's days: 3,650 after ten years"
  },
  {
    step: /referrals_by_affiliate \(affiliate_id=\? AND id<\?\)$/,
    source: /order by "referrals"\."id" desc limit/,
    why: 'a page in the order of the index: at most 101 rows'
  }
]

let dataDir: string
let sources: Set<string>
beforeAll(async () => {
  sources = await recordStatements(async () => {
    // The template's shop ships, refunds, renews and pays out.
    dataDir = await makeOldShop(oldShopOrders.small)
    copyFileSync(join(dataDir, 'shopstead.db'), join(dataDir, 'plain.db'))
    const shop = await startShop({ dataDir, seed: null })
    try {
      await spendADay(shop)
    } finally {
      await shop.stop()
    }
  })
}, 180_000)
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** The statements that all connections to a shop's database prepare during `work`. */
async function recordStatements(work: () => Promise<void>): Promise<Set<string>> {
  const recorded = new Set<string>()
  const { prepare } = Database.prototype
  Database.prototype.prepare = function record(this: Database.Database, source: string) {
    if (this.name.endsWith('shopstead.db')) recorded.add(source)
    return prepare.call(this, source)
  } as typeof prepare
  try {
    await work()
  } finally {
    Database.prototype.prepare = prepare
  }
  const isOfTheShop = (source: string): boolean =>
    /^\s*(select|insert|update|delete|with)\b/i.test(source) &&
    !/template|temp\.|sqlite_|pragma_|of the test/.test(source)
  return new Set([...recorded].filter(isOfTheShop))
}

const password = 'tidal-basalt-93'

/** What buyers, members, affiliates and the background jobs of a shop do in a day. */
async function spendADay(shop: RunningShop): Promise<void> {
  const guest = shop.visitor()
  await visitPages(shop, guest)
  await buy(shop, guest, { customer: { email: 'new@shop.example' }, couponCode: 'FIVER' })
  for (const email of ['buyer1@shop.example', 'buyer20@shop.example']) {
    const member = shop.visitor()
    expect((await member.post('/auth/login', { email, password })).status).toBe(200)
    await buy(shop, member, { couponCode: 'TEN' }, '?ref=mira')
    for (const path of memberPaths) await member.get(path)
    await member.post('/auth/logout')
  }
  await shop.visitor().register({ email: 'another@shop.example' })
  await shop.visitor().post('/auth/forgot-password', { email: 'buyer20@shop.example' })
  const pace = startPace()
  for (let round = 0; round < 2; round += 1) await settlePayments(shop.app, { underWay: 'take', pace })
  await cleanUp(shop.app)
}

const memberPaths = [
  '/me',
  '/orders',
  '/orders?page=2&perPage=2',
  '/me/subscriptions',
  '/me/prices?products=1,2',
  '/me/downloads',
  '/affiliates/me',
  '/affiliates/referrals',
  '/affiliates/stats'
]

async function visitPages(shop: RunningShop, visitor: Browser): Promise<void> {
  const paths = [
    '/store/offers',
    '/store/products',
    '/store/products?q=lantern',
    '/store/products?sort=price',
    '/store/categories'
  ]
  for (const path of paths) expect((await visitor.get(path)).status).toBe(200)
  for (const page of ['/', '/products', '/products/mug', '/cart', '/sitemap.xml'])
    await visitor.fetch(`${shop.url}${page}`)
}

async function buy(shop: RunningShop, visitor: Browser, body: object, query = ''): Promise<void> {
  const productId = shop.app.db.sqlite
    .prepare(`SELECT id FROM products WHERE slug = 'mug' -- of the test`)
    .pluck()
    .get()
  const cart = { items: [{ productId, quantity: 1 }], shippingAddress: quay, ...body }
  await visitor.post('/store/quote', cart)
  const { status, data } = await visitor.post(`/store/checkout-session${query}`, cart)
  expect(status).toBe(200)
  const page = String(data.checkoutUrl).replace('//localhost:', '//127.0.0.1:')
  await visitor.form(page, { payment_method: 'pm_card_visa', email: 'new@shop.example' })
  await shop.app.sandbox?.deliverDue()
  const order = shop.app.db.sqlite
    .prepare<[number], { token: string }>('SELECT public_token AS token FROM orders WHERE id = ? -- of the test')
    .get(Number(data.orderId))
  for (const path of [`/orders/${Number(data.orderId)}`, `/store/orders/${order?.token}`]) await visitor.get(path)
  for (const page of [`/order/${order?.token}`, `/order/${order?.token}/invoice`])
    await visitor.fetch(`${shop.url}${page}`)
}

it.each(['without statistics', 'with statistics'])(
  'no statement of an old shop reads more the longer the shop sells, %s',
  (kind) => {
    const file = join(dataDir, 'planned.db')
    copyFileSync(join(dataDir, 'plain.db'), file)
    const { sqlite } = openDatabase(file)
    try {
      if (kind === 'with statistics') sqlite.exec('ANALYZE')
      expect(sources.size).toBeGreaterThan(150)
      const walks = [...sources].flatMap((source) => walksOf(sqlite, source))
      const unknown = walks.filter(
        (walk) => !allowed.some(({ step, source }) => step.test(walk.step) && source.test(walk.source))
      )
      expect(unknown.map(({ step, rows, source }) => `${step} (${rows}): ${source.replaceAll(/\s+/g, ' ')}`)).toEqual(
        []
      )
    } finally {
      sqlite.close()
      rmSync(file)
    }
  }
)
