import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { assetPath } from '../package-root.ts'
import { write } from './database.ts'
import type { Db } from './database.ts'

const journalSchema = z.object({ entries: z.array(z.object({ tag: z.string(), when: z.number() })) })

export type MigrationStatus = {
  /** Tag of the newest migration that has been applied; null for an empty database. */
  version: string | null
  applied: string[]
  pending: string[]
  /** True when the database has been migrated by a newer program than this one. */
  newer: boolean
}

const migrationsFolder = (): string => assetPath('platform', 'db', 'migrations')

/** Which migrations the database has and lacks; reads only. */
export function migrationStatus(db: Db, folder: string = migrationsFolder()): MigrationStatus {
  const entries = journal(folder)
  const times = new Set(appliedTimes(db))
  const applied = entries.filter((entry) => times.has(entry.when)).map((entry) => entry.tag)
  const pending = entries.filter((entry) => !times.has(entry.when)).map((entry) => entry.tag)
  return { version: applied.at(-1) ?? null, applied, pending, newer: times.size > applied.length }
}

/** Every migration that this program knows, in their order. */
export function journal(folder: string = migrationsFolder()): { tag: string; when: number }[] {
  return journalSchema.parse(JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'))).entries
}

function appliedTimes(db: Db): number[] {
  const exists = db.sqlite.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'`).get()
  if (exists === undefined) return []
  return db.sqlite.prepare(`SELECT created_at FROM __drizzle_migrations`).pluck().all().map(Number)
}

/**
 * Applies what is pending in one transaction, checks the whole database in it, and takes everything back when anything is
 * wrong; the answer's `applied` names what this call has applied.
 *
 * Not drizzle's own migrator: that commits before anything is checked, and skips a migration that is older than the
 * newest one applied. Foreign keys are off meanwhile, which only works outside a transaction: else a table that a
 * migration rebuilds would take its children's rows along.
 *
 * @throws AppError CONFLICT when the database is newer than the program or a migration does not go through.
 */
export function migrateDatabase(db: Db, folder: string = migrationsFolder()): MigrationStatus {
  db.sqlite.pragma('foreign_keys = OFF')
  try {
    return write(db, () => {
      // Read under the lock: another process may be migrating too.
      const before = migrationStatus(db, folder)
      if (before.newer) throw newerDatabase()
      if (before.pending.length === 0) return { ...before, applied: [] }
      for (const migration of journal(folder)) {
        if (before.pending.includes(migration.tag)) apply(db, folder, migration)
      }
      assertSound(db)
      return { ...migrationStatus(db, folder), applied: before.pending }
    })
  } finally {
    db.sqlite.pragma('foreign_keys = ON')
  }
}

function apply(db: Db, folder: string, { tag, when }: { tag: string; when: number }): void {
  const source = readFileSync(join(folder, `${tag}.sql`), 'utf8')
  try {
    for (const part of source.split('--> statement-breakpoint')) db.sqlite.exec(part)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('CONFLICT', `Migration ${tag} failed, nothing was changed: ${reason}.`, { tag }, { cause })
  }
  // The table as drizzle's tools know it.
  db.sqlite.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)'
  )
  db.sqlite
    .prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
    .run(hash('sha256', source, 'hex'), when)
}

function assertSound(db: Db): void {
  const orphans = db.sqlite.pragma('foreign_key_check') as { table: string }[]
  if (orphans.length > 0) {
    throw new AppError(
      'CONFLICT',
      `The migration was taken back: ${orphans.length} rows of ${orphans[0]?.table} would point at rows that are not there.`
    )
  }
  // A migration may have switched them off; the check leaves them out then.
  db.sqlite.pragma('ignore_check_constraints = OFF')
  const verdict = String(db.sqlite.pragma('integrity_check(1)', { simple: true }))
  if (verdict !== 'ok') throw new AppError('CONFLICT', `The migration was taken back: ${verdict}.`)
}

/** Whether a database holds anything that a migration could lose. */
export function holdsRows(db: Db): boolean {
  const tables = db.sqlite
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT LIKE 'products\\_search%' ESCAPE '\\' AND name NOT IN ('__drizzle_migrations', 'revisions')`
    )
    .pluck()
    .all()
  return tables.some((name) => db.sqlite.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() !== undefined)
}

export function newerDatabase(): AppError {
  return new AppError(
    'CONFLICT',
    'The database was migrated by a newer Shopstead than this one: install that version or restore an older backup.'
  )
}
