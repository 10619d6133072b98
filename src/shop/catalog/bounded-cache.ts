/** Keeps the most recently used values within a bound on their weights; a value above a quarter of it is never kept. */
export class BoundedCache<T> {
  readonly #limit: number
  readonly #weigh: (value: T) => number
  readonly #values = new Map<string, T>()
  #weight = 0

  constructor(limit: number, weigh: (value: T) => number) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#remove(key)
    const weight = this.#weigh(value)
    if (weight > this.#limit / 4) return
    this.#values.set(key, value)
    this.#weight += weight
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#limit) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#weight -= this.#weigh(value)
  }
}
