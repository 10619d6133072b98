import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Chance that a seed brings back. */
export class Dice {
  readonly seed: number
  private readonly generator

  constructor(seed: number) {
    this.seed = seed
    this.generator = xoroshiro128plus(seed)
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return uniformInt(this.generator, least, most)
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.between(1, times) === 1
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    if (from.length === 0) throw new Error('there is nothing to pick from')
    return from[this.between(0, from.length - 1)] as T
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)))
  }

  /** Dice of their own for something that runs side by side, so that its order does not change the others' chance. */
  another(): Dice {
    return new Dice(this.between(0, 0x7fffffff))
  }
}
