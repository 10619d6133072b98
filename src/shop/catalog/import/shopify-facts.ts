import type { TaxClass } from '../../tax/input.ts'
import { isFalsy } from './csv-table.ts'
import type { Row } from './csv-table.ts'
import { htmlToText, embeddedIsIgnored, hasEmbedded } from './html-text.ts'
import { toGrams } from './csv-table.ts'
import { toGtin } from './fields.ts'
import type { ReportBuilder } from './report.ts'

type Field = 'taxable' | 'description' | 'vendor' | 'seoTitle' | 'seoDescription' | 'grams' | 'barcode'
/** How a reader finds a cell: by the field, whose column has several names. */
type Cells = {
  cell: (row: Row, field: Field) => string
  column: (field: Field) => string
  table: { has: (column: string) => boolean }
  report: ReportBuilder
}

/** Description, brand, tax class and texts for search engines of a product; fields without a column are left out. */
export function factsOf(head: Row, variants: readonly Row[], name: string, cells: Cells): Record<string, unknown> {
  const { cell, column, table, report } = cells
  const html = cell(head, 'description')
  if (hasEmbedded(html)) report.ignore(column('description'), embeddedIsIgnored, name)
  const texts = { brand: 'vendor', seoTitle: 'seoTitle', seoDescription: 'seoDescription' } as const
  const present = Object.entries(texts).filter(([, field]) => table.has(column(field)))
  return {
    ...(table.has(column('description')) ? { description: htmlToText(html), descriptionHtml: html } : {}),
    ...Object.fromEntries(present.map(([name, field]) => [name, cell(head, field).replaceAll(/\s+/g, ' ') || null])),
    ...(table.has(column('taxable')) ? { taxClass: taxClassOf(variants, cells) } : {})
  }
}

/** A product has one tax class; it is free of tax if none of its variants is taxed. */
function taxClassOf(variants: readonly Row[], { cell }: Cells): TaxClass {
  return variants.every((row) => isFalsy(cell(row, 'taxable'))) ? 'zero' : 'standard'
}

/** The weight of a variant in grams; null without one, for which Shopify writes 0. */
export function weightOf(row: Row, name: string, { cell, column, report }: Cells): number | null {
  const grams = toGrams(cell(row, 'grams'), 'g')
  if (grams === undefined) report.ignore(column('grams'), 'This is not a number', name)
  return grams || null
}

/** The GTIN of a variant; null without a valid one. */
export function gtinOf(row: Row, { cell, column, report }: Cells): string | null {
  const text = cell(row, 'barcode')
  const gtin = toGtin(text)
  if (text !== '' && gtin === undefined) report.ignore(column('barcode'), 'This is not a GTIN, EAN, UPC or ISBN')
  return gtin ?? null
}
