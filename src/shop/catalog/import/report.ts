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
