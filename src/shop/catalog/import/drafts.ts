import type { ProductInput } from './format.ts'
import type { FormatSchemas } from './format-schemas.ts'
import { readEntry } from './issues.ts'
import type { FileErrors } from './file-errors.ts'

/** Where the fields of an entry came from: a row, and the CSV column of each field. */
export type Source = { line: number; columns: Readonly<Record<string, string>> }

/** A product put together from CSV rows in the JSON format's own words, so that one set of rules judges both. */
export type Draft = { value: Record<string, unknown>; source: Source; variations: Source[] }

/** Judges the drafts by the JSON format's rules; what is wrong is told by line and CSV column. */
export function readDrafts(drafts: readonly Draft[], schemas: FormatSchemas, errors: FileErrors): ProductInput[] {
  return drafts.flatMap((draft) => {
    const product = readEntry(schemas.product, draft.value, ({ path, cause }) => {
      const [source, field] = locate(draft, path)
      errors.add(source.line, source.columns[field] ?? field, cause)
    })
    return product === undefined ? [] : [product]
  })
}

function locate(draft: Draft, path: readonly PropertyKey[]): [Source, string] {
  const [field, index, inner] = path
  const variation = field === 'variations' && typeof index === 'number' ? draft.variations[index] : undefined
  return variation ? [variation, String(inner)] : [draft.source, String(field)]
}
