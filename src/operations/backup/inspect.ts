import { accessSync, constants, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import { migrationStatus, schemaAfter, schemaOf } from '../../platform/db/migrate.ts'
import type { SchemaObject } from '../../platform/db/migrate.ts'
import { describeError } from '../../platform/log.ts'
import { measure, readManifest, manifestTable } from './manifest.ts'
import type { Manifest } from './manifest.ts'

export type BackupInfo = {
  file: string
  bytes: number
  /** Epoch milliseconds; null when the file has no readable manifest. */
  createdAt: number | null
  verified: boolean
}

/** A verified backup, with the indexes and views that an operator has added. */
export type InspectedBackup = BackupInfo & { additions: string[] }

/**
 * Verifies a whole backup: its schema against the migrations, integrity, foreign keys, and every row
 * against the manifest. Reads only.
 *
 * @param options.isMeasured the rows were compared with the manifest just now, so only the file is checked
 * @throws AppError NOT_FOUND for a missing or unreadable file; CONFLICT with the reason for a backup that fails
 */
export function inspectBackup(
  file: string,
  { isMeasured = false }: { isMeasured?: boolean } = {}
): InspectedBackup & { manifest: Manifest } {
  const bytes = sizeOf(file)
  const sqlite = openBackup(file)
  try {
    const manifest = readManifest(sqlite)
    if (manifest === undefined) throw failedVerification(file, 'it is not a verified Shopstead backup')
    const schema = compareSchema(sqlite)
    const problem = schema.problem ?? findDamage(sqlite) ?? (isMeasured ? undefined : findChange(sqlite, manifest))
    if (problem !== undefined) throw failedVerification(file, problem)
    const { additions } = schema
    return { file, bytes, createdAt: manifest.createdAt, verified: true, additions, manifest }
  } catch (error) {
    throw error instanceof AppError ? error : failedVerification(file, describeError(error))
  } finally {
    sqlite.close()
  }
}

/** Checks permissions first: SQLite would not report that the file belongs to another user. */
function sizeOf(file: string): number {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) throw new AppError('NOT_FOUND', `The file ${file} does not exist.`)
    accessSync(file, constants.R_OK)
    return stat.size
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('NOT_FOUND', `This user cannot read ${file}: ${describeError(cause)}.`, {}, { cause })
  }
}

function openBackup(file: string): Database.Database {
  try {
    const sqlite = new Database(file, { readonly: true, fileMustExist: true })
    sqlite.pragma('trusted_schema = OFF')
    return sqlite
  } catch (error) {
    throw failedVerification(file, describeError(error))
  }
}

function findDamage(sqlite: Database.Database): string | undefined {
  const verdict = String(sqlite.pragma('integrity_check(1)', { simple: true }))
  if (verdict !== 'ok') return `its integrity check failed: ${verdict}`
  const orphans = sqlite.prepare<[], number>('SELECT count(*) FROM pragma_foreign_key_check').pluck().get() ?? 0
  return orphans > 0 ? `${orphans} of its rows refer to rows that do not exist` : undefined
}

function findChange(sqlite: Database.Database, manifest: Manifest): string | undefined {
  const { counts, digest } = measure(sqlite)
  const changed = Object.keys({ ...counts, ...manifest.counts }).find((name) => counts[name] !== manifest.counts[name])
  if (changed !== undefined) {
    return `the table ${changed} has ${counts[changed] ?? 0} rows instead of ${manifest.counts[changed] ?? 0}`
  }
  return digest === manifest.digest ? undefined : 'its content has changed since it was made'
}

/**
 * A quick look at a backup for lists: `verified` is true when the file has a valid manifest and its full size. It does
 * not read the rows; `inspectBackup` does.
 */
export function summarizeBackup(file: string): BackupInfo {
  const { size: bytes } = statSync(file)
  try {
    const sqlite = new Database(file, { readonly: true, fileMustExist: true })
    try {
      const manifest = readManifest(sqlite)
      const pages = Number(sqlite.pragma('page_count', { simple: true }))
      const whole = bytes === pages * Number(sqlite.pragma('page_size', { simple: true }))
      return { file, bytes, createdAt: manifest?.createdAt ?? null, verified: manifest !== undefined && whole }
    } finally {
      sqlite.close()
    }
  } catch {
    // The file does not open: list it as unverified.
    return { file, bytes, createdAt: null, verified: false }
  }
}

/** CONFLICT for a backup that failed verification. */
export function failedVerification(file: string, reason: string): AppError {
  return new AppError('CONFLICT', `The backup ${file} failed verification: ${reason}.`, { file, reason })
}

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
