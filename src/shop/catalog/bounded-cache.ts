/**
 * A least-recently-used cache with a limit in bytes. Keys count too, because clients choose them and can make them long.
 * A value that needs more than a quarter of the limit is not stored.
 */
export class BoundedCache<T> {
  readonly #limit: number
  readonly #sizeOf: (value: T) => number
  readonly #values = new Map<string, T>()
  #size = 0

  /**
   * @param limit in bytes
   * @param sizeOf size of a value in bytes, without its key
   */
  constructor(limit: number, sizeOf: (value: T) => number) {
    this.#limit = limit
    this.#sizeOf = sizeOf
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
    const size = this.#bytesOf(key, value)
    if (size > this.#limit / 4) return
    this.#values.set(key, value)
    this.#size += size
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#size -= this.#bytesOf(key, value)
  }

  #bytesOf(key: string, value: T): number {
    return 2 * key.length + this.#sizeOf(value)
  }
}
