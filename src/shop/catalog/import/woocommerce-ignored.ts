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
  'parent',
  'position'
])
const ofProducts = new Set(['short description', 'description', 'categories', 'tags'])
const reasons: readonly [RegExp, string][] = [
  [/^images$/, 'Images have no place in the shop'],
  [/^attribute \d+ (?:visible|global|default)$/, 'Attributes have no marks in the shop'],
  [/^attribute/, 'Attributes only name variations'],
  [/^(?:weight|length|width|height) \(/, 'The shop does not reckon shipping'],
  [/^tax /, 'Prices are final, the shop adds no tax'],
  [/^download \d+/, 'Downloads go by the name of their file'],
  [/^download/, 'The shop keeps no such rule for downloads'],
  [/^meta: /, 'Fields of other plugins have no place in the shop']
]

/** Products that cannot be sold here are counted and named: other types, variable ones without variations, no price. */
export function skipUnsold(product: WooRow, variations: number, woo: WooContext): boolean {
  const { kind, name, row } = product
  if (kind !== 'simple' && kind !== 'variable') {
    woo.report.ignore('Type', `Products of the type ${kind.slice(0, 40)} are not sold here`, name)
    return true
  }
  if (kind === 'variable') {
    if (variations === 0) woo.report.ignore('Type', 'A variable product without variations cannot be bought', name)
    return variations === 0
  }
  const isUnpriced = row.cell('Regular price') === '' && row.cell('Sale price') === ''
  if (!isUnpriced || !/^(?:0|-1|2|false|no)$/i.test(row.cell('Published'))) return false
  woo.report.ignore('Regular price', 'An unpublished product without a price is left out', name)
  return true
}

/** Counts the cells of every column that is not taken over. */
export function ignoreColumns(rows: readonly WooRow[], sold: readonly WooRow[], { table, report }: WooContext): void {
  const simple = new Set(sold.filter(({ kind }) => kind === 'simple'))
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
  if (/^attribute \d+ (?:value\(s\)|default)$/.test(column)) return product.kind !== 'simple'
  return always.has(column)
}

function whyIgnored(column: string, kind: string): string {
  if (kind === 'variation' && ofProducts.has(column)) return 'A variation has none of its own'
  return reasons.find(([pattern]) => pattern.test(column))?.[1] ?? 'The shop has no place for this column'
}
