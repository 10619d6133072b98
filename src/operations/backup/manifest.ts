import { hash, createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import { z } from 'zod'

/** What a backup says of itself, in a table of its own that a restored database no longer has. */
export type Manifest = {
  /** Epoch milliseconds at which the copy was begun: whatever had been committed by then is in it. */
  createdAt: number
  /** The Shopstead that made it. */
  program: string
  /** data/secret.key as it was; null when the secret comes from the environment. */
  secret: string | null
  /** Rows in each table. */
  counts: Record<string, number>
  /** SHA-256 over every row of every table. */
  digest: string
}

const manifestSchema = z.object({
  createdAt: z.int(),
  program: z.string(),
  secret: z.string().nullable(),
  counts: z.record(z.string(), z.int()),
  digest: z.string()
})

const table = 'shopstead_backup'

/** Counts and digests what `sqlite` holds, and writes that down in it. */
export function writeManifest(sqlite: Database.Database, facts: Omit<Manifest, 'counts' | 'digest'>): Manifest {
  sqlite.exec(`CREATE TABLE ${table} (content TEXT NOT NULL) STRICT`)
  const manifest = { ...facts, ...measure(sqlite) }
  sqlite.prepare(`INSERT INTO ${table} (content) VALUES (?)`).run(seal(manifest))
  return manifest
}

/** Undefined when the file is a database but no backup, or when its manifest is not as it was written. */
export function readManifest(sqlite: Database.Database): Manifest | undefined {
  if (sqlite.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) === undefined) return undefined
  const content = sqlite.prepare<[], string>(`SELECT content FROM ${table}`).pluck().get() ?? ''
  const text = content.slice(64)
  if (hash('sha256', text, 'hex') !== content.slice(0, 64)) return undefined
  return manifestSchema.safeParse(JSON.parse(text)).data
}

function seal(manifest: Manifest): string {
  const text = JSON.stringify(manifest)
  return hash('sha256', text, 'hex') + text
}

/** Makes a plain database of a backup again. */
export function dropManifest(sqlite: Database.Database): void {
  sqlite.exec(`DROP TABLE IF EXISTS ${table}`)
}

/**
 * Rows per table and a digest of them all. SQLite's integrity check sees a damaged tree, but not a changed byte inside a
 * text; this does.
 */
export function measure(sqlite: Database.Database): Pick<Manifest, 'counts' | 'digest'> {
  const counts: Record<string, number> = {}
  const digest = createHash('sha256')
  for (const { name, sql } of tablesOf(sqlite)) {
    digest.update(`${name}\n${sql}\n`)
    counts[name] = digestRows(sqlite, name, (text) => digest.update(text))
  }
  return { counts, digest: digest.digest('hex') }
}

function digestRows(sqlite: Database.Database, name: string, update: (text: string) => void): number {
  let count = 0
  let batch = ''
  const rows = sqlite
    .prepare(`SELECT * FROM "${name.replaceAll('"', '""')}"`)
    .raw()
    .safeIntegers()
    .iterate()
  for (const row of rows) {
    count += 1
    batch += `${JSON.stringify(row, exactly)}\n`
    if (batch.length > 65_536) {
      update(batch)
      batch = ''
    }
  }
  update(batch)
  return count
}

function exactly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

/** Virtual tables are left out: what they hold lies in tables of their own. */
function tablesOf(sqlite: Database.Database): { name: string; sql: string }[] {
  return sqlite
    .prepare<[string], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND sql NOT LIKE 'CREATE VIRTUAL%' AND name <> ? ORDER BY name`
    )
    .all(table)
}
