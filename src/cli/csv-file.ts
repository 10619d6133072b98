import { writeFileSync } from 'node:fs'
import { AppError } from '../errors.ts'

/**
 * Writes a new file; one that is there stays. The mark at its beginning tells spreadsheets that it is UTF-8.
 *
 * @throws AppError CONFLICT when there is a file of that name, or when it cannot be written
 */
export function writeCsv(file: string, csv: string): void {
  try {
    writeFileSync(file, `\uFEFF${csv}`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const why = exists ? 'is there already' : 'cannot be written'
    throw new AppError('CONFLICT', `${file} ${why}.`, {}, { cause: error })
  }
}
