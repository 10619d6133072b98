import { categoryPaths, splitList } from './csv-table.ts'
import type { Table } from './csv-table.ts'
import type { Draft, Source } from './report.ts'
import { unpricedIsUnpublished } from './report.ts'
import { slugFor, UniqueNames } from './slug.ts'
import {
  factsOf,
  descriptionOf,
  downloadsOf,
  imagesOf,
  pricesOf,
  publishedState,
  stockOf,
  toWooRow,
  isFact
} from './woocommerce-row.ts'
import type { WooContext, WooRow } from './woocommerce-row.ts'
import { groupVariations, readVariations } from './woocommerce-variations.ts'

/** Recognises WooCommerce's product export by its columns. */
export function isWooCommerce(table: Table): boolean {
  const isOwn = ['SKU', 'ID', 'Regular price'].some((column) => table.has(column))
  return table.has('Type') && table.has('Name') && isOwn && !table.has('price')
}

/**
 * Reads the products of WooCommerce's product export: simple products, and variable products with their variations,
 * which may come before their parent. WooCommerce's own export has no column `Slug`: without it, slugs are derived from the
 * SKU or from the name. Errors and ignored cells go to `context`.
 */
export function readWooCommerce(table: Table, context: Omit<WooContext, 'table'>): Draft[] {
  const woo = { ...context, table }
  const rows = table.rows.map(toWooRow)
  const products = rows.filter(({ kind }) => kind !== 'variation')
  const children = groupVariations(rows, products, woo)
  const imported = products.filter((product) => !skipUnsupported(product, children.get(product)?.length ?? 0, woo))
  ignoreColumns(rows, imported, woo)
  const file = { slugs: new UniqueNames(), skus: countSkus(imported), positions: positionsOf(imported, woo) }
  return imported.map((product) => readProduct(product, children.get(product) ?? [], file, woo))
}

/** What the products of a file share. */
type WooFile = {
  slugs: UniqueNames
  skus: ReadonlyMap<string, number>
  positions: ReadonlyMap<WooRow, number>
}

function countSkus(products: readonly WooRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { sku } of products) counts.set(sku, (counts.get(sku) ?? 0) + 1)
  return counts
}

function readProduct(product: WooRow, children: readonly WooRow[], file: WooFile, woo: WooContext): Draft {
  const { row, sku, name, id } = product
  const { table } = woo
  const text = woo.slugsFrom === 'name' ? name || sku : sku || name
  const slug = file.slugs.take(slugFor(row.cell('Slug') || text), id || `${sku} ${name}`)
  const isVariable = product.kind === 'variable'
  const body = isVariable ? readVariations(product, children, slug, woo) : plainParts(product, woo)
  const value = {
    slug,
    name,
    ...ifPresent(table, ['SKU'], { sku: sku || null }),
    ...ifPresent(table, ['Description', 'Short description'], descriptionOf(product, woo)),
    ...factsOf(product, children, woo),
    ...ifPresent(table, ['Categories'], { categories: categoriesOf(product) }),
    ...ifPresent(table, ['Tags'], { tags: splitList(row.cell('Tags')) }),
    ...ifPresent(table, ['Images'], { images: imagesOf(row, woo) }),
    ...ifPresent(table, ['Published', 'Visibility in catalog'], { published: isListed(product, woo) }),
    ...(file.positions.has(product) ? { position: file.positions.get(product) } : {}),
    ...body.value
  }
  if (body.unpriced) woo.report.unpublish(unpricedIsUnpublished, name)
  const source = { line: row.line, columns: productColumns(sku) }
  const marks = { unpriced: body.unpriced, foundBySku: file.skus.get(sku) === 1 }
  return { value, source, variations: body.sources, marks }
}

function plainParts(product: WooRow, woo: WooContext) {
  const { row } = product
  const stock = stockOf(product, woo)
  const grants = downloadsOf(woo.table, row)
  if (grants.length > 0) {
    const files = grants.map(({ file }) => file).join(', ')
    woo.report.warn(`Line ${row.line}: the product has the download ${files}. Copy it to the downloads folder.`)
  }
  const { price, ...sale } = pricesOf(product, woo)
  const value = {
    price: price ?? 0,
    ...sale,
    ...ifPresent(woo.table, ['Stock', 'In stock?'], { stock: stock === 'parent' ? null : stock }),
    ...ifPresent(woo.table, ['Type'], { type: product.isVirtual ? 'digital' : 'physical' }),
    variations: [],
    ...(grants.length > 0 ? { grants } : {})
  }
  return { value, sources: [], unpriced: price === undefined }
}

function productColumns(sku: string): Source['columns'] {
  return {
    slug: sku === '' ? 'Name' : 'SKU',
    name: 'Name',
    description: 'Description',
    descriptionHtml: 'Description',
    sku: 'SKU',
    brand: 'Brands',
    mpn: 'MPN',
    unitMeasure: 'Unit product',
    price: 'Regular price',
    salePrice: 'Sale price',
    saleStart: 'Date sale price starts',
    saleEnd: 'Date sale price ends',
    stock: 'Stock',
    categories: 'Categories',
    tags: 'Tags',
    images: 'Images',
    position: 'Position',
    grants: 'Download 1 URL'
  }
}

/** Leaves out fields without a column, so that importing a part of an export keeps the product's other fields. */
function ifPresent<T extends object>(table: Table, columns: readonly string[], fields: T): T | object {
  return columns.some((column) => table.has(column)) ? fields : {}
}

function categoriesOf({ row }: WooRow): string[] {
  return categoryPaths(splitList(row.cell('Categories')))
}

/** A product that WooCommerce hides from its catalog must not appear in the offers. */
function isListed({ row, name }: WooRow, woo: WooContext): boolean {
  const isPublished = publishedState(row, woo) === 'published'
  const isHidden = row.cell('Visibility in catalog').toLowerCase() === 'hidden'
  if (!isPublished) woo.report.unpublish('Not published in WooCommerce', name)
  else if (isHidden) woo.report.unpublish('Hidden from the catalog in WooCommerce', name)
  return isPublished && !isHidden
}

/** WooCommerce's menu order, when the shop uses it. It may be negative, so it is shifted to start at 0. */
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

const always = new Set([
  'id',
  'slug',
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
