import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { migrateDatabase } from '../../../src/platform/db/migrate.ts'
import { openRateLimiter } from '../../../src/platform/limits.ts'
import { indexNewProduct } from '../../../src/shop/catalog/search/index-product.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'

/** Names the folder with the bystanders' databases to the workers of a test run. */
export const bystandersVariable = 'BYSTANDERS'

/** A kind of database that a service writes, by the name of its file. */
export type Kind = 'shopstead' | 'sandbox' | 'limits'

/** Every ID of a bystander is above this, and every test's ID below. */
export const idShift = 700_000_000_000_000
/** Moves a bystander's times a century ahead, so that nothing about a bystander is ever due, late or expired. */
const centuryMs = Date.UTC(2126, 0, 1) - Date.UTC(2026, 0, 1)
const golden = join(import.meta.dirname, '../../golden')

/** Prepares the bystanders once for the whole run: vitest calls this before the first test, the result after the last. */
export default function prepareOnce(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-bystanders-'))
  prepareBystanders(folder)
  process.env[bystandersVariable] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/**
 * Puts a database with bystanders for each kind into `folder`. The shop's is the golden database: the demo shop, made by
 * the product's own functions, with a row in each table. Its rows then get IDs, keys and times that no test uses, and
 * each table gets a row in each state that its CHECK constraints and NULLs allow.
 */
export function prepareBystanders(folder: string): void {
  const newest = readdirSync(golden).findLast((name) => name.endsWith('.db.gz'))
  writeFileSync(file(folder, 'shopstead'), gunzipSync(readFileSync(join(golden, String(newest)))))
  createSandbox({
    file: file(folder, 'sandbox'),
    publicUrl: () => 'http://stripe.test',
    clock: { now: () => 0 },
    webhookSecret: 'whsec_unused',
    webhookEndpoint: false,
    deliver: () => Promise.reject(new Error('A bystander receives no webhooks.')),
    log: { warn: () => undefined }
  }).close()
  openRateLimiter(file(folder, 'limits')).close()
  migrate(folder)
  for (const kind of ['shopstead', 'sandbox', 'limits'] as const) fill(folder, kind)
}

/** The bystanders' database of a kind. */
export function file(folder: string, kind: Kind): string {
  return join(folder, `${kind}.db`)
}

function migrate(folder: string): void {
  const db = openDatabase(file(folder, 'shopstead'))
  migrateDatabase(db)
  db.sqlite.close()
}

function fill(folder: string, kind: Kind): void {
  const db = openDatabase(file(folder, kind))
  const { sqlite } = db
  sqlite.pragma('foreign_keys = OFF')
  sqlite.pragma('ignore_check_constraints = ON')
  const triggers = sqlite
    .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all()
  sqlite.transaction(() => {
    for (const { name } of triggers) sqlite.exec(`DROP TRIGGER "${name}"`)
    const tables = tablesOf(sqlite)
    for (const table of tables) moveAway(sqlite, table)
    for (const table of tables) addStates(sqlite, table)
    for (const { sql } of triggers) sqlite.exec(sql)
  })()
  if (kind === 'shopstead') indexProducts(db)
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

/** The search index names products by ID. */
function indexProducts(db: Db): void {
  write(db, (tx) => {
    db.sqlite.exec('DELETE FROM products_search')
    for (const id of db.sqlite.prepare<[], number>('SELECT id FROM products').pluck().all()) indexNewProduct(tx, id)
  })
}

type Column = { name: string; type: string; notnull: number; pk: number }
type Row = Record<string, string | number | Buffer | null>

/** The tables that hold data of their own: not SQLite's, not the migrator's, not those of the full-text index. */
export function tablesOf(sqlite: Database.Database): string[] {
  return sqlite
    .prepare<[], string>(
      `SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' ORDER BY name`
    )
    .pluck()
    .all()
}

/** The columns of a table. */
export function columnsOf(sqlite: Database.Database, table: string): Column[] {
  return sqlite.prepare<[string], Column>('SELECT name, type, "notnull", pk FROM pragma_table_info(?)').all(table)
}

/** The values that a CHECK constraint allows for each column that has a list of them. */
export function statesOf(sqlite: Database.Database, table: string): Map<string, (string | number)[]> {
  const sql = String(sqlite.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(table))
  const lists = sql.matchAll(/CHECK ?\((?:[`"]?\w+[`"]?\.)?[`"]?(\w+)[`"]? IN \(([^)]+)\)/gi)
  return new Map(
    [...lists].map(([, column = '', list = '']) => [
      column,
      list.split(',').map((value) => (value.includes("'") ? value.trim().slice(1, -1) : Number(value)))
    ])
  )
}

/** Gives the rows of a table IDs, keys and times that no test uses. References between bystanders stay whole. */
function moveAway(sqlite: Database.Database, table: string): void {
  const states = statesOf(sqlite, table)
  const references = new Set(
    sqlite.prepare<[string], string>('SELECT "from" FROM pragma_foreign_key_list(?)').pluck().all(table)
  )
  const changes = columnsOf(sqlite, table)
    .filter(({ name }) => !states.has(name))
    .map(({ name, type, pk }) => {
      if (type.toUpperCase() === 'TEXT') {
        // JSON stays JSON, so that a condition can look into it.
        return `"${name}" = CASE WHEN "${name}" GLOB '[[{]*' THEN "${name}" ELSE "${name}" || '~' END`
      }
      if (type.toUpperCase() !== 'INTEGER') return ''
      if (pk > 0 || references.has(name) || name.endsWith('_id')) return `"${name}" = "${name}" + ${idShift}`
      return `"${name}" = iif("${name}" BETWEEN 1000000000000 AND 3000000000000, "${name}" + ${centuryMs}, "${name}")`
    })
    .filter((change) => change !== '')
  if (changes.length > 0) sqlite.exec(`UPDATE "${table}" SET ${changes.join(', ')}`)
}

/** Adds a row for each state that the table allows and does not have yet, and a first row to an empty table. */
function addStates(sqlite: Database.Database, table: string): void {
  const columns = columnsOf(sqlite, table)
  const unique = new Set([
    ...columns.filter(({ pk }) => pk > 0).map(({ name }) => name),
    ...sqlite
      .prepare<[string], string>(
        `SELECT info.name FROM pragma_index_list(?) list JOIN pragma_index_info(list.name) info
         WHERE list."unique" AND info.name IS NOT NULL`
      )
      .pluck()
      .all(table)
  ])
  const states = statesOf(sqlite, table)
  const wanted = columns.flatMap((column) => statesOfColumn(column, states.get(column.name) ?? []))
  const empty = Object.fromEntries(columns.map((column) => [column.name, valueFor(column)]))
  const first = sqlite.prepare<[], Row>(`SELECT * FROM "${table}" LIMIT 1`)
  if (first.get() === undefined) insert(sqlite, table, empty)
  wanted.forEach(({ column, value, missing }, index) => {
    if (sqlite.prepare(`SELECT 1 FROM "${table}" WHERE ${missing} LIMIT 1`).get() !== undefined) return
    const row = { ...first.get(), [column.name]: value }
    for (const { name, type } of columns) {
      if (!unique.has(name) || name === column.name || states.has(name)) continue
      const known = row[name] ?? null
      if (type.toUpperCase() === 'INTEGER') row[name] = idShift + 1_000_000 + index
      else if (typeof known === 'string') row[name] = `${known}~${index}`
    }
    insert(sqlite, table, row)
  })
}

type State = { column: Column; value: string | number | null; missing: string }

function statesOfColumn(column: Column, listed: readonly (string | number)[]): State[] {
  const name = `"${column.name}"`
  const fixed = listed.map((value) => ({
    column,
    value,
    missing: `${name} = ${typeof value === 'string' ? `'${value}'` : value}`
  }))
  if (column.notnull === 1 || column.pk > 0) return fixed
  const some = listed.length > 0 ? [] : [{ column, value: valueFor(column), missing: `${name} IS NOT NULL` }]
  return [...fixed, { column, value: null, missing: `${name} IS NULL` }, ...some]
}

function valueFor({ name, type }: Column): string | number {
  // A JSON text, because some indexes read JSON.
  if (type.toUpperCase() === 'TEXT') return JSON.stringify(`${name}~`)
  return /_at$|expire|until/.test(name) ? Date.UTC(2126, 0, 1) : idShift
}

function insert(sqlite: Database.Database, table: string, row: Row): void {
  const names = Object.keys(row)
  sqlite
    .prepare(
      `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map(() => '?').join()})`
    )
    .run(Object.values(row))
}
