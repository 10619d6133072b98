import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../../src/app.ts'
import type { App } from '../../../src/app.ts'
import { readDemoData } from '../../../src/operations/seeding/demo-data.ts'
import { countOrders, isEmptyShop, seedDemo } from '../../../src/operations/seeding/demo.ts'
import { demoLogins, demoPassword } from '../../../src/operations/seeding/logins.ts'
import { generateOrders } from '../../../src/operations/seeding/generated-orders.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'
import { createPasswordHasher } from '../../../src/platform/crypto/passwords.ts'
import { write } from '../../../src/platform/db/database.ts'
import { createUser } from '../../../src/shop/accounts/create-user.ts'
import { getUser } from '../../../src/shop/accounts/find.ts'
import { listAffiliates } from '../../../src/shop/affiliates/find.ts'
import { listProducts } from '../../../src/shop/catalog/manage/list-products.ts'
import { getCoupon } from '../../../src/shop/catalog/coupons.ts'
import { findSellable, publicPrices } from '../../../src/shop/catalog/sellable.ts'
import { accountSummary } from '../../../src/shop/entitlements/entitlements.ts'
import { setting, setSetting } from '../../../src/shop/settings/settings.ts'
import { listZones } from '../../../src/shop/shipping/zones.ts'
import { listTaxRates, presetEu } from '../../../src/shop/tax/rates.ts'
import { orderStatuses } from '../../../src/shop/orders/states.ts'
import { endHolds } from '../../../src/shop/payments/end-hold.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { lowestCost } from '../../support/password-cost.ts'

const now = Date.UTC(2026, 10, 20, 12)
const hourMs = 60 * 60_000
const silent = { debug() {}, info() {}, warn() {}, error() {} }

function openShop(env: Record<string, string> = {}): App {
  const app = openFolder(mkdtempSync(join(tmpdir(), 'shopstead-seed-')), env)
  onTestFinished(() => closeShop(app))
  return app
}

function openFolder(dataDir: string, env: Record<string, string> = {}): App {
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, ...env })
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const passwords = createPasswordHasher({ cost: lowestCost })
  return createApp(config, { database: 'migrated' }, { log: silent, clock: { now: () => now }, passwords })
}

function closeShop(app: App): void {
  app.close()
  rmSync(app.config.dataDir, { recursive: true })
}

let seeded: Promise<string> | undefined
afterAll(async () => {
  if (seeded !== undefined) rmSync(await seeded, { recursive: true })
})

/** A demo shop of a test's own: a copy of one that is seeded once, because seeding takes longer than a copy. */
async function demoShop(): Promise<App> {
  seeded ??= seedFolder()
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-seed-'))
  cpSync(await seeded, dataDir, { recursive: true })
  const app = openFolder(dataDir)
  onTestFinished(() => closeShop(app))
  return app
}

/** Closing folds the write-ahead log into the database's file. */
async function seedFolder(): Promise<string> {
  const app = openFolder(mkdtempSync(join(tmpdir(), 'shopstead-seed-')))
  await seedDemo(app, now)
  app.close()
  return app.config.dataDir
}

/** Every row of every table. */
function everything({ db }: App): Record<string, unknown[]> {
  const tables = db.sqlite.prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  return Object.fromEntries(tables.map(({ name }) => [name, db.sqlite.prepare<[]>(`SELECT * FROM "${name}"`).all()]))
}

function column<T>({ db }: App, sql: string): T[] {
  return db.sqlite.prepare<[], T>(sql).pluck().all()
}

describe('the demo shop', () => {
  it('offers the products and coupons of docs/contract.md A9', async () => {
    const app = await demoShop()
    const products = [...listProducts(app.db, {}, (row) => row).rows]
    const offers = products.filter(
      (product) => typeof findSellable(app.db, product.id, null, publicPrices(now)) !== 'string'
    )
    expect(offers.length).toBeGreaterThanOrEqual(24)
    for (const product of offers.slice(0, 10)) {
      const sellable = findSellable(app.db, product.id, null, publicPrices(now))
      expect(sellable).toMatchObject({ type: 'physical', stock: null, variation: null, grants: [] })
    }
    const bySlug = (slug: string) => products.find((product) => product.slug === slug)
    expect(bySlug('last-lantern')).toMatchObject({ stock: 1, published: true })
    expect(products.filter(({ id }) => findSellable(app.db, id, null, publicPrices(now)) === 'sold_out')).toHaveLength(
      1
    )
    expect(products.filter(({ published }) => !published)).toHaveLength(1)
    expect(column(app, 'SELECT DISTINCT category_id FROM product_categories').length).toBeGreaterThanOrEqual(5)
    expect(getCoupon(app.db, 'WELCOME10')).toMatchObject({ percentBps: 1000 })
    expect(getCoupon(app.db, 'ONCE')).toMatchObject({ maxUses: 1, used: 0 })
    expect(getCoupon(app.db, 'EXPIRED').endsAt).toBeLessThan(now)
  })

  it('ships to two zones with three methods, and every product that is shipped has a weight', async () => {
    const app = await demoShop()
    const zones = listZones(app.db).map(({ zone, methods }) => [zone, methods.map(({ id }) => id)])
    expect(zones).toEqual([
      ['Germany', ['standard', 'express']],
      ['Everywhere else', ['standard']]
    ])
    expect(column(app, "SELECT slug FROM products WHERE type = 'physical' AND weight_grams IS NULL")).toEqual([])
  })

  it('has the tax rates of the preset of the EU, and invoices with tax and the seller', async () => {
    const app = await demoShop()
    const before = listTaxRates(app.db)
    presetEu(app.db, { ownRate: false }, 0)
    expect(listTaxRates(app.db)).toEqual(before)
    const documents = column<string>(app, 'SELECT document FROM invoices').map((text) => JSON.parse(text))
    expect(documents.length).toBeGreaterThan(0)
    for (const { seller, taxMinor, totalMinor } of documents) {
      expect(seller).toMatchObject({ name: 'Harbour Lanterns GmbH', city: 'Hamburg', vatId: 'DE123456788' })
      expect(taxMinor > 0).toBe(totalMinor > 0)
    }
  })

  it('keeps the country of a shop that has one', async () => {
    const app = openShop()
    setSetting(app.db, 'shop.country', 'AT', now)
    await seedDemo(app, now)
    expect(setting(app.db, 'shop.country')).toBe('AT')
    expect(setting(app.db, 'shop.legal.name')).not.toBe('')
  })

  it('keeps its pending orders when a server ends expired holds', async () => {
    const app = await demoShop()
    const pending = () => column(app, "SELECT id FROM orders WHERE status = 'pending'")
    const before = pending()
    expect(before.length).toBeGreaterThan(0)
    await endHolds(app)
    expect(pending()).toEqual(before)
  })

  it('has the people of docs/contract.md A9, each with the demo password', async () => {
    const app = await demoShop()
    const one = (email: string) => getUser(app.db, `${email}@shop.example`)
    expect(one('admin')).toMatchObject({ isAdmin: true, status: 'active' })
    expect(one('unverified')).toMatchObject({ verificationPending: true, emailVerifiedAt: null })
    expect(one('closed').status).toBe('deactivated')
    expect(await app.passwords.verify(one('lena').passwordHash, demoPassword)).toBe(true)
    expect(one('lena').passwordHash).not.toBe(one('mira').passwordHash)
    expect([...listAffiliates(app.db, {}, ({ code, status }) => `${code} ${status}`)].toSorted()).toEqual([
      'jonas pending',
      'mira active',
      'petra inactive'
    ])
    const ofMira = `SELECT id FROM referrals WHERE affiliate_id = (SELECT id FROM affiliates WHERE code = 'mira')`
    expect(column(app, ofMira).length).toBeGreaterThanOrEqual(22)
    const logins = demoLogins(app.db)
    expect(logins[0]).toEqual({
      email: 'admin@shop.example',
      password: demoPassword,
      role: 'administrator',
      affiliateCode: null
    })
    expect(logins.map(({ email }) => email)).not.toContain('closed@shop.example')
  })

  it('has a customer with orders in every state, a membership and a subscription, and one without orders', async () => {
    const app = await demoShop()
    const lena = getUser(app.db, 'lena@shop.example')
    const states = column<string>(app, `SELECT DISTINCT status FROM orders WHERE user_id = ${lena.id}`)
    expect(new Set(states)).toEqual(new Set(orderStatuses))
    const summaryOf = (email: string) => accountSummary(app.db, getUser(app.db, email), { isLoggedIn: true }, now)
    expect(summaryOf('lena@shop.example').flags).toMatchObject({
      hasActiveMembershipA: true,
      hasActiveSubscription: true,
      hasProAccess: true
    })
    expect(summaryOf('new@shop.example').entitlements.ordersSummary.totalOrders).toBe(0)
  })

  it('gives each order the state and the time of its data', async () => {
    const app = await demoShop()
    const wanted = readDemoData({ currency: 'EUR', timeZone: 'UTC' }).orders
    expect(wanted.length).toBeGreaterThanOrEqual(40)
    expect(column(app, 'SELECT status FROM orders ORDER BY id')).toEqual(wanted.map(({ state }) => state))
    expect(column<number>(app, 'SELECT created_at FROM orders ORDER BY id')).toEqual(
      wanted.map(({ daysAgo }) => Math.round(now - daysAgo * 24 * hourMs))
    )
    expect(new Set(column(app, 'SELECT source_type FROM order_attributions'))).toEqual(
      new Set(['referral', 'utm', 'typein'])
    )
    expect(column<number>(app, 'SELECT max(at) FROM order_history')[0]).toBeLessThanOrEqual(now)
  })

  it('holds its unpaid orders for at least a day', async () => {
    const app = await demoShop()
    const ends = column<number>(app, `SELECT hold_ends_at FROM orders WHERE status = 'pending'`)
    expect(ends).toHaveLength(4)
    expect(Math.min(...ends)).toBeGreaterThan(now + 24 * hourMs)
  })

  it('sends no email', async () => {
    const app = openShop()
    const user = { email: 'early@shop.example', displayName: 'Early', passwordHash: 'none', marketingOptIn: false }
    write(app.db, (tx) => {
      createUser(tx, { ...user, verified: true, termsAcceptedAt: null, privacyAcceptedAt: null }, now)
    })
    await seedDemo(app, now)
    expect(column(app, "SELECT count(*) FROM orders WHERE status <> 'pending'")[0]).toBeGreaterThan(0)
    expect(column(app, 'SELECT template FROM mails')).toEqual([])
  })

  it('includes the files of its download products', async () => {
    const app = await demoShop()
    const granted = readDemoData({ currency: 'EUR', timeZone: 'UTC' }).catalog.products.flatMap(({ grants = [] }) =>
      grants.flatMap((grant) => (grant.kind === 'download' ? [grant.file] : []))
    )
    expect(granted.length).toBeGreaterThan(0)
    expect(readdirSync(join(app.config.dataDir, 'downloads'))).toEqual(expect.arrayContaining(granted))
  })

  it('does not change when it is seeded again a day later', async () => {
    const app = openShop()
    expect(isEmptyShop(app.db)).toBe(true)
    const first = await seedDemo(app, now)
    expect(isEmptyShop(app.db)).toBe(false)
    const before = everything(app)
    const second = await seedDemo(app, now + 24 * hourMs)
    expect(everything(app)).toEqual(before)
    for (const [kind, counts] of Object.entries(second)) {
      expect([kind, counts]).toEqual([kind, { created: 0, updated: 0, unchanged: first[kind]?.created }])
    }
  })

  it('is not seeded in part when one account fails', async () => {
    const app = openShop()
    const user = { email: 'other@shop.example', displayName: 'Other', passwordHash: 'none', marketingOptIn: false }
    write(app.db, (tx) => {
      const account = { ...user, username: 'duarte', verified: true, termsAcceptedAt: null, privacyAcceptedAt: null }
      createUser(tx, account, now)
    })
    const before = everything(app)
    await expect(seedDemo(app, now)).rejects.toMatchObject({ code: 'AUTH_REGISTRATION_FAILED' })
    expect(everything(app)).toEqual(before)
  })

  it('is not seeded in production', async () => {
    const app = openShop({ SHOPSTEAD_ENV: 'production' })
    await expect(seedDemo(app, now)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(isEmptyShop(app.db)).toBe(true)
  })
})

describe('generated orders', () => {
  it('fill the shop up to a number, continue after an interruption, and send no email', async () => {
    const app = await demoShop()
    const stop = new Error('stopped')
    const stopped = generateOrders(app, 250, now, () => {
      throw stop
    })
    await expect(stopped).rejects.toBe(stop)
    expect(countOrders(app.db)).toBe(195)
    const reported: number[] = []
    await generateOrders(app, 250, now, (done) => reported.push(done))
    await generateOrders(app, 250, now, (done) => reported.push(done))
    expect(reported).toEqual([250])
    expect(countOrders(app.db)).toBe(250)
    expect(column(app, 'SELECT template FROM mails')).toEqual([])
    expect(column(app, 'SELECT DISTINCT status FROM orders').length).toBe(orderStatuses.length)
    expect(column(app, `SELECT id FROM products WHERE slug = 'last-lantern' AND stock = 1`)).toHaveLength(1)
  })

  it('need a product without counted stock', async () => {
    const app = openShop()
    await expect(generateOrders(app, 10, now, () => undefined)).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})
