import { isDeepStrictEqual } from 'node:util'
import type { ProductEntry } from '../import/write-json.ts'

/**
 * A field of a product, as in the import file, before and after an edit. `sku` names the variation that the field
 * belongs to. `from` is undefined for a new product.
 */
export type FieldChange = { field: string; sku?: string; from: unknown; to: unknown }

/** The fields in which two states of a product differ; `before` is undefined for a new product. */
export function changesOf(before: ProductEntry | undefined, after: ProductEntry): FieldChange[] {
  const { variations: old = [], ...oldFields } = before ?? {}
  const { variations, slug: _slug, ...fields } = after
  // The product's own prices repeat those of its default variation.
  const repeated = variations.length > 0 ? ['price', 'salePrice'] : []
  const bySku = new Map(old.map((variation) => [variation.sku, variation]))
  return [
    ...differences(oldFields, fields).filter(({ field }) => !repeated.includes(field)),
    ...variations.flatMap(({ sku, ...variation }) =>
      differences(bySku.get(sku) ?? {}, variation).map(({ field, from, to }) => ({ field, sku, from, to }))
    )
  ]
}

function differences(before: object, after: object): FieldChange[] {
  const old = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after)
    .filter(([field, to]) => !isDeepStrictEqual(old.get(field), to))
    .map(([field, to]) => ({ field, from: old.get(field), to }))
}
