import { writeFileSync } from 'node:fs'
import { AppError } from '../errors.ts'

/**
 * Writes a new file and never overwrites an existing one. It begins with a byte order mark, which tells spreadsheets
 * that it is UTF-8.
 *
 * @throws AppError CONFLICT when the file exists or cannot be written
 */
export function writeCsv(file: string, csv: string): void {
  try {
    writeFileSync(file, `\uFEFF${csv}`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const why = exists ? 'already exists' : 'cannot be written'
    throw new AppError('CONFLICT', `${file} ${why}.`, {}, { cause: error })
  }
}
