import { writeFileSync } from 'node:fs'
import { AppError } from '../errors.ts'

/**
 * Writes a new CSV file, as `writeNewFile` does. It begins with a byte order mark, which tells spreadsheets that it is
 * UTF-8.
 *
 * @throws AppError CONFLICT
 */
export function writeCsv(file: string, csv: string): void {
  writeNewFile(file, `\uFEFF${csv}`)
}

/**
 * Writes a new file that only its owner can read, and never overwrites an existing one.
 *
 * @throws AppError CONFLICT when the file exists or cannot be written
 */
export function writeNewFile(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const why = exists ? 'already exists' : 'cannot be written'
    throw new AppError('CONFLICT', `${file} ${why}.`, {}, { cause: error })
  }
}
