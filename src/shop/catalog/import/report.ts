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

const maxWarnings = 100
const maxNames = 5

/** Collects what a file contains and the import ignores, and warnings. */
export class ReportBuilder {
  readonly #ignored = new Map<string, Tally & { column: string }>()
  readonly #unpublished = new Map<string, Tally>()
  readonly #warnings = new Set<string>()
  readonly #titleOf: (column: string) => string

  /** @param titleOf the name of a column in the file */
  constructor(titleOf = (column: string): string => column) {
    this.#titleOf = titleOf
  }

  /** Counts one more ignored cell of the column, or, with `name`, one more ignored product. */
  ignore(column: string, why: string, name?: string): void {
    const key = `${column}\n${why}`
    const entry = this.#ignored.get(key) ?? { column: this.#titleOf(column), why, count: 0, names: [] }
    this.#ignored.set(key, counted(entry, name))
  }

  /** Counts one more product that arrives unpublished. */
  unpublish(why: string, name: string): void {
    const entry = this.#unpublished.get(why) ?? { why, count: 0, names: [] }
    this.#unpublished.set(why, counted(entry, name))
  }

  /** Adds a warning; repetitions of the same warning are dropped. */
  warn(message: string): void {
    this.#warnings.add(message)
  }

  /** The report; lists at most 100 warnings. */
  build(format: ImportReport['format'], rows: number): ImportReport {
    const ignored = [...this.#ignored.values()].map((tally) => ({ column: tally.column, ...described(tally) }))
    const unpublished = [...this.#unpublished.values()].map(described)
    const warnings = [...this.#warnings].slice(0, maxWarnings)
    const hidden = this.#warnings.size - warnings.length
    if (hidden > 0) warnings.push(`${hidden} more warnings are not listed.`)
    return { format, rows, ignored, unpublished, warnings }
  }
}

type Tally = { why: string; count: number; names: string[] }

function counted<T extends Tally>(tally: T, name: string | undefined): T {
  tally.count += 1
  if (name !== undefined && tally.names.length < maxNames) tally.names.push(name)
  return tally
}

function described({ why, count, names }: Tally): { count: number; why: string } {
  const more = count > names.length ? ', …' : ''
  return { count, why: names.length === 0 ? why : `${why}: ${names.join(', ')}${more}` }
}
