import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** A seeded random number generator, so that a run can be repeated. */
export class Random {
  readonly seed: number
  private readonly generator

  constructor(seed: number) {
    this.seed = seed
    this.generator = xoroshiro128plus(seed)
  }

  /** An integer from `min` to `max`, inclusive. */
  between(min: number, max: number): number {
    return uniformInt(this.generator, min, max)
  }

  /** True with a probability of 1 / `times`. */
  oneIn(times: number): boolean {
    return this.between(1, times) === 1
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    if (from.length === 0) throw new Error('cannot pick from an empty list')
    return from[this.between(0, from.length - 1)] as T
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)))
  }

  /** A separate generator for concurrent work, so that its order does not affect this one. */
  fork(): Random {
    return new Random(this.between(0, 0x7fffffff))
  }
}
