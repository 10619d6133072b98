import type Database from 'better-sqlite3'
import { migrationStatus, schemaAfter, schemaOf } from '../../platform/db/migrate.ts'
import type { SchemaObject } from '../../platform/db/migrate.ts'
import { manifestTable } from './manifest.ts'

/**
 * Compares a backup's tables, indexes, views and triggers with those that its migrations make. A backup that another
 * person had could contain a trigger that changes payments after a restore.
 *
 * @returns what is wrong, in words; undefined when they are the same
 */
export function findSchemaProblem(sqlite: Database.Database): string | undefined {
  const { applied, newer } = migrationStatus({ sqlite })
  if (newer) return 'a newer Shopstead made it, and only that version can verify it'
  const actual = byName(schemaOf({ sqlite }))
  const expected = byName(schemaAfter(applied))
  for (const [name, object] of actual) {
    const declared = expected.get(name)
    if (declared === undefined) return `it has the ${name}, which is not part of Shopstead. If it is yours, drop it`
    if (plain(object.sql) !== plain(declared.sql)) return `its ${name} is not the one of Shopstead`
  }
  const missing = [...expected.keys()].find((name) => !actual.has(name))
  return missing === undefined ? undefined : `it lacks the ${missing}`
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
