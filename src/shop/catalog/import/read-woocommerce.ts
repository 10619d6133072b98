import { splitCategories, splitList } from './cells.ts'
import type { Table } from './csv-table.ts'
import type { Draft, Source } from './drafts.ts'
import { slugFor, UniqueNames } from './slug.ts'
import { ignoreColumns, skipUnsold } from './woocommerce-ignored.ts'
import { descriptionOf, downloadsOf, pricesOf, publishedState, stockOf, toWooRow } from './woocommerce-row.ts'
import type { WooContext, WooRow } from './woocommerce-row.ts'
import { groupVariations, readVariations } from './woocommerce-variations.ts'

export function isWooCommerce(table: Table): boolean {
  return table.has('Type') && table.has('Name') && ['SKU', 'ID', 'Regular price'].some((column) => table.has(column))
}

/**
 * Puts the products of WooCommerce's product export together: simple products, and variable ones with their
 * variations, which may stand before their parent. The export has no slugs: they are made of the SKU, or else the name.
 */
export function readWooCommerce(table: Table, context: Omit<WooContext, 'table'>): Draft[] {
  const woo = { ...context, table }
  const rows = table.rows.map(toWooRow)
  const products = rows.filter(({ kind }) => kind !== 'variation')
  const children = groupVariations(rows, products, woo)
  const sold = products.filter((product) => !skipUnsold(product, children.get(product)?.length ?? 0, woo))
  ignoreColumns(rows, sold, woo)
  const slugs = new UniqueNames()
  const positions = positionsOf(sold, woo)
  return sold.map((product) => readProduct(product, children.get(product) ?? [], slugs, positions, woo))
}

function readProduct(
  product: WooRow,
  children: readonly WooRow[],
  slugs: UniqueNames,
  positions: ReadonlyMap<WooRow, number>,
  woo: WooContext
): Draft {
  const { row, sku, name, id } = product
  const { table } = woo
  const slug = slugs.take(slugFor(sku || name), id || `${sku} ${name}`)
  const isVariable = product.kind === 'variable'
  const body = isVariable
    ? readVariations(product, children, slug, woo)
    : { value: plainParts(product, woo), sources: [] }
  const value = {
    slug,
    name,
    ...given(table, ['Description', 'Short description'], { description: descriptionOf(row) }),
    ...given(table, ['Categories'], { categories: categoriesOf(product) }),
    ...given(table, ['Tags'], { tags: splitList(row.cell('Tags')) }),
    ...given(table, ['Published', 'Visibility in catalog'], { published: isListed(product, woo) }),
    ...(positions.has(product) ? { position: positions.get(product) } : {}),
    ...body.value
  }
  return { value, source: { line: row.line, columns: productColumns(sku) }, variations: body.sources }
}

function plainParts(product: WooRow, woo: WooContext): Record<string, unknown> {
  const { row } = product
  const stock = stockOf(row)
  const grants = downloadsOf(woo.table, row)
  if (grants.length > 0) {
    const files = grants.map(({ file }) => file).join(', ')
    woo.report.warn(`Line ${row.line}: the product gives ${files}, to be put into the downloads folder.`)
  }
  return {
    ...pricesOf(row, woo),
    ...given(woo.table, ['Stock', 'In stock?'], { stock: stock === 'parent' ? null : stock }),
    ...given(woo.table, ['Type'], { type: product.isVirtual ? 'digital' : 'physical' }),
    variations: [],
    ...(grants.length > 0 ? { grants } : {})
  }
}

function productColumns(sku: string): Source['columns'] {
  return {
    slug: sku === '' ? 'Name' : 'SKU',
    name: 'Name',
    description: 'Description',
    price: 'Regular price',
    salePrice: 'Sale price',
    saleStart: 'Date sale price starts',
    saleEnd: 'Date sale price ends',
    stock: 'Stock',
    categories: 'Categories',
    tags: 'Tags',
    position: 'Position',
    grants: 'Download 1 URL'
  }
}

/** What a file has no column for it says nothing of, so that importing part of an export leaves the rest as it was. */
function given<T extends object>(table: Table, columns: readonly string[], fields: T): T | object {
  return columns.some((column) => table.has(column)) ? fields : {}
}

function categoriesOf({ row }: WooRow): string[] {
  const names = splitCategories(splitList(row.cell('Categories')))
  return names.filter((name) => name.toLowerCase() !== 'uncategorized')
}

/** A product that WooCommerce keeps out of its catalogue must not turn up among the offers. */
function isListed({ row, name }: WooRow, woo: WooContext): boolean {
  const isPublished = publishedState(row, woo) === 'published'
  if (!isPublished || row.cell('Visibility in catalog').toLowerCase() !== 'hidden') return isPublished
  woo.report.warn(`Line ${row.line}: ${name} is hidden from the catalogue there, so it is not published here.`)
  return false
}

/** WooCommerce's menu order, when the shop uses it; moved up so that the lowest is 0, since it may be negative. */
function positionsOf(products: readonly WooRow[], { errors }: WooContext): Map<WooRow, number> {
  const orders = new Map<WooRow, number>()
  for (const product of products) {
    const cell = product.row.cell('Position')
    if (/^-?\d{1,9}$/.test(cell)) orders.set(product, Number(cell))
    else if (cell !== '') errors.add(product.row.line, 'Position', 'Must be a whole number.')
  }
  const values = [...orders.values()]
  if (values.every((order) => order === 0)) return new Map()
  const lowest = values.reduce((lowest, order) => Math.min(lowest, order), 0)
  return new Map([...orders].map(([product, order]) => [product, order - lowest]))
}
