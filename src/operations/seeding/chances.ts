/** Chances that fall the same way each time, for data that has to be the same each time. Never for secrets. */
export type Chances = {
  happens(probability: number): boolean
  /** From 1 to `most`. */
  upTo(most: number): number
  /** One of at least one. */
  oneOf<T>(choices: readonly T[]): T
  /** One of the choices by their weights, which sum to 1. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T
}

export function chancesOf(seed: number): Chances {
  const next = mulberry32(seed)
  return {
    happens: (probability) => next() < probability,
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

/** Tommy Ettinger's generator (public domain): small, and good enough to scatter orders. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
