/** Cells of a column that were not imported: how many, and why. */
export type Ignored = { column: string; count: number; why: string }

export type ImportReport = {
  format: 'json' | 'woocommerce' | 'shopify'
  /** Data rows of a CSV file (image rows and variations too), entries of a JSON file. */
  rows: number
  ignored: Ignored[]
  warnings: string[]
}

const maxWarnings = 100
const maxNames = 5

/** Collects what a file contains and the import ignores, and warnings. */
export class ReportBuilder {
  readonly #ignored = new Map<string, { column: string; why: string; count: number; names: string[] }>()
  readonly #warnings = new Set<string>()

  /** Counts one more ignored cell of the column, or, with `name`, one more ignored product. */
  ignore(column: string, why: string, name?: string): void {
    const key = `${column}\n${why}`
    const entry = this.#ignored.get(key) ?? { column, why, count: 0, names: [] }
    entry.count += 1
    if (name !== undefined && entry.names.length < maxNames) entry.names.push(name)
    this.#ignored.set(key, entry)
  }

  /** Adds a warning; repetitions of the same warning are dropped. */
  warn(message: string): void {
    this.#warnings.add(message)
  }

  /** The report; lists at most 100 warnings. */
  build(format: ImportReport['format'], rows: number): ImportReport {
    const ignored = [...this.#ignored.values()].map(({ column, why, count, names }) => {
      const more = count > names.length ? ', …' : ''
      return { column, count, why: names.length === 0 ? why : `${why}: ${names.join(', ')}${more}` }
    })
    const warnings = [...this.#warnings].slice(0, maxWarnings)
    const hidden = this.#warnings.size - warnings.length
    if (hidden > 0) warnings.push(`${hidden} more warnings are not listed.`)
    return { format, rows, ignored, warnings }
  }
}
