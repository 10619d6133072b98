import type { ProductEntry } from './import/write-json.ts'

/**
 * A field of a product or coupon, as in the import file, before and after a change. `sku` names the variation that the
 * field belongs to. `from` is undefined for a new product.
 */
export type FieldChange = { field: string; sku?: string; from: unknown; to: unknown }

/** The result of importing one entry of a file. `fields` are the fields that an update changed. */
export type Change = {
  kind: 'product' | 'coupon'
  /** The product's slug or the coupon's code. */
  key: string
  outcome: 'created' | 'updated' | 'unchanged'
  fields: FieldChange[]
}

/** The fields in which two states of a product differ; `before` is undefined for a new product. */
export function changesOf(before: ProductEntry | undefined, after: ProductEntry): FieldChange[] {
  const { variations: old = [], slug: _oldSlug, ...oldFields } = before ?? {}
  const { variations, slug: _slug, ...fields } = after
  // The product's own prices repeat those of its default variation.
  const repeated = variations.length > 0 ? ['price', 'salePrice'] : []
  const bySku = new Map(old.map((variation) => [variation.sku, variation]))
  const skus = (list: readonly { sku: string }[]): { variations: string[] } => ({
    variations: list.map(({ sku }) => sku)
  })
  return [
    ...differences(oldFields, fields).filter(({ field }) => !repeated.includes(field)),
    ...(before === undefined ? [] : differences(skus(old), skus(variations))),
    ...variations.flatMap(({ sku, ...variation }) => {
      const { sku: _sku, ...oldVariation } = bySku.get(sku) ?? {}
      return differences(oldVariation, variation).map(({ field, from, to }) => ({ field, sku, from, to }))
    })
  ]
}

/** The fields in which two entries of an import file differ. The order of a variation's options is a difference. */
export function differences(before: object, after: object): FieldChange[] {
  const old = new Map<string, unknown>(Object.entries(before))
  const values = new Map<string, unknown>(Object.entries(after))
  return [...new Set([...values.keys(), ...old.keys()])]
    .filter((field) => JSON.stringify(old.get(field)) !== JSON.stringify(values.get(field)))
    .map((field) => ({ field, from: old.get(field), to: values.get(field) ?? null }))
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
