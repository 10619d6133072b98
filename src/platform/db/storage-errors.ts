import { AppError } from '../../errors.ts'
import { codeOf } from '../typed.ts'

/** A full disk needs an operator, a lock lasts moments: a retry after 5 seconds suits both. */
const retryAfterSeconds = 5

/**
 * SQLite's error codes for a database that cannot be used although the request is correct: another process holds the
 * lock, the disk is full, read-only or failing, or the file is damaged. All of them can end without a restart.
 */
const storageCodes = /^SQLITE_(BUSY|LOCKED|PROTOCOL|FULL|READONLY|IOERR|CANTOPEN|NOTADB|CORRUPT)/

/** True when `error` or one of its causes comes from the storage and not from the request. */
export function isStorageError(error: unknown): boolean {
  return sqliteErrorIn(error, storageCodes) !== undefined
}

/** True when another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteErrorIn(error, /^SQLITE_BUSY/) !== undefined
}

/** True when SQLite reports that the file is not a database, or that its pages contradict each other. */
export function isDamage(error: unknown): boolean {
  return sqliteErrorIn(error, /^SQLITE_(NOTADB|CORRUPT)/) !== undefined
}

/** True when a constraint or a trigger of the database refused a row. */
export function isConstraintError(error: unknown): boolean {
  return sqliteErrorIn(error, /^SQLITE_CONSTRAINT/) !== undefined
}

/** DEPENDENCY_UNAVAILABLE with Retry-After for a storage error; undefined for any other error. */
export function storageUnavailable(error: unknown): AppError | undefined {
  if (error instanceof AppError || !isStorageError(error)) return undefined
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'The database cannot be used at the moment; please try again in a moment.',
    {},
    { headers: { 'Retry-After': String(retryAfterSeconds) }, cause: error }
  )
}

/** Checks the error's name, not its class: the command line calls this too and must not load SQLite to print its help. */
function sqliteErrorIn(error: unknown, wanted: RegExp): Error | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'SqliteError' && wanted.test(codeOf(error) ?? '')) return error
  return sqliteErrorIn(error.cause, wanted)
}
