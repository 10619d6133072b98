/** Cells of a column that were not taken over: how many, and why. */
export type Ignored = { column: string; count: number; why: string }

export type ImportReport = {
  format: 'json' | 'woocommerce' | 'shopify'
  /** Data rows of a CSV file (image rows and variations too), entries of a JSON file. */
  rows: number
  ignored: Ignored[]
  warnings: string[]
}

const listedWarnings = 100
const listedNames = 5

/** Counts and names what a file holds and the shop has no place for. */
export class ReportBuilder {
  readonly #ignored = new Map<string, { column: string; why: string; count: number; names: string[] }>()
  readonly #warnings = new Set<string>()

  /** One more cell (or, with `name`, one more product) of the column is left out. */
  ignore(column: string, why: string, name?: string): void {
    const key = `${column}\n${why}`
    const entry = this.#ignored.get(key) ?? { column, why, count: 0, names: [] }
    entry.count += 1
    if (name !== undefined && entry.names.length < listedNames) entry.names.push(name)
    this.#ignored.set(key, entry)
  }

  /** Says something once, however often it comes up. */
  warn(message: string): void {
    this.#warnings.add(message)
  }

  build(format: ImportReport['format'], rows: number): ImportReport {
    const ignored = [...this.#ignored.values()].map(({ column, why, count, names }) => {
      const more = count > names.length ? ', …' : ''
      return { column, count, why: names.length === 0 ? why : `${why}: ${names.join(', ')}${more}` }
    })
    const warnings = [...this.#warnings].slice(0, listedWarnings)
    const hidden = this.#warnings.size - warnings.length
    return { format, rows, ignored, warnings: hidden > 0 ? [...warnings, `There are ${hidden} more.`] : warnings }
  }
}
