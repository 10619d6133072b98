/** The result of importing one entry of a file. `fields` are the file's fields that differ from the shop's. */
export type Change = {
  kind: 'product' | 'coupon'
  /** The product's slug or the coupon's code. */
  key: string
  outcome: 'created' | 'updated' | 'unchanged'
  fields: string[]
}

export type Counts = { created: number; updated: number; unchanged: number }

/** Counts the entries by outcome. */
export function countChanges(changes: readonly Change[]): Counts {
  return countOutcomes(changes.map(({ outcome }) => outcome))
}

/** Counts outcomes. */
export function countOutcomes(outcomes: readonly Change['outcome'][]): Counts {
  const counts = { created: 0, updated: 0, unchanged: 0 }
  for (const outcome of outcomes) counts[outcome] += 1
  return counts
}

/** The result of an import by kind: products, coupons, plans and so on. */
export type CountsByKind = Record<string, Counts>

/** Adds up the counts of several imports by kind. */
export function sumCounts(parts: readonly CountsByKind[]): CountsByKind {
  const total: CountsByKind = {}
  for (const [kind, counts] of parts.flatMap((part) => Object.entries(part))) {
    const known = total[kind] ?? { created: 0, updated: 0, unchanged: 0 }
    total[kind] = {
      created: known.created + counts.created,
      updated: known.updated + counts.updated,
      unchanged: known.unchanged + counts.unchanged
    }
  }
  return total
}
