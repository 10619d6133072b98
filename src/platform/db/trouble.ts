import { AppError } from '../../errors.ts'

/** A full disk takes an operator, a lock only moments: asked again after this, little is lost either way. */
const retryAfterSeconds = 5

/**
 * SQLite's words for a database that cannot be used, though nothing is wrong with what was asked of it: another process
 * holds it, the disk is full, read-only or dying, or the file is damaged. All of them end without a restart.
 */
const trouble = /^SQLITE_(BUSY|LOCKED|PROTOCOL|FULL|READONLY|IOERR|CANTOPEN|NOTADB|CORRUPT)/

/** True when `error`, or what caused it, is the database's trouble and not the fault of whoever asked. */
export function isStorageTrouble(error: unknown): boolean {
  return sqliteErrorIn(error, trouble) !== undefined
}

/** True when another process holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return sqliteErrorIn(error, /^SQLITE_BUSY/) !== undefined
}

/** True when SQLite says that the file is no database, or one whose pages contradict each other. */
export function isDamage(error: unknown): boolean {
  return sqliteErrorIn(error, /^SQLITE_(NOTADB|CORRUPT)/) !== undefined
}

/** The database's trouble as callers are told of it; undefined for any other error. */
export function storageTrouble(error: unknown): AppError | undefined {
  if (error instanceof AppError || !isStorageTrouble(error)) return undefined
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'The database cannot be used at the moment; please try again in a moment.',
    {},
    { headers: { 'Retry-After': String(retryAfterSeconds) }, cause: error }
  )
}

/** Told by its name: the command line, which asks too, shall not load SQLite in order to print its help. */
function sqliteErrorIn(error: unknown, wanted: RegExp): Error | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  if (error.name === 'SqliteError' && typeof code === 'string' && wanted.test(code)) return error
  return sqliteErrorIn(error.cause, wanted)
}
