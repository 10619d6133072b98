import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from './errors.ts'
import { systemClock } from './platform/clock.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import { createPasswordHasher } from './platform/crypto/passwords.ts'
import { deriveKeys, loadSecret } from './platform/crypto/secrets.ts'
import type { Keys } from './platform/crypto/secrets.ts'
import { openDatabase } from './platform/db/database.ts'
import type { Db } from './platform/db/database.ts'
import { migrationStatus, newerDatabase } from './platform/db/migrate.ts'
import { isDamage } from './platform/db/storage-errors.ts'
import { openRateLimiter } from './platform/limits.ts'
import { createLogger, describeError } from './platform/log.ts'
import type { Logger } from './platform/log.ts'
import { createStripeClient } from './platform/stripe-client.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import type { CardGateway, ShopContext } from './shop/context.ts'

/** One running Shopstead, under the server, the command line and the tests alike. */
export type App = ShopContext & {
  /** The Stripe stand-in; null where Stripe itself or nothing takes cards. */
  readonly sandbox: Sandbox | null
  /** Told once by the server, when it knows its port. */
  setPublicUrl(url: string): void
  /** Hands the stand-in's webhooks to the server that takes them. */
  setWebhookReceiver(receive: WebhookReceiver): void
  close(): void
}

/** Takes one signed delivery, as an HTTP POST would bring it. */
export type WebhookReceiver = (body: string, headers: Record<string, string>) => Promise<{ status: number }>

/** Parts that tests put in the place of the real ones. */
export type Overrides = { clock?: Clock; log?: Logger; cards?: CardGateway | null }

/**
 * Opens everything a shop needs in its data folder.
 *
 * @param options.database `create` makes a missing one (migrate, dev); `migrated` refuses one that is missing, behind
 *   or ahead, naming the command to run; `any` opens whatever is there (health).
 * @throws AppError CONFIG_INVALID for a folder that cannot be used, CONFLICT for a database that does not fit.
 */
export function createApp(
  config: Config,
  options: { database: 'create' | 'migrated' | 'any' },
  overrides: Overrides = {}
): App {
  prepareFolder(config.dataDir)
  const db = openShopDatabase(config, options.database)
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLogger({ env: config.env, level: config.log })
  const keys = deriveKeys(config.secret ?? loadSecret(config.dataDir))
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
    passwords: createPasswordHasher(),
    limiter,
    cards: overrides.cards === undefined ? cardGateway(config, keys, sandbox) : overrides.cards,
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
  return `whsec_${keys.sandboxWebhook.toString('base64url')}`
}

/** The card side of SHOPSTEAD_PAYMENTS. stripe-node is loaded when a payment first needs it. */
function cardGateway(config: Config, keys: Keys, sandbox: Sandbox | null): CardGateway | null {
  if (sandbox !== null) {
    const client = once(() => createStripeClient({ secretKey: 'sk_test_sandbox', httpClient: sandbox.httpClient }))
    return { name: 'sandbox', client, webhookSecret: sandboxWebhookSecret(keys), livemode: false }
  }
  if (!config.payments.includes('stripe')) return null
  const { secretKey, webhookSecret, apiBase } = config.stripe
  return {
    name: 'stripe',
    client:
      secretKey === null
        ? undefined
        : once(() => createStripeClient({ secretKey, ...(apiBase === null ? {} : { apiBase }) })),
    webhookSecret: webhookSecret ?? undefined,
    livemode: /^(sk|rk)_live_/.test(secretKey ?? '')
  }
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
    throw new AppError('CONFIG_INVALID', `The data folder ${dataDir} cannot be written: ${describeError(error)}.`)
  }
}

function openShopDatabase(config: Config, expectation: 'create' | 'migrated' | 'any'): Db {
  const file = databaseFile(config)
  if (expectation !== 'create' && !existsSync(file)) {
    throw new AppError('CONFLICT', `There is no database at ${file}: run "shopstead migrate" first.`)
  }
  const inode = statSync(file, { throwIfNoEntry: false })?.ino
  const db = openReadable(file)
  try {
    // Whoever opened the old file while a restore was putting another in its place would write into the past.
    if (inode !== undefined && statSync(file).ino !== inode)
      throw new AppError('CONFLICT', 'The database has just been replaced: try again.')
    if (expectation === 'migrated') assertMigrated(db)
    return db
  } catch (error) {
    db.sqlite.close()
    throw error
  }
}

/** Opens the file, or says what an operator can do about it: a damaged one needs a backup, a busy one only patience. */
function openReadable(file: string): Db {
  try {
    return openDatabase(file)
  } catch (cause) {
    const remedy = isDamage(cause) ? ' Restore it with "shopstead backup restore".' : ''
    const message = `The database ${file} cannot be opened (${describeError(cause)}).${remedy}`
    throw new AppError('DEPENDENCY_UNAVAILABLE', message, {}, { cause })
  }
}

export function databaseFile(config: Config): string {
  return join(config.dataDir, 'shopstead.db')
}

function assertMigrated(db: Db): void {
  const { pending, newer } = migrationStatus(db)
  if (newer) throw newerDatabase()
  if (pending.length > 0) {
    throw new AppError('CONFLICT', `The database lacks ${pending.length} migration(s): run "shopstead migrate" first.`)
  }
}
