import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { journal } from '../../src/platform/db/migrate.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ours = 'src/platform/db/migrations'
export const goldenFolder = 'test/golden'
export const newest = journal().at(-1)?.tag ?? ''

/** The golden database of a version, in its own folder. */
export function golden(tag: string): { db: Db; dataDir: string } {
  const dataDir = temporaryFolder()
  writeFileSync(join(dataDir, 'shopstead.db'), gunzipSync(readFileSync(join(goldenFolder, `${tag}.db.gz`))))
  const db = openDatabase(join(dataDir, 'shopstead.db'))
  onTestFinished(() => void db.sqlite.close())
  return { db, dataDir }
}

/** The tag of the migration that a test adds. */
export const another = '9999_another'

/** A folder with our migrations and one more after them. */
export function withAnother(sql: string): string {
  const folder = join(temporaryFolder(), 'migrations')
  cpSync(ours, folder, { recursive: true })
  addAnother(folder, sql)
  return folder
}

/** A copy of the program with one more migration. */
export function programWithAnother(sql: string): string {
  const copy = temporaryFolder()
  for (const name of ['bin', 'src', 'package.json']) cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  addAnother(join(copy, ours), sql)
  return copy
}

function addAnother(folder: string, sql: string): void {
  const file = join(folder, 'meta', '_journal.json')
  const meta = JSON.parse(readFileSync(file, 'utf8')) as { entries: object[] }
  meta.entries.push({ idx: 99, version: '6', when: Date.UTC(2100, 0, 1), tag: another, breakpoints: true })
  writeFileSync(file, JSON.stringify(meta))
  writeFileSync(join(folder, `${another}.sql`), sql)
}

export type Rows = Record<string, unknown>[]
/** Every row of every table, in key order. The search index has no rows to compare: it stores no texts. */
export function contentOf(sqlite: Database.Database): Map<string, Rows> {
  const names = sqlite
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT LIKE 'products\\_search%' ESCAPE '\\' AND name <> '__drizzle_migrations'`
    )
    .pluck()
    .all()
  const order = (name: string): string => (name === 'search_words' ? '1' : '1, 2')
  return new Map(
    names.map((name) => [name, sqlite.prepare(`SELECT * FROM "${name}" ORDER BY ${order(name)}`).all() as Rows])
  )
}

/** A database of the shops that ran before the baseline: their migrations are older than any of this program. */
export function shopBeforeBaseline(): { db: Db; dataDir: string } {
  const { db, dataDir } = golden(newest)
  db.sqlite.exec('UPDATE __drizzle_migrations SET created_at = 1795176994781')
  return { db, dataDir }
}
