import { hash, createHash } from 'node:crypto'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { z } from 'zod'
import { listFolder } from '../../platform/files.ts'

/** A backup's description of itself, in an extra table that a restore drops. */
export type Manifest = {
  /** When the copy began, in epoch milliseconds. The backup contains everything that was committed before. */
  createdAt: number
  /** The version of Shopstead that made it. */
  program: string
  /** The content of data/secret.key; null when the secret comes from the environment. */
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

/** The table of the manifest. */
export const manifestTable = 'shopstead_backup'

/** Counts and digests the rows of `sqlite` and stores the manifest in it. */
export function writeManifest(sqlite: Database.Database, facts: Omit<Manifest, 'counts' | 'digest'>): Manifest {
  sqlite.exec(`CREATE TABLE ${manifestTable} (content TEXT NOT NULL) STRICT`)
  const manifest = { ...facts, ...measure(sqlite) }
  sqlite.prepare(`INSERT INTO ${manifestTable} (content) VALUES (?)`).run(seal(manifest))
  return manifest
}

/** The manifest; undefined when the database is not a backup, or its manifest was changed. */
export function readManifest(sqlite: Database.Database): Manifest | undefined {
  if (sqlite.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(manifestTable) === undefined) return undefined
  const content = sqlite.prepare<[], string>(`SELECT content FROM ${manifestTable}`).pluck().get() ?? ''
  const text = content.slice(64)
  if (hash('sha256', text, 'hex') !== content.slice(0, 64)) return undefined
  return manifestSchema.safeParse(JSON.parse(text)).data
}

function seal(manifest: Manifest): string {
  const text = JSON.stringify(manifest)
  return hash('sha256', text, 'hex') + text
}

/** Turns a backup into a plain database. */
export function dropManifest(sqlite: Database.Database): void {
  sqlite.exec(`DROP TABLE IF EXISTS ${manifestTable}`)
}

/**
 * The number of rows in each table and a digest over all of them. It detects a changed byte inside a text, which SQLite's
 * integrity check does not.
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
    .iterate()
  for (const row of rows) {
    count += 1
    batch += `${JSON.stringify(row)}\n`
    if (batch.length > 65_536) {
      update(batch)
      batch = ''
    }
  }
  update(batch)
  return count
}

/** Leaves out virtual tables: they store their content in ordinary tables. */
function tablesOf(sqlite: Database.Database): { name: string; sql: string }[] {
  return sqlite
    .prepare<[string], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND sql NOT LIKE 'CREATE VIRTUAL%' AND name <> ? ORDER BY name`
    )
    .all(manifestTable)
}

/** Why a backup was made. Only scheduled backups are deleted automatically. */
export type BackupKind = 'manual' | 'scheduled' | 'before-migration'

/** A file name that sorts by time, without the colons that some file systems reject: `2026-01-15T12-00-00.000Z.db`. */
export function backupName(kind: BackupKind, now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '-')
  return kind === 'manual' ? `${time}.db` : `${time}-${kind}.db`
}

/** When the backup of this name was made, in epoch milliseconds; NaN for a file with a name of its own. */
export function timeOf(name: string): number {
  const [, day, hours, rest] = /(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d-\d\d\.\d{3}Z)[^/]*$/.exec(name) ?? []
  return Date.parse(`${day}${hours}:${rest?.replace('-', ':')}`)
}

/** The kind that `backupName` wrote into a file name. */
export function kindOf(name: string): BackupKind {
  return name.endsWith('-scheduled.db')
    ? 'scheduled'
    : name.endsWith('-before-migration.db')
      ? 'before-migration'
      : 'manual'
}

/** The paths of the finished backups in a folder, newest first. */
export function backupFiles(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.db') && !name.startsWith('.'))
    .toSorted()
    .reverse()
    .map((name) => join(folder, name))
}

/**
 * The folders of a data folder that backups do not contain, because their files rarely change: `downloads`, the files that
 * buyers download, `law`, the operator's law texts, `mail-templates`, those of emails, `texts`, those of
 * pages, and `media`, the pictures of products. Empty and missing folders are left out.
 */
export function notIncluded(dataDir: string): string[] {
  return ['downloads', 'law', 'mail-templates', 'media', 'texts'].filter(
    (name) => listFolder(join(dataDir, name)).length > 0
  )
}
