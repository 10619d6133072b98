import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate as runMigrations } from 'drizzle-orm/better-sqlite3/migrator'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { assetPath } from '../package-root.ts'
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
export function migrationStatus(db: Db): MigrationStatus {
  const { entries } = journalSchema.parse(
    JSON.parse(readFileSync(join(migrationsFolder(), 'meta', '_journal.json'), 'utf8'))
  )
  const times = new Set(appliedTimes(db))
  const applied = entries.filter((entry) => times.has(entry.when)).map((entry) => entry.tag)
  const pending = entries.filter((entry) => !times.has(entry.when)).map((entry) => entry.tag)
  return { version: applied.at(-1) ?? null, applied, pending, newer: times.size > applied.length }
}

function appliedTimes(db: Db): number[] {
  const exists = db.sqlite.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'`).get()
  if (exists === undefined) return []
  return db.sqlite.prepare(`SELECT created_at FROM __drizzle_migrations`).pluck().all().map(Number)
}

/**
 * Applies what is pending, all of it or nothing; the answer's `applied` names what this call has applied.
 *
 * drizzle's migrator works inside BEGIN, where switching foreign keys off does nothing: a table that a migration
 * rebuilds would take its children's rows along. So they are off before it begins, and checked after.
 *
 * @throws AppError CONFLICT when the database is newer than the program or foreign keys do not hold afterwards.
 */
export function migrateDatabase(db: Db): MigrationStatus {
  const before = migrationStatus(db)
  if (before.newer) throw newerDatabase()
  if (before.pending.length === 0) return { ...before, applied: [] }
  db.sqlite.pragma('foreign_keys = OFF')
  try {
    runMigrations(db.orm, { migrationsFolder: migrationsFolder() })
    const broken = db.sqlite.pragma('foreign_key_check')
    if (Array.isArray(broken) && broken.length > 0) {
      throw new AppError('CONFLICT', `After the migration ${broken.length} rows point at rows that are not there.`)
    }
  } finally {
    db.sqlite.pragma('foreign_keys = ON')
  }
  return { ...migrationStatus(db), applied: before.pending }
}

export function newerDatabase(): AppError {
  return new AppError(
    'CONFLICT',
    'The database was migrated by a newer Shopstead than this one: install that version or restore an older backup.'
  )
}
