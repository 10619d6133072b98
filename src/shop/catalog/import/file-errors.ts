import { AppError } from '../../../errors.ts'

/** What is wrong in a file: the physical line, the column (a CSV header or a JSON path) and why; null = the whole file. */
export type FileError = { line: number | null; column: string | null; cause: string }

const listedErrors = 100

/** Collects everything that is wrong with a file, so that it is refused once, whole, and with all that has to be mended. */
export class FileErrors {
  readonly #errors: FileError[] = []
  #total = 0

  get isEmpty(): boolean {
    return this.#total === 0
  }

  /** A line that has to be looked for comes as a function, which is asked only for an error that will be listed. */
  add(line: number | null | (() => number), column: string | null, cause: string): void {
    this.#total += 1
    if (this.#errors.length >= listedErrors) return
    this.#errors.push({ line: typeof line === 'function' ? line() : line, column, cause })
  }

  /** Throws VALIDATION_FAILED with `details.errors` (the first 100, in the file's order) and `details.total`. */
  throwIfAny(): void {
    if (this.isEmpty) return
    const errors = this.#errors.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    const count = this.#total === 1 ? 'one problem' : `${this.#total} errors`
    const first = errors[0] ? ` ${formatFileError(errors[0])}` : ''
    const message = `The file has ${count}, so nothing of it was taken.${first}`
    throw new AppError('VALIDATION_FAILED', message, { errors, total: this.#total })
  }
}

/** Refuses a file for one reason that ends the reading. */
export function refuseFile(line: number | null, column: string | null, cause: string): never {
  const errors = new FileErrors()
  errors.add(line, column, cause)
  errors.throwIfAny()
  throw new Error('A refused file has a problem.')
}

/** One line for people: `Line 3, Regular price: An amount ….` */
export function formatFileError({ line, column, cause }: FileError): string {
  const place = [line === null ? undefined : `Line ${line}`, column ?? undefined].filter((part) => part !== undefined)
  return place.length === 0 ? cause : `${place.join(', ')}: ${cause}`
}
