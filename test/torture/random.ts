import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Chance that a seed brings back. */
export class Random {
  readonly seed: number
  private readonly generator

  constructor(seed: number) {
    this.seed = seed
    this.generator = xoroshiro128plus(seed)
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return uniformInt(this.generator, min, max)
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.between(1, times) === 1
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    if (from.length === 0) throw new Error('there is nothing to pick from')
    return from[this.between(0, from.length - 1)] as T
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)))
  }

  /** Random of their own for something that runs side by side, so that its order does not change the others' chance. */
  fork(): Random {
    return new Random(this.between(0, 0x7fffffff))
  }
}
