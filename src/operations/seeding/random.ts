/** Random choices that are the same for the same seed, for reproducible data. Not for secrets. */
export type Random = {
  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean
  /** A whole number from 1 to `most`. */
  upTo(most: number): number
  /** One element of a list that is not empty. */
  oneOf<T>(choices: readonly T[]): T
  /** One of the choices by their weights, which sum to 1. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T
}

/** A source of random choices that repeats for the same seed. */
export function seededRandom(seed: number): Random {
  const next = mulberry32(seed)
  return {
    chance: (probability) => next() < probability,
    upTo: (most) => 1 + Math.floor(next() * most),
    oneOf: <T>(choices: readonly T[]) => choices[Math.floor(next() * choices.length)] as T,
    weighted<T>(choices: readonly (readonly [T, number])[]) {
      let left = next()
      for (const [choice, weight] of choices) {
        left -= weight
        if (left < 0) return choice
      }
      throw new Error('the weights do not sum to 1')
    }
  }
}

/** Tommy Ettinger's mulberry32 (public domain): small, and random enough for generated orders. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
