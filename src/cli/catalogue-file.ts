import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../errors.ts'
import type { Counts, CountsByKind } from '../shop/catalog/changes.ts'
import type { CatalogFile } from '../shop/catalog/import/format.ts'
import { formatFileError } from '../shop/catalog/import/file-errors.ts'
import type { FileError } from '../shop/catalog/import/file-errors.ts'
import { readCatalogFile } from '../shop/catalog/import/read-file.ts'
import type { ReadOptions } from '../shop/catalog/import/read-file.ts'
import type { ImportReport } from '../shop/catalog/import/report.ts'
import { whileShowing } from './progress.ts'
import type { Watched } from './progress.ts'

/**
 * Reads a catalogue file; `-` is standard input. Unless the output is JSON, it prints every problem of the file.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED; USAGE
 */
export async function readCatalogueFile(
  path: string,
  options: ReadOptions,
  watched: Watched
): Promise<{ file: CatalogFile; report: ImportReport }> {
  const content = path === '-' ? await buffer(watched.terminal.stdin) : readInput(path)
  try {
    const read = whileShowing(watched, `reading ${path}`, () => readCatalogFile(content, options))
    return { ...read, file: { ...read.file, folder: path === '-' ? process.cwd() : dirname(resolve(path)) } }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    if (!watched.json) for (const line of problemLines(error)) watched.terminal.messages.log(line)
    // A command accepts several files, so the error names the file.
    throw new AppError(error.code, `${path}: ${error.message}`, error.details, { cause: error })
  }
}

/** The operator typed the path, so the message contains the system's reason. */
function readInput(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('NOT_FOUND', `The file cannot be read: ${reason}.`, {}, { cause })
  }
}

function problemLines({ details: { errors } }: AppError): string[] {
  return Array.isArray(errors) ? errors.map((error: FileError) => `  ${formatFileError(error)}`) : []
}

/** `{created: {products: 3, …}, updated: {…}, unchanged: {…}}` */
export function byOutcome(counts: CountsByKind): Record<keyof Counts, Record<string, number>> {
  const numbers = (outcome: keyof Counts) =>
    Object.fromEntries(Object.entries(counts).map(([kind, numbersOf]) => [kind, numbersOf[outcome]]))
  return { created: numbers('created'), updated: numbers('updated'), unchanged: numbers('unchanged') }
}

/** A line for products, and one for each other kind that the file contains. */
export function describeCounts(counts: CountsByKind): string[] {
  return Object.entries(counts).flatMap(([kind, { created, updated, unchanged }]) => {
    const isAbsent = kind !== 'products' && created + updated + unchanged === 0
    return isAbsent ? [] : [`${kind}: ${created} created, ${updated} updated, ${unchanged} unchanged`]
  })
}
