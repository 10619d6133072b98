import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from './errors.ts'
import { systemClock } from './platform/clock.ts'
import type { Clock } from './platform/clock.ts'
import { viesBase } from './platform/config/config.ts'
import type { Config } from './platform/config/config.ts'
import { createPasswordHasher } from './platform/crypto/passwords.ts'
import type { PasswordHasher } from './platform/crypto/passwords.ts'
import { deriveKeys, loadSecret } from './platform/crypto/secrets.ts'
import type { Keys } from './platform/crypto/secrets.ts'
import { openDatabase } from './platform/db/database.ts'
import type { Db } from './platform/db/database.ts'
import { setHashKey } from './platform/db/keyed-hash.ts'
import { assertOwnMigrations, migrationStatus } from './platform/db/migrate.ts'
import { isDamage } from './platform/db/storage-errors.ts'
import { openRateLimiter } from './platform/limits.ts'
import { createLogger, describeError } from './platform/log.ts'
import type { Logger } from './platform/log.ts'
import { shopIdOf } from './platform/db/database-id.ts'
import { missingDatabase, requireSameShop } from './platform/shop-id.ts'
import { createStripeClient, stripeApiVersion } from './platform/stripe-client.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { sandboxVies } from './sandbox/vies.ts'
import { viesOver } from './platform/vies.ts'
import type { SendToVies } from './platform/vies.ts'
import type { CardGateway, ShopContext } from './shop/context.ts'

/** An open shop, as the server, the command line and the tests use it. */
export type App = ShopContext & {
  /** The sandbox; null when the shop uses Stripe, or does not accept cards. */
  readonly sandbox: Sandbox | null
  /** Sets the public URL if the configuration has none. The server calls it once it knows its port. */
  setPublicUrl(url: string): void
  /** Sets where the sandbox delivers its webhooks. */
  setWebhookReceiver(receive: WebhookReceiver): void
  /** Closes the database files. */
  close(): void
}

/** Handles one signed webhook delivery like an HTTP POST. */
export type WebhookReceiver = (body: string, headers: Record<string, string>) => Promise<{ status: number }>

type Expectation = 'create' | 'migrated' | 'any' | 'readonly'

/** Replacements for tests. */
export type Overrides = {
  clock?: Clock
  log?: Logger
  cards?: CardGateway | null
  passwords?: PasswordHasher
  /** How long a write waits for another process's lock; 5 s by default. */
  lockTimeoutMs?: number
  /** The pause before a gateway call is tried again; 500 ms by default. */
  gatewayRetryMs?: number
}

/**
 * Opens the shop in its data folder, which it creates if it is missing.
 *
 * @param options.database `create` creates a missing database (init, dev); `migrated` rejects one that is missing,
 *   outdated, too new or of another shop, and names the command to run; `any` accepts every existing database (health); `readonly` too,
 *   and SQLite refuses every write to it.
 * @throws AppError CONFIG_INVALID for a folder that cannot be written, CONFLICT for a database that is missing, outdated
 *   or too new, DEPENDENCY_UNAVAILABLE for one that does not open
 */
export function createApp(config: Config, options: { database: Expectation }, overrides: Overrides = {}): App {
  prepareFolder(config.dataDir)
  const db = openShopDatabase(config, options.database, overrides.lockTimeoutMs)
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLogger({ env: config.env, level: config.log })
  const keys = deriveKeys(config.secret ?? loadSecret(config.dataDir))
  setHashKey(db, keys.erased)
  let publicUrl = config.publicUrl
  const publicUrlOf = (): string => publicUrl ?? `${config.https ? 'https' : 'http'}://localhost:${config.port}`
  let receive: WebhookReceiver | undefined
  const sandbox = config.payments.includes('sandbox')
    ? createSandbox({
        file: join(config.dataDir, 'sandbox.db'),
        publicUrl: publicUrlOf,
        clock,
        webhookSecret: sandboxWebhookSecret(keys),
        deliver: async (body, headers) => (receive === undefined ? { status: 503 } : receive(body, headers)),
        log
      })
    : null
  const limiter = openRateLimiter(join(config.dataDir, 'limits.db'))
  return {
    config,
    db,
    clock,
    log,
    keys,
    passwords: overrides.passwords ?? createPasswordHasher(),
    limiter,
    cards:
      overrides.cards === undefined
        ? cardGateway({ config, keys, sandbox, publicUrl: publicUrlOf }, overrides.gatewayRetryMs)
        : overrides.cards,
    vies: viesOf(config, sandbox !== null),
    publicUrl: publicUrlOf,
    sandbox,
    setPublicUrl: (url) => void (publicUrl ??= url),
    setWebhookReceiver: (receiver) => void (receive = receiver),
    close() {
      limiter.close()
      sandbox?.close()
      db.sqlite.close()
    }
  }
}

function sandboxWebhookSecret(keys: Keys): string {
  return `whsec_${keys.sandboxWebhook.export().toString('base64url')}`
}

/** Stripe.js of the release of stripeApiVersion. Stripe requires that pages load it from its own host. */
const stripeScript = `https://js.stripe.com/${stripeApiVersion.split('.')[1]}/stripe.js`

/** The card gateway of SHOPSTEAD_PAYMENTS; null for none. The first payment loads stripe-node. */
function cardGateway(
  { config, keys, sandbox, publicUrl }: Pick<App, 'config' | 'keys' | 'sandbox' | 'publicUrl'>,
  retryDelayMs?: number
): CardGateway | null {
  if (sandbox !== null) {
    const client = once(() =>
      createStripeClient({ secretKey: 'sk_test_sandbox', httpClient: sandbox.httpClient, retryDelayMs })
    )
    return {
      name: 'sandbox',
      client,
      webhookSecret: sandboxWebhookSecret(keys),
      livemode: false,
      paymentForm: () => ({ publishableKey: 'pk_test_sandbox', scriptUrl: `${publicUrl()}/sandbox/stripe.js` })
    }
  }
  if (!config.payments.includes('stripe')) return null
  const { secretKey, publishableKey, webhookSecret, apiBase } = config.stripe
  return {
    name: 'stripe',
    client:
      secretKey === null
        ? undefined
        : once(() => createStripeClient({ secretKey, retryDelayMs, ...(apiBase === null ? {} : { apiBase }) })),
    webhookSecret: webhookSecret ?? undefined,
    livemode: /^(sk|rk)_live_/.test(secretKey ?? ''),
    ...(publishableKey === null ? {} : { paymentForm: () => ({ publishableKey, scriptUrl: stripeScript }) })
  }
}

/** With the sandbox, no request leaves this machine unless the configuration says where to. */
function viesOf({ viesBase: base }: Config, isSandbox: boolean): SendToVies {
  return base === null && isSandbox ? sandboxVies : viesOver(base ?? viesBase)
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

function prepareFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `The data folder ${dataDir} is not writable: ${describeError(error)}.`)
  }
}

function openShopDatabase(config: Config, expectation: Expectation, lockTimeoutMs: number | undefined): Db {
  const file = databaseFile(config)
  if (expectation !== 'create' && !existsSync(file)) {
    throw missingDatabase(config, file)
  }
  const inode = statSync(file, { throwIfNoEntry: false })?.ino
  const db = openReadable(file, { lockTimeoutMs, readonly: expectation === 'readonly' })
  try {
    // A restore may have replaced the file while we opened it; writes to the old file would be lost.
    if (inode !== undefined && statSync(file).ino !== inode)
      throw new AppError('CONFLICT', 'A restore has just replaced the database: try again.')
    if (expectation === 'migrated') assertMigrated(db)
    if (expectation === 'migrated' || expectation === 'readonly')
      requireSameShop(config, shopIdOf(db), `The database ${file}`)
    return db
  } catch (error) {
    db.sqlite.close()
    throw error
  }
}

/** @throws AppError DEPENDENCY_UNAVAILABLE with what the operator can do about it */
function openReadable(file: string, options: { lockTimeoutMs: number | undefined; readonly: boolean }): Db {
  try {
    return openDatabase(file, options)
  } catch (cause) {
    const remedy = isDamage(cause) ? ' Restore it with "shopstead backup restore".' : ''
    const message = `The database ${file} does not open (${describeError(cause)}).${remedy}`
    throw new AppError('DEPENDENCY_UNAVAILABLE', message, {}, { cause })
  }
}

/** The path of the shop's database, data/shopstead.db. */
export function databaseFile(config: Pick<Config, 'dataDir'>): string {
  return join(config.dataDir, 'shopstead.db')
}

function assertMigrated(db: Db): void {
  const status = migrationStatus(db)
  assertOwnMigrations(status)
  const { pending } = status
  if (pending.length > 0) {
    throw new AppError('CONFLICT', `${pending.length} migrations are pending: run "shopstead migrate" first.`)
  }
}
