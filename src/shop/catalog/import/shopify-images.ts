import type { Row } from './csv-table.ts'
import type { ReportBuilder } from './report.ts'

/** How a reader finds a cell: by the field, whose column has several names. */
type Cells = {
  cell: (row: Row, field: 'image' | 'imagePosition' | 'imageAlt' | 'variantImage') => string
  column: (field: 'image' | 'variantImage') => string
  report: ReportBuilder
}

/** The pictures of a product, in the order of their positions. Each row of the product can name one. */
export function imagesIn(rows: readonly Row[], cells: Cells): { src: string; alt: string }[] {
  const { cell } = cells
  const images = rows
    .map((row) => ({
      src: cell(row, 'image'),
      alt: cell(row, 'imageAlt'),
      position: Number(cell(row, 'imagePosition'))
    }))
    .filter(({ src }) => isFetched(src, 'image', cells))
  const sorted = images.toSorted((a, b) => (a.position || Infinity) - (b.position || Infinity) || 0)
  const first = new Map<string, { src: string; alt: string }>()
  for (const { src, alt } of sorted) if (!first.has(src)) first.set(src, { src, alt: alt.slice(0, 500) })
  return [...first.values()].slice(0, 100)
}

/** The picture of a variant. */
export function variantImage(row: Row, cells: Cells): { src: string }[] {
  const src = cells.cell(row, 'variantImage')
  return isFetched(src, 'variantImage', cells) ? [{ src }] : []
}

function isFetched(src: string, field: 'image' | 'variantImage', { column, report }: Cells): boolean {
  if (src === '') return false
  const fetched = /^https?:\/\//i.test(src) && URL.canParse(src)
  if (!fetched) report.ignore(column(field), 'Only http and https addresses are fetched')
  return fetched
}
