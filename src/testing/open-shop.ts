import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, databaseFile } from '../app.ts'
import type { App } from '../app.ts'
import { changeSetting } from '../operations/change-setting.ts'
import { seedShop } from '../operations/seeding/seed.ts'
import { parseConfig } from '../platform/config/config.ts'
import { createPasswordHasher } from '../platform/crypto/passwords.ts'
import { migrateDatabase } from '../platform/db/migrate.ts'
import { openDoor } from '../platform/http/listen.ts'
import type { Door } from '../platform/http/listen.ts'
import type { Logger } from '../platform/log.ts'
import { readCatalogFile } from '../shop/catalog/import/read-file.ts'
import { settlePayments } from '../shop/payments/reconcile.ts'
import { shopPlace } from '../shop/settings/shop-days.ts'
import { parseSettingKey } from '../shop/settings/settings.ts'
import { startServer } from '../start-server.ts'
import type { RunningServer } from '../start-server.ts'
import { lastMail } from './mails.ts'
import type { TestShop, TestShopOptions } from './types.ts'

const fewProducts = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', sku: 'MUG-1' },
    { slug: 'lamp', name: 'Lamp', price: '40.00', salePrice: '30.00', stock: 5 },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' }
  ]
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
/** A test does not need hashes that withstand an attacker. */
const passwords = createPasswordHasher({ cost: { memoryCost: 8, timeCost: 1, parallelism: 1 } })

type TestClock = { now(): number; advance(ms: number): void; restart(): void }

/** A clock that stands still at `start`, or runs without one. */
function testClock(start: Date | number | undefined): TestClock {
  const still = start === undefined ? undefined : Number(start)
  let ahead = 0
  return {
    now: () => (still ?? Date.now()) + ahead,
    advance: (ms) => void (ahead += ms),
    restart: () => void (ahead = 0)
  }
}

/** Starts a shop for tests; see `startShop` of shopstead/testing. */
export async function openShop(options: TestShopOptions): Promise<TestShop> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-testing-'))
  const removeData = (): void => rmSync(dataDir, { recursive: true, force: true })
  try {
    return await openIn(dataDir, options, removeData)
  } catch (error) {
    removeData()
    throw error
  }
}

async function openIn(dataDir: string, options: TestShopOptions, removeData: () => void): Promise<TestShop> {
  const clock = testClock(options.clock)
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', ...options.env, SHOPSTEAD_DATA_DIR: dataDir })
  const open = (database: 'create' | 'migrated'): App =>
    createApp(config, { database }, { clock, log: silent, passwords })
  const filled = await fill(open('create'), options)
  const door = await openDoor({ host: '127.0.0.1', port: 0, log: silent })
  let running = await start(open('migrated'), door)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= stopAll())
  const stopAll = async (): Promise<void> => {
    await stop(running)
    await door.close({ graceMs: 1000 })
    removeData()
  }
  return {
    url: running.app.publicUrl(),
    async reset() {
      await stop(running)
      clearFolder(dataDir)
      writeFileSync(databaseFile(config), filled)
      clock.restart()
      running = await start(open('migrated'), door)
    },
    async advance(ms) {
      clock.advance(ms)
      await doWhatIsDue(running.app)
    },
    lastMail: (to) => lastMail(running.app, to),
    close,
    [Symbol.asyncDispose]: close
  }
}

type Running = { app: App; server: RunningServer }

/** Fills an empty shop, closes it, and returns its database. */
async function fill(app: App, { seed = fewProducts, settings = {} }: TestShopOptions): Promise<Buffer> {
  try {
    migrateDatabase(app.db)
    const now = app.clock.now()
    for (const [key, value] of Object.entries(settings)) changeSetting(app.db, parseSettingKey(key), value, now)
    const files = seed === 'demo' ? [] : [readCatalogFile(JSON.stringify(seed), shopPlace(app.db)).file]
    await seedShop(app, { files, demo: seed === 'demo', orders: undefined }, now, () => undefined)
  } finally {
    app.close()
  }
  return readFileSync(databaseFile(app.config))
}

async function start(app: App, door: Door): Promise<Running> {
  try {
    return { app, server: await startServer(app, door.listen) }
  } catch (error) {
    app.close()
    await door.close({ graceMs: 1000 })
    throw error
  }
}

async function stop({ app, server }: Running): Promise<void> {
  await server.stop()
  app.close()
}

/** Deletes what a shop wrote after its start. The folder of downloads belongs to the seed. */
function clearFolder(dataDir: string): void {
  const names = ['shopstead', 'sandbox', 'limits'].flatMap((name) =>
    ['', '-wal', '-shm'].map((end) => `${name}.db${end}`)
  )
  for (const name of [...names, 'mail', 'media']) rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** The sandbox's renewals and webhooks first: the shop reacts to them. */
async function doWhatIsDue(app: App): Promise<void> {
  await app.sandbox?.deliverDue()
  await settlePayments(app)
  await app.sandbox?.deliverDue()
}
