import { AppError } from '../../../errors.ts'

/** An error in a file: the physical line, the column (a CSV header or a JSON path) and the cause. Null: the whole file. */
export type FileError = { line: number | null; column: string | null; cause: string }

const maxListed = 100

/** Collects all errors of a file, so that the operator can correct them together. */
export class FileErrors {
  readonly #errors: FileError[] = []
  readonly #titleOf: (column: string) => string
  #total = 0

  /** @param titleOf the name of a column in the file */
  constructor(titleOf = (column: string): string => column) {
    this.#titleOf = titleOf
  }

  get isEmpty(): boolean {
    return this.#total === 0
  }

  /** Pass a function for a line that is expensive to find: it is called only for errors that are listed. */
  add(line: number | null | (() => number), column: string | null, cause: string): void {
    this.#total += 1
    if (this.#errors.length >= maxListed) return
    const title = column === null ? null : this.#titleOf(column)
    this.#errors.push({ line: typeof line === 'function' ? line() : line, column: title, cause })
  }

  /** @throws AppError VALIDATION_FAILED with `details.errors` (the first 100, in the file's order) and `details.total` */
  throwIfAny(): void {
    if (this.isEmpty) return
    const errors = this.#errors.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    const count = this.#total === 1 ? 'one error' : `${this.#total} errors`
    const first = errors[0] ? ` ${formatFileError(errors[0])}` : ''
    const message = `The file has ${count}. Nothing was imported.${first}`
    throw new AppError('VALIDATION_FAILED', message, { errors, total: this.#total })
  }
}

/** Refuses a file because of an error after which it cannot be read further. @throws AppError VALIDATION_FAILED */
export function refuseFile(line: number | null, column: string | null, cause: string): never {
  const errors = new FileErrors()
  errors.add(line, column, cause)
  errors.throwIfAny()
  throw new Error('A refused file must have an error.')
}

/** An error as one line of text: `Line 3, Regular price: An amount …`. */
export function formatFileError({ line, column, cause }: FileError): string {
  const place = [line === null ? undefined : `Line ${line}`, column ?? undefined].filter((part) => part !== undefined)
  return place.length === 0 ? cause : `${place.join(', ')}: ${cause}`
}
