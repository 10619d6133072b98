/**
 * Keeps the most recently used values within a bound in bytes, on what they weigh and on their keys, which callers may
 * choose long; a value that would take more than a quarter of it is never kept.
 */
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
    const weight = this.#bytesOf(key, value)
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
    this.#weight -= this.#bytesOf(key, value)
  }

  #bytesOf(key: string, value: T): number {
    return 2 * key.length + this.#weigh(value)
  }
}
