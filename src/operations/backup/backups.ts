import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createApp, databaseFile } from '../../app.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { assertOwnMigrations, hasRows, migrateDatabase, migrationStatus } from '../../platform/db/migrate.ts'
import type { MigrationStatus } from '../../platform/db/migrate.ts'
import { unfinishedPath } from '../../platform/files.ts'
import { describeError } from '../../platform/log.ts'
import { takeLock } from '../../platform/process-lock.ts'
import { getShopId, shopIdOf, shopIdOfFile } from '../../platform/db/database-id.ts'
import { markFolder, requireSameShop, missingDatabase } from '../../platform/shop-id.ts'
import { listOffers } from '../../shop/catalog/offers.ts'
import { isModuleOn, listSettings, setting } from '../../shop/settings/settings.ts'
import { lockServer } from '../server-lock.ts'
import { backupFolder, createBackup, pruneBackups } from './create.ts'
import { inspectBackup } from './inspect.ts'
import type { InspectedBackup } from './inspect.ts'
import { dropManifest, readManifest } from './manifest.ts'
import type { BackupKind } from './manifest.ts'
import { restoreBackup } from './restore.ts'
import type { Restored } from './restore.ts'

type OnStep = (step: string) => void

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Makes a verified backup of an open shop. A scheduled backup also deletes the oldest scheduled ones beyond
 * `backup.keep`, and two of them never run at the same time: the process of one outlives a server that is killed.
 *
 * @param onStep receives the name of each step, for the operator who waits
 * @throws AppError CONFLICT when the copy fails verification, or another scheduled backup is being made
 */
export async function backUp(app: App, kind: BackupKind, onStep?: OnStep): Promise<InspectedBackup> {
  if (kind !== 'scheduled') return copyShop(app, kind, onStep)
  const { dataDir } = app.config
  const lock = takeLock(join(dataDir, 'backup.lock'), 0)
  if (lock === undefined) throw new AppError('CONFLICT', 'Another process is making a scheduled backup.')
  try {
    const info = await copyShop(app, kind, onStep)
    pruneBackups(dataDir, setting(app.db, 'backup.keep'))
    return info
  } finally {
    lock.release()
  }
}

function copyShop(app: App, kind: BackupKind, onStep?: OnStep): Promise<InspectedBackup> {
  const { db, config } = app
  return createBackup({
    db,
    dataDir: config.dataDir,
    kind,
    now: app.clock.now(),
    testCopy: (file) => testCopy(config, file),
    ...(onStep === undefined ? {} : { onStep })
  })
}

/**
 * Applies the pending migrations. A database with rows in it is first backed up to data/backups, so that an operator can
 * go back after a migration that succeeded; a migration that fails rolls back by itself. No server runs meanwhile: an
 * older one would use tables that are no longer the same.
 *
 * @param options.begins fills an empty database with the tables of a new shop
 * @throws AppError CONFLICT for an empty database and one of another shop, while a server runs, when another program
 *   migrated the database, or a migration fails
 */
export async function migrateShop(
  app: App,
  { begins = false, onStep }: { begins?: boolean; onStep?: OnStep } = {}
): Promise<MigrationStatus & { snapshot: string | null }> {
  const { config, db } = app
  assertOwnMigrations(migrationStatus(db))
  const id = shopIdOf(db)
  if (!begins || id !== null) requireSameShop(config, id, `The database ${databaseFile(config)}`)
  if (!begins && id === null) throw missingDatabase(config, databaseFile(config))
  const migrated = await applyMigrations(app, onStep)
  markFolder(config.dataDir, getShopId(db))
  return migrated
}

async function applyMigrations(app: App, onStep?: OnStep): Promise<MigrationStatus & { snapshot: string | null }> {
  if (migrationStatus(app.db).pending.length === 0) return { ...migrateDatabase(app.db), snapshot: null }
  const lock = lockServer(app.config.dataDir)
  try {
    return await migrateAlone(app, onStep)
  } finally {
    lock.release()
  }
}

async function migrateAlone(app: App, onStep?: OnStep): Promise<MigrationStatus & { snapshot: string | null }> {
  const { db, config } = app
  const { pending, other } = migrationStatus(db)
  const wanted = pending.length > 0 && other === null && hasRows(db)
  const snapshot = wanted
    ? await createBackup({
        db,
        dataDir: config.dataDir,
        kind: 'before-migration',
        now: app.clock.now(),
        ...(onStep === undefined ? {} : { onStep })
      })
    : null
  onStep?.('migrating')
  return { ...migrateDatabase(db), snapshot: snapshot?.file ?? null }
}

type Verified = InspectedBackup & { counts: Record<string, number> }

/**
 * Verifies a backup as `backUp` did when it made it: reads every row, then opens a shop on a copy.
 *
 * @throws AppError NOT_FOUND for a missing or unreadable file; CONFLICT with the reason for a backup that fails
 */
export function verifyBackup(config: Config, file: string, onStep?: OnStep): Verified {
  onStep?.('reading every row')
  const { manifest, ...info } = inspectBackup(file)
  onStep?.('opening a shop on a copy')
  testCopy(config, file)
  return { ...info, counts: manifest.counts }
}

/**
 * Replaces the shop's database with a backup that opens in this version of Shopstead; see `restoreBackup`.
 *
 * @throws AppError CONFLICT also for a backup of another shop
 */
export async function restore(
  config: Config,
  { file, what = `The backup ${file}` }: { file: string; what?: string },
  now: number,
  onStep?: OnStep
): Promise<Restored> {
  const { dataDir } = config
  let id: string | null = null
  const restored = await restoreBackup({
    file,
    dataDir,
    now,
    testCopy: (backup) => {
      id = shopIdOfFile(backup)
      requireSameShop(config, id, what)
      testCopy(config, backup)
    },
    ...(onStep === undefined ? {} : { onStep })
  })
  if (id !== null) markFolder(dataDir, id)
  return restored
}

/**
 * Opens a shop on a copy of the backup, migrates the copy to this program's schema, and reads from it.
 *
 * @throws AppError CONFLICT when the copy does not open or a newer program made it
 */
function testCopy(config: Config, file: string): void {
  const dataDir = unfinishedPath(backupFolder(config.dataDir))
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    placeCopy(file, dataDir)
    const app = createApp({ ...config, dataDir }, { database: 'create' }, { log: silent, cards: null })
    try {
      migrateDatabase(app.db)
      listSettings(app.db)
      if (isModuleOn(app.db, 'commerce')) listOffers(app, { page: 1, perPage: 20 }, app.clock.now())
    } finally {
      app.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const message = `The shop does not open on a copy of ${file}: ${describeError(error)}.`
    throw new AppError('CONFLICT', message, { file }, { cause: error })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function placeCopy(file: string, dataDir: string): void {
  const copy = join(dataDir, 'shopstead.db')
  copyFileSync(file, copy)
  const sqlite = new Database(copy)
  try {
    const secret = readManifest(sqlite)?.secret
    if (typeof secret === 'string') writeFileSync(join(dataDir, 'secret.key'), secret, { mode: 0o600 })
    dropManifest(sqlite)
  } finally {
    sqlite.close()
  }
}
