import type Database from 'better-sqlite3'
import { migrationStatus, schemaAfter, schemaOf } from '../../platform/db/migrate.ts'
import type { SchemaObject } from '../../platform/db/migrate.ts'
import { manifestTable } from './manifest.ts'

/** What is wrong with a schema, in words, if anything; and what an operator has added to it. */
type SchemaComparison = { problem: string | undefined; additions: string[] }

/**
 * Compares a backup's tables, indexes, views and triggers with those that its migrations make. A backup that another
 * person had could contain a trigger that changes payments after a restore.
 *
 * Views and plain indexes of an operator are additions: they change and refuse no row. Triggers, tables (by their foreign
 * keys), and unique, partial and expression indexes can do so.
 */
export function compareSchema(sqlite: Database.Database): SchemaComparison {
  const { applied, other } = migrationStatus({ sqlite })
  if (other !== null) return wrong(madeBy[other])
  const actual = byName(schemaOf({ sqlite }))
  const expected = byName(schemaAfter(applied))
  const additions: string[] = []
  for (const [name, object] of actual) {
    const declared = expected.get(name)
    if (declared === undefined && isHarmless(sqlite, object)) additions.push(name)
    else if (declared === undefined)
      return wrong(`it has the ${name}, which is not part of Shopstead. If it is yours, drop it`)
    else if (plain(object.sql) !== plain(declared.sql)) return wrong(`its ${name} is not the one of Shopstead`)
  }
  const missing = [...expected.keys()].find((name) => !actual.has(name))
  return missing === undefined ? { problem: undefined, additions } : wrong(`it lacks the ${missing}`)
}

const madeBy = {
  newer: 'a newer Shopstead made it, and only that version can verify it',
  older:
    'a Shopstead from before version 1.0.0 made it, and this version cannot migrate it: begin with a new data folder'
}

function wrong(problem: string): SchemaComparison {
  return { problem, additions: [] }
}

const collations: ReadonlySet<string | null> = new Set(['BINARY', 'NOCASE', 'RTRIM', null])

/** A view is only read by those who name it. A plain index has columns only, and no condition that could fail. */
function isHarmless(sqlite: Database.Database, { type, name, owner }: SchemaObject): boolean {
  if (type !== 'index') return type === 'view'
  const kind = sqlite
    .prepare<[string, string], { isPlain: number }>(
      `SELECT "unique" = 0 AND partial = 0 AS isPlain FROM pragma_index_list(?) WHERE name = ?`
    )
    .get(owner, name)
  const columns = sqlite
    .prepare<[string], { cid: number; coll: string | null }>('SELECT cid, coll FROM pragma_index_xinfo(?)')
    .all(name)
  // -1 is the row's id, -2 an expression.
  return kind?.isPlain === 1 && columns.every(({ cid, coll }) => cid > -2 && collations.has(coll))
}

/** The objects by type and name, without the manifest and what SQLite makes itself. */
function byName(objects: readonly SchemaObject[]): Map<string, SchemaObject> {
  return new Map(objects.filter(isDeclared).map((object) => [nameOf(object), object]))
}

function nameOf({ type, name, owner }: SchemaObject): string {
  return type === 'table' || type === 'view' ? `${type} ${name}` : `${type} ${name} on ${owner}`
}

function isDeclared({ type, name, sql }: SchemaObject): boolean {
  if (type === 'index') return sql !== null
  return type !== 'table' || (name !== manifestTable && !/^sqlite_(sequence|stat[14])$/.test(name))
}

/** Versions of SQLite write the quotes of a renamed table differently. */
function plain(sql: string | null): string {
  return (sql ?? '').replaceAll(/["`]/g, '').replaceAll(/\s+/g, ' ')
}
