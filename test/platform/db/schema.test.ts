import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type Database from 'better-sqlite3'
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { migrateDatabase } from '../../../src/platform/db/migrate.ts'
import { triggerSql } from '../../../src/platform/db/trigger.ts'
import type { Trigger } from '../../../src/platform/db/trigger.ts'

type Sqlite = Database.Database
type Schema = { triggers?: readonly Trigger[]; virtualTables?: readonly string[] } & Record<string, unknown>

/** A database as the schema files declare it. */
async function declaredDatabase(): Promise<Sqlite> {
  const files = globSync('src/shop/**/schema.ts').map((file) => pathToFileURL(resolve(file)).href)
  const schemas = await Promise.all(files.map((file) => import(file) as Promise<Schema>))
  const sqlite = emptyDatabase().sqlite
  const nothing = await generateSQLiteDrizzleJson({})
  const everything = await generateSQLiteDrizzleJson(Object.assign({}, ...schemas) as Record<string, unknown>)
  for (const statement of await generateSQLiteMigration(nothing, everything)) {
    sqlite.exec(statement.replace(/^(CREATE TABLE [^;]*\n\));/, '$1 STRICT;'))
  }
  for (const sql of schemas.flatMap(({ virtualTables = [] }) => virtualTables)) sqlite.exec(sql)
  for (const trigger of schemas.flatMap(({ triggers = [] }) => triggers)) sqlite.exec(triggerSql(trigger))
  return sqlite
}

function emptyDatabase() {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.sqlite.close())
  return db
}

type Row = Record<string, unknown>

/** A table's columns in alphabetical order (a migration adds them at the end), and all that is declared of it. */
function describeTable(sqlite: Sqlite, table: string, sql: string) {
  const rows = (pragma: string): Row[] => sqlite.pragma(`${pragma}('${table}')`) as Row[]
  const sorted = (of: Row[]): string[] => of.map((row) => JSON.stringify(row)).toSorted()
  return {
    columns: sorted(rows('table_xinfo').map((column) => ({ ...column, cid: null }))),
    foreignKeys: sorted(rows('foreign_key_list').map((key) => ({ ...key, id: null }))),
    indexes: sorted(rows('index_list').map((index) => ({ ...index, seq: null }))),
    strict: sqlite.prepare('SELECT strict FROM pragma_table_list WHERE name = ?').pluck().get(table),
    autoincrement: sql.includes('AUTOINCREMENT'),
    checks: checksOf(sql, table)
  }
}

/** Each CHECK with its name; columns may be written with their table's name. */
function checksOf(sql: string, table: string): string[] {
  const starts = [...sql.matchAll(/CONSTRAINT "\w+" CHECK\(/g)].map(({ index }) => index)
  return starts.map((start) => plain(sql.slice(start, endOf(sql, start))).replaceAll(`${table}.`, '')).toSorted()
}

/** Where the parenthesis closes that opens first after `start`. */
function endOf(sql: string, start: number): number {
  let depth = 0
  for (let index = sql.indexOf('(', start); index < sql.length; index += 1) {
    depth += { '(': 1, ')': -1 }[sql.charAt(index)] ?? 0
    if (depth === 0) return index + 1
  }
  throw new Error('A parenthesis is not closed.')
}

function plain(sql: string): string {
  return sql.replaceAll(/[`"]/g, '').replaceAll(/\s+/g, ' ')
}

/** Everything in a database by name, without what SQLite, drizzle and the full-text search keep for themselves. */
function describeDatabase(sqlite: Sqlite): Record<string, unknown> {
  const rows = sqlite
    .prepare<[], { type: string; name: string; sql: string | null }>(
      `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name NOT LIKE 'products\\_search\\_%' ESCAPE '\\' AND name <> '__drizzle_migrations' ORDER BY type, name`
    )
    .all()
  return Object.fromEntries(
    rows.map(({ type, name, sql }) => {
      const isTable = type === 'table' && !sql?.startsWith('CREATE VIRTUAL')
      return [`${type} ${name}`, isTable ? describeTable(sqlite, name, sql ?? '') : plain(sql ?? '')]
    })
  )
}

describe('the migrated schema', () => {
  it('is the one that the schema files declare, with every check, index and trigger', async () => {
    const migrated = emptyDatabase()
    migrateDatabase(migrated)
    const found = describeDatabase(migrated.sqlite)
    expect(found['table orders']).toMatchObject({
      strict: 1,
      checks: expect.arrayContaining([
        `CONSTRAINT orders_strategy CHECK(strategy IN ('redirect_to_store', 'token_handoff'))`
      ])
    })
    expect(found).toEqual(describeDatabase(await declaredDatabase()))
  })

  it.each([
    'DROP TRIGGER orders_kept',
    'DROP INDEX orders_held',
    'DROP TABLE products_search',
    'ALTER TABLE orders ADD COLUMN colour TEXT'
  ])('would differ after %s', (change) => {
    const { sqlite, ...db } = emptyDatabase()
    migrateDatabase({ sqlite, ...db })
    const before = describeDatabase(sqlite)
    sqlite.exec(change)
    expect(describeDatabase(sqlite)).not.toEqual(before)
  })
})
