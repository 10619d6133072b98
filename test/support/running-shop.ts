import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, databaseFile } from '../../src/app.ts'
import type { App, Overrides } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { createPasswordHasher } from '../../src/platform/crypto/passwords.ts'
import { write } from '../../src/platform/db/database.ts'
import { startServer } from '../../src/start-server.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { applyShipping } from '../../src/shop/shipping/zones.ts'
import { applyTaxRates } from '../../src/shop/tax/rates.ts'
import { Browser } from './browser.ts'
import { createBeside, createMigratedDatabase } from './migrated-database.ts'
import { lowestCost } from './password-cost.ts'

export type RunningShop = {
  app: App
  dataDir: string
  url: string
  apiRoot: string
  /** A visitor with an empty cookie jar. */
  visitor(headers?: Record<string, string>): Browser
  /** Ends the server and starts another on the same data, at a port that the shop's `url` does not have. */
  restartServer(): Promise<void>
  stop(): Promise<void>
}

/** New databases after the import of a catalog, by time and catalog: an import takes longer than a copy. */
const seeded = new Map<string, Buffer>()

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Starts a shop on a free port with real parts in a temporary folder, and imports `seed` into its catalog. */
export async function startShop(
  options: { env?: Record<string, string>; seed?: object | null; overrides?: Overrides; dataDir?: string } = {}
): Promise<RunningShop> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'shopstead-'))
  const config = parseConfig({
    SHOPSTEAD_ENV: 'test',
    SHOPSTEAD_PORT: '0',
    SHOPSTEAD_LOG: 'silent',
    SHOPSTEAD_DATA_DIR: dataDir,
    ...options.env
  })
  const catalog = options.seed === undefined ? smallCatalog : options.seed
  const key = `${options.overrides?.clock?.now()} ${JSON.stringify(catalog)}`
  const known = options.dataDir === undefined ? seeded.get(key) : undefined
  if (options.dataDir === undefined) createBeside(dataDir)
  if (known === undefined) createMigratedDatabase(databaseFile(config))
  else writeFileSync(databaseFile(config), known)
  const app = createApp(
    config,
    { database: 'migrated' },
    { log: silent, passwords: createPasswordHasher({ cost: lowestCost }), gatewayRetryMs: 10, ...options.overrides }
  )
  if (known === undefined && catalog !== null) {
    seed(app, catalog)
    if (options.dataDir === undefined) seeded.set(key, app.db.sqlite.serialize())
  }
  let server = await startServer(app)
  const url = `http://127.0.0.1:${server.port}`
  return {
    app,
    dataDir,
    url,
    apiRoot: `${url}${config.apiPrefix}`,
    visitor: (headers) => new Browser(`${url}${config.apiPrefix}`, headers),
    async restartServer() {
      await server.stop()
      server = await startServer(app)
    },
    async stop() {
      await server.stop()
      app.close()
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

function seed(app: App, catalog: object): void {
  const { file } = readCatalogFile(JSON.stringify(catalog), { currency: 'EUR', timeZone: 'UTC' })
  write(app.db, (tx) => {
    applyCatalogFile(tx, file, { keepStock: false }, app.clock.now())
    applyShipping(tx, file.shipping)
    applyTaxRates(tx, file.tax)
  })
}

/** A few products for most tests. */
export const smallCatalog = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', categories: ['Kitchen'], tags: ['enamel'] },
    { slug: 'lamp', name: 'Lamp', price: '40.00', salePrice: '30.00', categories: ['Light'] },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'last', name: 'Last one', price: '5.00', stock: 1 },
    { slug: 'free-sheet', name: 'Free sheet', price: '0.00', type: 'digital' },
    { slug: 'hidden', name: 'Hidden', price: '1.00', published: false }
  ],
  coupons: [
    { code: 'TEN', percent: 10 },
    { code: 'FIVER', amount: '5.00' },
    { code: 'ONCE', percent: 50, maxUses: 1 },
    { code: 'OLD', percent: 10, endsAt: '2020-01-01' }
  ]
}
