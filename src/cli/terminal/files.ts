import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { csvMark } from '../../platform/text.ts'
import { codeOf } from '../../platform/typed.ts'

/**
 * Writes a new CSV file, as `writeNewFile` does. It begins with a byte order mark, which tells spreadsheets that it is
 * UTF-8.
 *
 * @param csv the text, or its parts, which are read one by one
 * @throws AppError CONFLICT
 */
export function writeCsv(file: string, csv: string | Iterable<string>): void {
  writeParts(file, withMark(typeof csv === 'string' ? [csv] : csv))
}

/**
 * Writes a new file that only its owner can read, and never overwrites an existing one. A file that cannot be written to
 * its end is removed.
 *
 * @throws AppError CONFLICT when the file exists or cannot be written
 */
export function writeNewFile(file: string, content: string | Uint8Array): void {
  writeParts(file, [content])
}

/**
 * Makes a new folder that only its owner can read, and fills it. A folder that cannot be filled is removed.
 *
 * @param fill adds to the files of the folder
 * @throws AppError CONFLICT when the folder exists or cannot be written
 */
export async function writeNewFolder(
  folder: string,
  fill: (append: (name: string, content: string | Uint8Array) => void) => Promise<void>
): Promise<void> {
  attempt(folder, () => mkdirSync(folder, { mode: 0o700 }))
  try {
    await fill((name, content) => {
      const file = join(folder, name)
      attempt(file, () => appendFileSync(file, content, { mode: 0o600 }))
    })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function* withMark(parts: Iterable<string>): Generator<string, void> {
  yield csvMark
  yield* parts
}

function writeParts(file: string, parts: Iterable<string | Uint8Array>): void {
  const descriptor = attempt(file, () => openSync(file, 'wx', 0o600))
  try {
    for (const part of parts) attempt(file, () => writeFileSync(descriptor, part))
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

function attempt<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = codeOf(error)
    const why = reasons.get(String(code)) ?? 'cannot be written'
    throw new AppError('CONFLICT', `${file} ${why}.`, {}, { cause: error })
  }
}

/** Reads a file that the operator names. @throws AppError NOT_FOUND for one that cannot be read */
export function readInput(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new AppError('NOT_FOUND', `${file} cannot be read.`, {}, { cause })
  }
}

const reasons = new Map([
  ['EEXIST', 'already exists'],
  ['ENOENT', 'cannot be written: its folder does not exist'],
  ['ENOSPC', 'cannot be written: the disk is full']
])
