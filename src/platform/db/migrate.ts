import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { assetPath } from '../package-root.ts'
import { openDatabase, write } from './database.ts'
import type { Db } from './database.ts'

const journalSchema = z.object({ entries: z.array(z.object({ tag: z.string(), when: z.number() })) })

export type MigrationStatus = {
  /** Tag of the newest applied migration; null for an empty database. */
  version: string | null
  applied: string[]
  pending: string[]
  /** Which other program migrated the database, when it has migrations that this one does not know. */
  other: keyof typeof otherPrograms | null
}

/** What is wrong with a database that another program migrated, and what the operator does about it. */
export const otherPrograms = {
  newer: {
    problem: 'A newer Shopstead has migrated this database',
    advice: 'Install that version, or restore a backup from before the upgrade.'
  },
  older: {
    problem: 'A Shopstead from before version 1.0.0 made this database, and this version cannot migrate it',
    advice: 'Move the data folder away, and run "shopstead init" to begin a new one.'
  }
} as const

const migrationsFolder = (): string => assetPath('platform', 'db', 'migrations')

/** Which migrations are applied and which are pending. Reads only. */
export function migrationStatus(db: Pick<Db, 'sqlite'>, folder: string = migrationsFolder()): MigrationStatus {
  const entries = journal(folder)
  const times = new Set(appliedTimes(db))
  const known = new Set(entries.map((entry) => entry.when))
  const unknown = [...times].filter((time) => !known.has(time))
  const applied = entries.filter((entry) => times.has(entry.when)).map((entry) => entry.tag)
  const pending = entries.filter((entry) => !times.has(entry.when)).map((entry) => entry.tag)
  return { version: applied.at(-1) ?? null, applied, pending, other: otherProgram(unknown, entries[0]?.when ?? 0) }
}

function otherProgram(unknown: readonly number[], baseline: number): MigrationStatus['other'] {
  if (unknown.length === 0) return null
  return unknown.some((time) => time > baseline) ? 'newer' : 'older'
}

/** The same of a database file. It creates nothing: if there is no file, all migrations are pending. */
export function fileMigrationStatus(file: string): MigrationStatus {
  if (!existsSync(file)) return { version: null, applied: [], pending: journal().map(({ tag }) => tag), other: null }
  const db = openDatabase(file, { mustExist: true })
  try {
    return migrationStatus(db)
  } finally {
    db.sqlite.close()
  }
}

/** This program's migrations in their order; `when` is the epoch milliseconds that identifies each in the database. */
export function journal(folder: string = migrationsFolder()): { tag: string; when: number }[] {
  return journalSchema.parse(JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'))).entries
}

function appliedTimes(db: Pick<Db, 'sqlite'>): number[] {
  const exists = db.sqlite
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__drizzle_migrations'`)
    .get()
  if (exists === undefined) return []
  return db.sqlite.prepare(`SELECT created_at FROM __drizzle_migrations`).pluck().all().map(Number)
}

/**
 * Applies the pending migrations in one transaction, checks the whole database in it, and rolls back if anything is
 * wrong. `applied` in the result lists only what this call has applied.
 *
 * It does not use drizzle's migrator, which commits before any check and skips a migration that is older than the newest
 * applied one. Foreign keys are off during the migration, so that rebuilding a table does not delete its child rows;
 * SQLite allows that switch only outside a transaction.
 *
 * @throws AppError CONFLICT when another program migrated the database, or a migration fails
 */
export function migrateDatabase(db: Db, folder: string = migrationsFolder()): MigrationStatus {
  db.sqlite.pragma('foreign_keys = OFF')
  try {
    return write(db, () => {
      // Read again under the lock: another process may have migrated the database.
      const before = migrationStatus(db, folder)
      assertOwnMigrations(before)
      if (before.pending.length === 0) return { ...before, applied: [] }
      for (const migration of journal(folder)) {
        if (before.pending.includes(migration.tag)) apply(db, folder, migration)
      }
      assertIntact(db)
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
    throw new AppError('CONFLICT', `Migration ${tag} failed and changed nothing: ${reason}.`, { tag }, { cause })
  }
  // The table that drizzle's tools read.
  db.sqlite.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)'
  )
  db.sqlite
    .prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
    .run(hash('sha256', source, 'hex'), when)
}

/** A row of sqlite_schema; `owner` is the table of an index or trigger. */
export type SchemaObject = { type: string; name: string; owner: string; sql: string | null }

/** Everything in the schema of a database. */
export function schemaOf({ sqlite }: Pick<Db, 'sqlite'>): SchemaObject[] {
  return sqlite.prepare<[], SchemaObject>('SELECT type, name, tbl_name AS owner, sql FROM sqlite_schema').all()
}

/** The schema that these migrations make in an empty database. */
export function schemaAfter(tags: readonly string[]): SchemaObject[] {
  const db = openDatabase(':memory:')
  try {
    db.sqlite.pragma('foreign_keys = OFF')
    const folder = migrationsFolder()
    for (const migration of journal(folder)) if (tags.includes(migration.tag)) apply(db, folder, migration)
    return schemaOf(db)
  } finally {
    db.sqlite.close()
  }
}

function assertIntact(db: Db): void {
  const orphans = db.sqlite.pragma('foreign_key_check') as { table: string }[]
  if (orphans.length > 0) {
    throw new AppError(
      'CONFLICT',
      `The migration was rolled back: ${orphans.length} rows of ${orphans[0]?.table} would refer to rows that do not exist.`
    )
  }
  // A migration may have switched CHECK constraints off; integrity_check would skip them.
  db.sqlite.pragma('ignore_check_constraints = OFF')
  const verdict = String(db.sqlite.pragma('integrity_check(1)', { simple: true }))
  if (verdict !== 'ok') throw new AppError('CONFLICT', `The migration was rolled back: ${verdict}.`)
}

/** Whether the database has rows that a migration could lose. */
export function hasRows(db: Db): boolean {
  const tables = db.sqlite
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT LIKE 'products\\_search%' ESCAPE '\\' AND name NOT IN ('__drizzle_migrations', 'revisions', 'identity')`
    )
    .pluck()
    .all()
  return tables.some((name) => db.sqlite.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() !== undefined)
}

/** @throws AppError CONFLICT for a database that a newer program, or one from before version 1.0.0, has migrated */
export function assertOwnMigrations({ other }: Pick<MigrationStatus, 'other'>): void {
  if (other === null) return
  const { problem, advice } = otherPrograms[other]
  throw new AppError('CONFLICT', `${problem}: ${advice.charAt(0).toLowerCase()}${advice.slice(1)}`)
}
