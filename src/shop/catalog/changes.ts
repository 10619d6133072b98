/** What became of one entry of a file. `fields` are those of the file that differ from what the shop had. */
export type Change = {
  kind: 'product' | 'coupon'
  /** The product's slug or the coupon's code. */
  key: string
  outcome: 'created' | 'updated' | 'unchanged'
  fields: string[]
}

export type Counts = { created: number; updated: number; unchanged: number }

export function countChanges(changes: readonly Change[]): Counts {
  const counts = { created: 0, updated: 0, unchanged: 0 }
  for (const { outcome } of changes) counts[outcome] += 1
  return counts
}

/** What a file did, by kind: products, coupons, plans, … */
export type CountsByKind = Record<string, Counts>
