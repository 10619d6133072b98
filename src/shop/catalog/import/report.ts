import type { z } from 'zod'
import { AppError } from '../../../errors.ts'
import type { FormatSchemas, ProductInput } from './format.ts'

/** Cells of a column that were not imported: how many, and why. */
export type Ignored = { column: string; count: number; why: string }
/** Products that arrive unpublished: how many, and why. */
export type Unpublished = { count: number; why: string }

export type ImportReport = {
  format: 'json' | 'woocommerce' | 'shopify' | 'spreadsheet'
  /** Data rows of a CSV file (image rows and variations too), entries of a JSON file. */
  rows: number
  ignored: Ignored[]
  unpublished: Unpublished[]
  warnings: string[]
}

export const unpricedIsUnpublished =
  'The file has no price. A new product gets the price 0; set its price before you publish it'

export const repeatedSkus = 'Variations with the SKU of another variation of the product got a suffix'

const maxWarnings = 100
const maxNames = 5

/** Collects what a file contains and the import ignores, and warnings. */
export class ReportBuilder {
  readonly #ignored = new Map<string, Tally & { column: string }>()
  readonly #unpublished = new Map<string, Tally>()
  readonly #cases = new Map<string, Tally>()
  readonly #warnings = new Set<string>()
  readonly #titleOf: (column: string) => string

  /** @param titleOf the name of a column in the file */
  constructor(titleOf = (column: string): string => column) {
    this.#titleOf = titleOf
  }

  /** Counts one more ignored cell of the column, or, with `name`, one more ignored product. */
  ignore(column: string, why: string, name?: string): void {
    const key = `${column}\n${why}`
    const entry = this.#ignored.get(key) ?? { column: this.#titleOf(column), ...emptyTally(why) }
    this.#ignored.set(key, counted(entry, name))
  }

  /** Counts one more product that arrives unpublished. */
  unpublish(why: string, name: string): void {
    this.#unpublished.set(why, counted(this.#unpublished.get(why) ?? emptyTally(why), name))
  }

  /** Counts one more case of a warning about many products, which becomes one line. */
  warnOf(what: string, name: string): void {
    this.#cases.set(what, counted(this.#cases.get(what) ?? emptyTally(what), name))
  }

  /** Adds a warning; repetitions of the same warning are dropped. */
  warn(message: string): void {
    this.#warnings.add(message)
  }

  /** The report; lists at most 100 warnings besides those of `warnOf`. */
  build(format: ImportReport['format'], rows: number): ImportReport {
    const ignored = [...this.#ignored.values()].map((tally) => ({ column: tally.column, ...described(tally) }))
    const unpublished = [...this.#unpublished.values()].map(described)
    const warnings = [...this.#warnings].slice(0, maxWarnings)
    const hidden = this.#warnings.size - warnings.length
    if (hidden > 0) warnings.push(`${hidden} more warnings are not listed.`)
    const cases = [...this.#cases.values()].map((tally) => `${tally.why} (${tally.count}): ${namesOf(tally)}`)
    return { format, rows, ignored, unpublished, warnings: [...cases, ...warnings] }
  }
}

/** `hasMore` when it counts more products than it names. */
type Tally = { why: string; count: number; names: string[]; hasMore: boolean }

function emptyTally(why: string): Tally {
  return { why, count: 0, names: [], hasMore: false }
}

function counted<T extends Tally>(tally: T, name: string | undefined): T {
  tally.count += 1
  if (name === undefined || tally.names.includes(name)) return tally
  if (tally.names.length < maxNames) tally.names.push(name)
  else tally.hasMore = true
  return tally
}

function described(tally: Tally): { count: number; why: string } {
  const { why, count, names } = tally
  return { count, why: names.length === 0 ? why : `${why}: ${namesOf(tally)}` }
}

function namesOf({ names, hasMore }: Tally): string {
  return `${names.join(', ')}${hasMore ? ', …' : ''}`
}

/** An error in an entry: the path of the field, and a sentence that never repeats the value. */
export type EntryIssue = { path: PropertyKey[]; cause: string }

/** Parses an entry with the schema; on errors, passes each one to `report` and returns undefined. */
export function readEntry<T>(schema: z.ZodType<T>, value: unknown, report: (issue: EntryIssue) => void): T | undefined {
  const result = schema.safeParse(value, { error: messageFor })
  if (result.success) return result.data
  for (const issue of result.error.issues.flatMap(flatten)) report(issue)
  return undefined
}

function flatten(issue: z.core.$ZodIssue): EntryIssue[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, cause: issue.message }]
  return issue.keys.map((key) => ({ path: [...issue.path, key.slice(0, 80)], cause: 'Is not a known field.' }))
}

function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'Is required.'
  const names: Readonly<Record<string, string>> = { array: 'a list', object: 'an object', int: 'a whole number' }
  return `Must be ${names[issue.expected] ?? `a ${issue.expected}`}.`
}

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

/** The origin of an entry's fields, for error messages: a row, and the CSV column of each field. */
export type Source = { line: number; columns: Readonly<Record<string, string>> }

/** A product built from CSV rows, with the fields of the JSON format, so that the same schemas validate both. */
export type Draft = {
  value: Record<string, unknown>
  source: Source
  variations: Source[]
  /** What the JSON format does not have. */
  marks?: Pick<ProductInput, 'unpriced' | 'foundBySku'>
}

/** Validates the drafts with the schemas of the JSON format; reports errors by line and CSV column. */
export function readDrafts(drafts: readonly Draft[], schemas: FormatSchemas, errors: FileErrors): ProductInput[] {
  return drafts.flatMap((draft) => {
    const product = readEntry(schemas.product, draft.value, ({ path, cause }) => {
      const [source, field] = locate(draft, path)
      errors.add(source.line, source.columns[field] ?? field, cause)
    })
    return product === undefined ? [] : [{ ...product, ...draft.marks }]
  })
}

function locate(draft: Draft, path: readonly PropertyKey[]): [Source, string] {
  const [field, index, inner] = path
  const variation = field === 'variations' && typeof index === 'number' ? draft.variations[index] : undefined
  return variation ? [variation, String(inner)] : [draft.source, String(field)]
}
