import { accessSync, constants, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import { describeError } from '../../platform/log.ts'
import { measure, readManifest } from './manifest.ts'
import type { Manifest } from './manifest.ts'

export type BackupInfo = {
  file: string
  bytes: number
  /** Epoch milliseconds; null when the file does not say. */
  createdAt: number | null
  verified: boolean
}

/**
 * Opens a backup and goes through all of it: integrity, foreign keys, and every row against what was written down when
 * it was made. Reads only.
 *
 * @throws AppError NOT_FOUND without a file that we may read, CONFLICT saying what is doubtful about it.
 */
export function inspectBackup(file: string): BackupInfo & { manifest: Manifest } {
  const bytes = sizeOf(file)
  const sqlite = openBackup(file)
  try {
    const manifest = readManifest(sqlite)
    if (manifest === undefined) throw doubtful(file, 'it is no backup that Shopstead has made and verified')
    const problem = findProblem(sqlite, manifest)
    if (problem !== undefined) throw doubtful(file, problem)
    return { file, bytes, createdAt: manifest.createdAt, verified: true, manifest }
  } catch (error) {
    throw error instanceof AppError ? error : doubtful(file, describeError(error))
  } finally {
    sqlite.close()
  }
}

/** A backup of another user's is not doubtful, and SQLite would not say why it cannot open it. */
function sizeOf(file: string): number {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) throw new AppError('NOT_FOUND', `There is no file ${file}.`)
    accessSync(file, constants.R_OK)
    return stat.size
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('NOT_FOUND', `This user may not read ${file}: ${describeError(cause)}.`, {}, { cause })
  }
}

function openBackup(file: string): Database.Database {
  try {
    const sqlite = new Database(file, { readonly: true, fileMustExist: true })
    sqlite.pragma('trusted_schema = OFF')
    return sqlite
  } catch (error) {
    throw doubtful(file, describeError(error))
  }
}

function findProblem(sqlite: Database.Database, manifest: Manifest): string | undefined {
  const verdict = String(sqlite.pragma('integrity_check(1)', { simple: true }))
  if (verdict !== 'ok') return `its integrity check says ${verdict}`
  const orphans = sqlite.pragma('foreign_key_check') as unknown[]
  if (orphans.length > 0) return `${orphans.length} of its rows point at rows that are not there`
  const { counts, digest } = measure(sqlite)
  const changed = Object.keys({ ...counts, ...manifest.counts }).find((name) => counts[name] !== manifest.counts[name])
  if (changed !== undefined) {
    return `${changed} holds ${counts[changed] ?? 0} rows instead of ${manifest.counts[changed] ?? 0}`
  }
  return digest === manifest.digest ? undefined : 'its content is not what was written'
}

/** What a listing can tell at a glance: whether the file is a whole backup, as it was when it got its name. */
export function glanceAtBackup(file: string): BackupInfo {
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
    // Damaged beyond opening: it is listed as what it is.
    return { file, bytes, createdAt: null, verified: false }
  }
}

export function doubtful(file: string, reason: string): AppError {
  return new AppError('CONFLICT', `${file} cannot be relied on: ${reason}.`, { file, reason })
}
