import { isFact } from './woocommerce-facts.ts'
import type { WooContext, WooRow } from './woocommerce-row.ts'

const always = new Set([
  'id',
  'type',
  'sku',
  'name',
  'published',
  'visibility in catalog',
  'short description',
  'description',
  'date sale price starts',
  'date sale price ends',
  'in stock?',
  'stock',
  'backorders allowed?',
  'sale price',
  'regular price',
  'categories',
  'tags',
  'images',
  'parent',
  'position'
])
const ofProducts = new Set(['short description', 'description', 'categories', 'tags', 'brands'])
const reasons: readonly [RegExp, string][] = [
  [/^attribute \d+ (?:visible|global|default)$/, 'Attribute settings are not supported'],
  [/^attribute/, 'Attributes are used only as the options of variations'],
  [/^download \d+/, 'Downloads are named after their file'],
  [/^download/, 'Download limits are not supported'],
  [/^meta: /, 'Fields of other plugins are not supported']
]

/** Whether WooCommerce's product export has a column of this name that the import reads. */
export function isWooCommerceColumn(name: string): boolean {
  const column = name.toLowerCase()
  return always.has(column) || isFact(column) || /^(?:attribute|download) \d+ \S/.test(column)
}

/** Whether a product cannot be imported: another type, or no variations. The report counts and names it. */
export function skipUnsupported(product: WooRow, variations: number, woo: WooContext): boolean {
  const { kind, name } = product
  if (kind !== 'simple' && kind !== 'variable') {
    woo.report.ignore('Type', `Products of type ${kind.slice(0, 40)} are not supported`, name)
    return true
  }
  if (kind === 'simple' || variations > 0) return false
  woo.report.ignore('Type', 'A variable product without variations cannot be bought', name)
  return true
}

/** Reports the cells of all columns that are not imported. */
export function ignoreColumns(
  rows: readonly WooRow[],
  imported: readonly WooRow[],
  { table, report }: WooContext
): void {
  const simple = new Set(imported.filter(({ kind }) => kind === 'simple'))
  for (const column of table.columns) {
    for (const product of rows) {
      const cell = product.row.cell(column)
      if (cell === '' || cell === '0' || isUsed(column.toLowerCase(), product, simple)) continue
      report.ignore(column, whyIgnored(column.toLowerCase(), product.kind))
    }
  }
}

function isUsed(column: string, product: WooRow, simple: ReadonlySet<WooRow>): boolean {
  if (product.kind === 'variation' && ofProducts.has(column)) return false
  if (/^download (?:\d+ url|expiry days)$/.test(column)) return simple.has(product)
  if (/^attribute \d+ (?:name|value\(s\)|default)$/.test(column)) return product.kind !== 'simple'
  return always.has(column) || isFact(column)
}

function whyIgnored(column: string, kind: string): string {
  if (kind === 'variation' && ofProducts.has(column)) return 'Variations do not have their own value'
  return reasons.find(([pattern]) => pattern.test(column))?.[1] ?? 'This column is not supported'
}
