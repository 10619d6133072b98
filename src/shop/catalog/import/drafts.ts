import type { ProductInput } from './format.ts'
import type { FormatSchemas } from './format-schemas.ts'
import { readEntry } from './issues.ts'
import type { FileErrors } from './file-errors.ts'

/** The origin of an entry's fields, for error messages: a row, and the CSV column of each field. */
export type Source = { line: number; columns: Readonly<Record<string, string>> }

/** A product built from CSV rows, with the fields of the JSON format, so that the same schemas validate both. */
export type Draft = {
  value: Record<string, unknown>
  source: Source
  variations: Source[]
  /** What the JSON format does not have. */
  marks?: Pick<ProductInput, 'unpriced' | 'foundBySku'>
}

/** Validates the drafts with the schemas of the JSON format; reports errors by line and CSV column. */
export function readDrafts(drafts: readonly Draft[], schemas: FormatSchemas, errors: FileErrors): ProductInput[] {
  return drafts.flatMap((draft) => {
    const product = readEntry(schemas.product, draft.value, ({ path, cause }) => {
      const [source, field] = locate(draft, path)
      errors.add(source.line, source.columns[field] ?? field, cause)
    })
    return product === undefined ? [] : [{ ...product, ...draft.marks }]
  })
}

function locate(draft: Draft, path: readonly PropertyKey[]): [Source, string] {
  const [field, index, inner] = path
  const variation = field === 'variations' && typeof index === 'number' ? draft.variations[index] : undefined
  return variation ? [variation, String(inner)] : [draft.source, String(field)]
}
