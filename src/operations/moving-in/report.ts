import { toDecimalText } from '../../platform/money.ts'

/** Rows of the other shop that do not arrive, or that arrive differently: how many, why, and the first of them. */
export type Remark = { count: number; why: string; examples: string[] }

/** What an import found of one subject, and what became of it. `found` is the sum of the other three. */
export type SubjectReport = {
  subject: string
  found: number
  arrived: number
  /** Moved in by an earlier run, or in the shop before. */
  already: number
  left: number
  /** Sums of money by currency, in decimal text: what was found, and what arrived. */
  sums: { name: string; currency: string; found: string; arrived: string }[]
  leftOut: Remark[]
  changed: Remark[]
}

const maxExamples = 5

/** Collects the report of one subject. */
export class SubjectTally {
  readonly #subject: string
  readonly #sums = new Map<string, { name: string; currency: string; found: number; arrived: number }>()
  readonly #leftOut = new Map<string, Remark>()
  readonly #changed = new Map<string, Remark>()
  #arrived = 0
  #already = 0
  #left = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  /** The number of rows that are done. */
  get done(): number {
    return this.#arrived + this.#already + this.#left
  }

  arrive(): void {
    this.#arrived += 1
  }

  know(): void {
    this.#already += 1
  }

  /** Counts a row that does not arrive. */
  leave(why: string, example: string): void {
    this.#left += 1
    remark(this.#leftOut, why, example)
  }

  /** Counts a row, or a part of one, that arrives differently. */
  change(why: string, example: string, count = 1): void {
    remark(this.#changed, why, example, count)
  }

  /** Adds to a sum of money, in minor units. */
  add(name: string, currency: string, amounts: { foundMinor: number; arrivedMinor: number }): void {
    const key = `${name} ${currency}`
    const sum = this.#sums.get(key) ?? { name, currency, found: 0, arrived: 0 }
    this.#sums.set(key, {
      ...sum,
      found: sum.found + amounts.foundMinor,
      arrived: sum.arrived + amounts.arrivedMinor
    })
  }

  build(): SubjectReport {
    return {
      subject: this.#subject,
      found: this.done,
      arrived: this.#arrived,
      already: this.#already,
      left: this.#left,
      sums: [...this.#sums.values()].map(({ name, currency, found, arrived }) => ({
        name,
        currency,
        found: toDecimalText(found, currency),
        arrived: toDecimalText(arrived, currency)
      })),
      leftOut: [...this.#leftOut.values()],
      changed: [...this.#changed.values()]
    }
  }
}

function remark(remarks: Map<string, Remark>, why: string, example: string, count = 1): void {
  const entry = remarks.get(why) ?? { count: 0, why, examples: [] }
  entry.count += count
  if (example !== '' && entry.examples.length < maxExamples && !entry.examples.includes(example))
    entry.examples.push(example)
  remarks.set(why, entry)
}
