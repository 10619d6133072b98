/**
 * Generates a migration from the schema files with drizzle-kit and adds what drizzle-kit does not support or loses when it
 * rebuilds a table: STRICT, triggers, and the last id of AUTOINCREMENT. It copies the columns of the old table only.
 * Usage: npm run db:generate -- --name what-changes [--custom]
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openDatabase } from '../src/platform/db/database.ts'
import { migrateDatabase } from '../src/platform/db/migrate.ts'
import { triggerSql } from '../src/platform/db/trigger.ts'
import type { Trigger } from '../src/platform/db/trigger.ts'

const folder = 'src/platform/db/migrations'
const schemas = 'src/shop/**/schema.ts'
const breakpoint = '\n--> statement-breakpoint\n'

const declared = await declaredTriggers()
const before = migratedTriggers()
const oldColumns = migratedColumns()
const known = new Set(globSync(`${folder}/*.sql`))
const drizzleKit = ['drizzle-kit', 'generate', '--dialect', 'sqlite', '--schema', schemas, '--out', folder]
execFileSync('npx', [...drizzleKit, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const file of globSync(`${folder}/*.sql`).filter((name) => !known.has(name))) {
  writeFileSync(file, withTriggers(withSequences(withOldColumns(withStrict(readFileSync(file, 'utf8'))))))
}
const different = differences(migratedTriggers())
if (different.length > 0) {
  throw new Error(`Triggers differ from those in ${schemas}: ${different.join(', ')}. Pass --custom to write them.`)
}

/** The triggers that the schema files declare, by name, as SQL. */
async function declaredTriggers(): Promise<Map<string, string>> {
  const modules = await Promise.all(
    globSync(schemas).map((file) => import(pathToFileURL(resolve(file)).href) as Promise<{ triggers?: Trigger[] }>)
  )
  const triggers = modules.flatMap((module) => module.triggers ?? [])
  return new Map(triggers.map((trigger) => [trigger.name, triggerSql(trigger)]))
}

/** The triggers of a database with all migrations in the folder. */
function migratedTriggers(): Map<string, string> {
  const rows = readMigrated<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid`
  )
  return new Map(rows.map(({ name, sql }) => [name, sql]))
}

/** The columns of a database with all migrations in the folder, as `table.column`. */
function migratedColumns(): Set<string> {
  const rows = readMigrated<{ name: string }>(
    `SELECT t.name || '.' || c.name AS name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`
  )
  return new Set(rows.map(({ name }) => name))
}

function readMigrated<Row>(query: string): Row[] {
  const db = openDatabase(':memory:')
  try {
    migrateDatabase(db, resolve(folder))
    return db.sqlite.prepare<[], Row>(query).all()
  } finally {
    db.sqlite.close()
  }
}

/** The triggers that a migrated database has too few, too many, or in other words. */
function differences(migrated: ReadonlyMap<string, string>): string[] {
  const names = new Set([...declared.keys(), ...migrated.keys()])
  return [...names].filter((name) => plain(declared.get(name)) !== plain(migrated.get(name)))
}

function plain(sql: string | undefined): string | undefined {
  return sql?.replaceAll(/[`";]/g, '').replaceAll(/\s+/g, ' ').trim()
}

function withStrict(source: string): string {
  return source.replaceAll(/^(CREATE TABLE [^;]*\n\));/gm, '$1 STRICT;')
}

/**
 * drizzle-kit copies a table that is built again with its new columns, which the old table does not have: SQLite reads
 * their quoted names as texts. A new column has its default instead.
 */
function withOldColumns(source: string): string {
  const copied = /^INSERT INTO `__new_(\w+)`\(([^)]*)\) SELECT ([^;]*?) FROM `\w+`;/gm
  return source.replaceAll(copied, (copy, table: string, columns: string, values: string) => {
    if (columns !== values) return copy
    const old = columns.split(', ').filter((name) => oldColumns.has(`${table}.${name.replaceAll('"', '')}`))
    return copy.replaceAll(columns, old.join(', '))
  })
}

/** A table that is built again goes on with the ids of the old one: an id that was deleted is not given out again. */
function withSequences(source: string): string {
  return source.replaceAll(/^DROP TABLE `(\w+)`;/gm, (drop, table: string) => {
    const created = `CREATE TABLE \`__new_${table}\``
    if (!source.includes(created) || !/^[^;]*AUTOINCREMENT/.test(source.slice(source.indexOf(created)))) return drop
    const forget = `DELETE FROM sqlite_sequence WHERE name = '__new_${table}';`
    const copy = `INSERT INTO sqlite_sequence (name, seq) SELECT '__new_${table}', seq FROM sqlite_sequence WHERE name = '${table}';`
    return [forget, copy, drop].join(breakpoint)
  })
}

/**
 * SQLite drops the triggers of a table with it, and does not rename a table while a trigger names one that is not there.
 * So each trigger that names a table which is built again goes first and comes back last, as does one that has changed.
 */
function withTriggers(source: string): string {
  const rebuilt = [...source.matchAll(/^CREATE TABLE `__new_(\w+)`/gm)].map(([, table = '']) => table)
  const isTouched = (sql: string): boolean => rebuilt.some((table) => new RegExp(`\\b${table}\\b`).test(sql))
  const changed = new Set(differences(before))
  const dropped = [...before].filter(([name, sql]) => changed.has(name) || isTouched(sql)).map(([name]) => name)
  const created = [...declared].filter(([name]) => !before.has(name) || dropped.includes(name))
  const parts = [
    ...dropped.map((name) => `DROP TRIGGER \`${name}\`;`),
    source.trim(),
    ...created.map(([, sql]) => `${sql};`)
  ]
  return `${parts.join(breakpoint)}\n`
}
