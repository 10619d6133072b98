import { accessSync, constants, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import { describeError } from '../../platform/log.ts'
import { compareSchema } from './compare-schema.ts'
import { measure, readManifest } from './manifest.ts'
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
 * @throws AppError NOT_FOUND for a missing or unreadable file; CONFLICT with the reason for a backup that fails
 */
export function inspectBackup(file: string): InspectedBackup & { manifest: Manifest } {
  const bytes = sizeOf(file)
  const sqlite = openBackup(file)
  try {
    const manifest = readManifest(sqlite)
    if (manifest === undefined) throw failedVerification(file, 'it is not a verified Shopstead backup')
    const schema = compareSchema(sqlite)
    const problem = schema.problem ?? findProblem(sqlite, manifest)
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

function findProblem(sqlite: Database.Database, manifest: Manifest): string | undefined {
  const verdict = String(sqlite.pragma('integrity_check(1)', { simple: true }))
  if (verdict !== 'ok') return `its integrity check failed: ${verdict}`
  const orphans = sqlite.pragma('foreign_key_check') as unknown[]
  if (orphans.length > 0) return `${orphans.length} of its rows refer to rows that do not exist`
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
