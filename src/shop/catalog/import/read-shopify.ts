import type { ProductType } from '../product-types.ts'
import { withoutMisfits } from '../grants.ts'
import type { OptionValues } from '../grants.ts'
import type { Row, Table } from './csv-table.ts'
import type { Draft, Source, FileErrors, ReportBuilder } from './report.ts'
import { embeddedIsIgnored, hasEmbedded, htmlToLine, htmlToText } from './html-text.ts'
import {
  categoryPaths,
  decimalText,
  isCheaper,
  isFalsy,
  isTruthy,
  splitList,
  stockCount,
  toGrams,
  toUnitMeasure
} from './csv-table.ts'
import type { TaxClass } from '../../tax/input.ts'
import { refuseFile, repeatedSkus } from './report.ts'
import { toGtin } from './fields.ts'
import { slugPattern } from '../../../platform/input-fields.ts'
import { slugFor, UniqueNames } from './slug.ts'

/** The column of each field: its name in exports up to 2024, and the new name since. */
const headers = {
  handle: ['Handle', 'URL handle'],
  title: ['Title'],
  description: ['Body (HTML)', 'Description'],
  category: ['Product Category', 'Standardized Product Type', 'Standard Product Type'],
  type: ['Type', 'Custom Product Type'],
  tags: ['Tags'],
  published: ['Published', 'Published on online store'],
  status: ['Status'],
  name1: ['Option1 Name'],
  name2: ['Option2 Name'],
  name3: ['Option3 Name'],
  option1: ['Option1 Value'],
  option2: ['Option2 Value'],
  option3: ['Option3 Value'],
  sku: ['Variant SKU', 'SKU'],
  tracker: ['Variant Inventory Tracker', 'Inventory tracker'],
  quantity: ['Variant Inventory Qty', 'Inventory quantity'],
  policy: ['Variant Inventory Policy', 'Continue selling when out of stock'],
  price: ['Variant Price', 'Price'],
  compareAt: ['Variant Compare At Price', 'Compare-at price'],
  shipping: ['Variant Requires Shipping', 'Requires shipping'],
  giftCard: ['Gift Card', 'Gift card'],
  vendor: ['Vendor'],
  grams: ['Variant Grams', 'Weight value (grams)'],
  gramsUnit: ['Variant Weight Unit', 'Weight unit for display'],
  taxable: ['Variant Taxable', 'Charge tax'],
  barcode: ['Variant Barcode', 'Barcode'],
  mpn: ['Google Shopping / MPN'],
  manufacturer: ['Manufacturer (product.metafields.custom.manufacturer)'],
  responsiblePerson: ['Responsible person (product.metafields.custom.responsible_person)'],
  safetyInfo: ['Safety information (product.metafields.custom.safety_info)'],
  content: ['Unit Price Total Measure'],
  contentUnit: ['Unit Price Total Measure Unit'],
  seoTitle: ['SEO Title', 'SEO title'],
  seoDescription: ['SEO Description', 'SEO description'],
  image: ['Image Src', 'Product image URL'],
  imagePosition: ['Image Position', 'Image position'],
  imageAlt: ['Image Alt Text', 'Image alt text'],
  variantImage: ['Variant Image', 'Variant image URL']
} as const

type Field = keyof typeof headers
const fields = Object.keys(headers).filter((name): name is Field => name in headers)

export type ShopifyContext = { currency: string; errors: FileErrors; report: ReportBuilder }
type Reading = ShopifyContext & {
  table: Table
  /** The name of a field's column in this file. */
  column: (field: Field) => string
  cell: (row: Row, field: Field) => string
}

/** Whether Shopify's product export has a column of this name that the import reads. */
export function isShopifyColumn(name: string): boolean {
  return fields.some((field) => headers[field].some((header) => header.toLowerCase() === name.toLowerCase()))
}

/** Recognises Shopify's product export by its columns. */
export function isShopify(table: Table): boolean {
  return table.has('Handle') ? table.has('Title') : table.has('URL handle') || table.has('Option1 Value')
}

/**
 * Reads the products of Shopify's product export. Rows with the same handle are one product with its variants. Errors and
 * ignored cells go to `context`.
 */
export function readShopify(table: Table, context: ShopifyContext): Draft[] {
  const column = (field: Field) => headers[field].find((name) => table.has(name)) ?? headers[field][0]
  if (!table.has(column('price'))) refuseFile(1, column('price'), noPrices)
  const reading = {
    ...context,
    table,
    column,
    cell: (row: Row, field: Field) => plainCell(row.cell(column(field)), field)
  }
  ignoreColumns(reading)
  const slugs = new UniqueNames()
  return [...groupByHandle(reading)].flatMap(([handle, rows]) => readProduct(handle, rows, slugs, reading))
}

const noPrices = 'The file does not have this column. Export the products from Shopify with all columns.'

/** Shopify writes an apostrophe before a SKU or barcode of digits, so that spreadsheets keep its zeros. */
function plainCell(cell: string, field: Field): string {
  return field === 'sku' || field === 'barcode' || field === 'mpn' ? cell.replace(/^'(?=\d+$)/, '') : cell
}

function ignoreColumns({ table, column, report }: Reading): void {
  const used = new Set(fields.map((field) => column(field).toLowerCase()))
  for (const name of table.columns.filter((name) => !used.has(name.toLowerCase()))) {
    for (const row of table.rows) {
      const cell = row.cell(name)
      if (cell !== '' && !isFalsy(cell)) report.ignore(name, whyIgnored(name))
    }
  }
}

function whyIgnored(column: string): string {
  if (/ \/ /.test(column) && /^(?:price|compare|included)/i.test(column)) return 'Only one market is supported'
  return /\.metafields\./.test(column) ? 'Metafields are not supported' : 'This column is not supported'
}

/** A row without a handle is grouped by its title; a row with neither belongs to the product above it. */
function groupByHandle({ table, cell, column, errors }: Reading): Map<string, [Row, ...Row[]]> {
  const groups = new Map<string, [Row, ...Row[]]>()
  let handle = ''
  for (const row of table.rows) {
    const title = cell(row, 'title')
    handle = cell(row, 'handle') || (title === '' ? handle : slugFor(title))
    const rows = groups.get(handle)
    if (handle === '') errors.add(row.line, column('handle'), 'Must not be empty.')
    else if (rows) rows.push(row)
    else groups.set(handle, [row])
  }
  return groups
}

function readProduct(handle: string, rows: [Row, ...Row[]], slugs: UniqueNames, reading: Reading): Draft[] {
  const { cell, column, table, report, errors } = reading
  const head = rows.find((row) => cell(row, 'title') !== '') ?? rows[0]
  const name = htmlToLine(cell(head, 'title'))
  if (rows.some((row) => isTruthy(cell(row, 'giftCard')))) {
    report.ignore(column('giftCard'), 'Gift cards are not supported', name)
    return []
  }
  const variants = rows.filter((row) => (['price', 'sku', 'option1'] as const).some((field) => cell(row, field) !== ''))
  if (variants.length === 0) errors.add(head.line, column('price'), 'Is required.')
  const [first] = variants
  if (!first) return []
  const isPlain = variants.length === 1 && /^(?:|default title)$/i.test(cell(first, 'option1'))
  const body = isPlain
    ? plainParts(first, reading)
    : { stock: null, variations: variations(handle, rows, variants, reading) }
  const value = {
    slug: slugs.take(slugOf(handle, name, reading), handle),
    name,
    ...factsOf(head, variants, name, reading),
    ...categoriesAndTags(head, reading),
    ...(table.has(column('shipping')) ? { type: shippingType(variants, reading) } : {}),
    ...(table.has(column('image')) ? { images: imagesIn(rows, reading) } : {}),
    published: isPublished(head, name, reading),
    ...withWeights(body, variants, name, reading)
  }
  const source = { line: isPlain && head !== first ? first.line : head.line, columns: productColumns(column) }
  const variantSources = variants.map(({ line }) => ({ line, columns: variantColumns(column) }))
  return [{ value, source, variations: variantSources }]
}

function slugOf(handle: string, name: string, { column, report }: Reading): string {
  if (slugPattern.test(handle)) return handle
  report.ignore(
    column('handle'),
    'The address has other characters than a to z, digits and hyphens, so it changes',
    name
  )
  return slugFor(handle)
}

function productColumns(column: (field: Field) => string): Source['columns'] {
  return {
    ...variantColumns(column),
    slug: column('handle'),
    name: column('title'),
    description: column('description'),
    descriptionHtml: column('description'),
    brand: column('vendor')
  }
}

function variantColumns(column: (field: Field) => string): Source['columns'] {
  return {
    name: column('option1'),
    options: column('option1'),
    gtin: column('barcode'),
    mpn: column('mpn'),
    unitMeasure: column('content'),
    weightGrams: column('grams'),
    price: column('price'),
    salePrice: column('price'),
    stock: column('quantity'),
    sku: column('sku'),
    categories: column('type'),
    tags: column('tags')
  }
}

/** What the law of product safety asks for, in metafields of these names. */
const safetyFields = ['manufacturer', 'responsiblePerson', 'safetyInfo'] as const

/** Description, brand, tax class and texts for search engines of a product; fields without a column are left out. */
function factsOf(head: Row, variants: readonly Row[], name: string, reading: Reading): Record<string, unknown> {
  const { cell, column, table, report } = reading
  const html = cell(head, 'description')
  if (hasEmbedded(html)) report.ignore(column('description'), embeddedIsIgnored, name)
  const texts = { brand: 'vendor', seoTitle: 'seoTitle', seoDescription: 'seoDescription' } as const
  const present = Object.entries(texts).filter(([, field]) => table.has(column(field)))
  return {
    ...(table.has(column('description')) ? { description: htmlToText(html), descriptionHtml: html } : {}),
    ...Object.fromEntries(present.map(([name, field]) => [name, cell(head, field).replaceAll(/\s+/g, ' ') || null])),
    ...Object.fromEntries(
      safetyFields
        .filter((field) => table.has(column(field)))
        .map((field) => [field, htmlToText(cell(head, field)) || null])
    ),
    ...(table.has(column('taxable')) ? { taxClass: taxClassOf(variants, reading) } : {})
  }
}

/** A product has one tax class; it is free of tax if none of its variants is taxed. */
function taxClassOf(variants: readonly Row[], { cell }: Reading): TaxClass {
  return variants.every((row) => isFalsy(cell(row, 'taxable'))) ? 'zero' : 'standard'
}

function categoriesAndTags(head: Row, { cell, column, table }: Reading): { categories?: string[]; tags?: string[] } {
  const categories = categoryPaths([cell(head, 'type'), cell(head, 'category')])
  const hasCategories = table.has(column('type')) || table.has(column('category'))
  return {
    ...(hasCategories ? { categories } : {}),
    ...(table.has(column('tags')) ? { tags: splitList(cell(head, 'tags')) } : {})
  }
}

/** An empty cell means published. A draft or archived product is not published, whatever its sales channel is. */
function isPublished(head: Row, name: string, { cell, column, errors, report }: Reading): boolean {
  const status = cell(head, 'status').toLowerCase()
  if (!/^(?:|active|draft|archived|unlisted)$/.test(status)) {
    errors.add(head.line, column('status'), 'Must be active, draft, archived or unlisted.')
  }
  const published = cell(head, 'published')
  if (published !== '' && !isTruthy(published) && !isFalsy(published)) {
    errors.add(head.line, column('published'), 'Must be true or false.')
  }
  const isListed = (status === '' || status === 'active') && !isFalsy(published)
  if (!isListed) report.unpublish('Not active or not published in Shopify', name)
  return isListed
}

function shippingType(variants: readonly Row[], { cell }: Reading): ProductType {
  return variants.every((row) => isFalsy(cell(row, 'shipping'))) ? 'digital' : 'physical'
}

function plainParts(row: Row, reading: Reading): { variations: object[] } & Record<string, unknown> {
  const sku = reading.cell(row, 'sku') || null
  return { sku, ...codesOf(row, reading), ...prices(row, reading), stock: stock(row, reading), variations: [] }
}

/** Shopify weighs each variant. If all weigh the same, the product has the weight. */
function withWeights<T extends { variations: object[] }>(
  body: T,
  variants: readonly Row[],
  name: string,
  reading: Reading
): T & { weightGrams?: number | null } {
  if (!reading.table.has(reading.column('grams'))) return body
  const weights = variants.map((row) => weightOf(row, name, reading))
  const [weightGrams = null] = weights
  if (new Set(weights).size === 1) return { ...body, weightGrams }
  const variations = body.variations.map((variation, index) => ({ ...variation, weightGrams: weights[index] }))
  return { ...body, weightGrams: null, variations }
}

function variations(
  handle: string,
  rows: readonly Row[],
  variants: readonly Row[],
  reading: Reading
): Record<string, unknown>[] {
  const { cell, report } = reading
  const skus = new UniqueNames()
  const optionValues = optionsOf(rows, variants, reading)
  return variants.map((row, index) => {
    const options = (['option1', 'option2', 'option3'] as const).map((field) => cell(row, field)).filter(Boolean)
    const sku = cell(row, 'sku') || slugFor([handle, ...options].join(' '))
    const unique = skus.take(sku, [...options, sku].join(' '))
    if (unique !== sku) report.warnOf(repeatedSkus, handle)
    const name = options.join(' / ')
    return {
      sku: unique,
      name,
      options: optionValues[index],
      ...prices(row, reading),
      stock: stock(row, reading),
      ...codesOf(row, reading),
      ...(cell(row, 'variantImage') === '' ? {} : { images: variantImage(row, reading) })
    }
  })
}

/** If the compare-at price is higher, it is the regular price and the price is a sale price. */
function prices(
  row: Row,
  { cell, column, currency, report }: Reading
): { price: string | undefined; salePrice: string | null } {
  const price = decimalText(cell(row, 'price'))
  const compareAt = decimalText(cell(row, 'compareAt'))
  const isZero = /^0*(?:\.0*)?$/.test(compareAt)
  if (isZero || price === '') return { price: price || undefined, salePrice: null }
  if (isCheaper(price, compareAt, currency)) return { price: compareAt, salePrice: price }
  report.ignore(column('compareAt'), 'The compare-at price is not above the price')
  return { price, salePrice: null }
}

/** Shopify leaves quantities out of the product export of a shop with several locations. */
const noQuantity = 'Shopify tracks this stock, but the file has no quantity, so the stock is not counted'

/** Stock is counted only when Shopify tracks it and stops selling at zero. */
function stock(row: Row, { cell, column, table, report }: Reading): number | string | null {
  const quantity = cell(row, 'quantity')
  const isOversold = /^(?:continue|true|yes)$/i.test(cell(row, 'policy'))
  const isTracked = table.has(column('tracker')) ? cell(row, 'tracker') !== '' : quantity !== ''
  if (isTracked && !isOversold) {
    if (quantity !== '') return stockCount(quantity)
    report.ignore(column('quantity'), noQuantity)
    return null
  }
  if (quantity !== '') report.ignore(column('quantity'), 'Shopify does not track this stock, or sells below zero')
  return null
}

/** The weight of a variant in grams; null without one, for which Shopify writes 0. */
function weightOf(row: Row, name: string, { cell, column, report }: Reading): number | null {
  const grams = toGrams(cell(row, 'grams'), 'g')
  if (grams === undefined) report.ignore(column('grams'), 'This is not a number', name)
  return grams || null
}

/** The GTIN, the maker's number and the content of a variant; fields without a column are left out. */
function codesOf(row: Row, reading: Reading): Record<string, string | null> {
  const { cell, column, table, report } = reading
  const unitMeasure = toUnitMeasure(cell(row, 'content'), cell(row, 'contentUnit'))
  if (unitMeasure === undefined) report.ignore(column('content'), 'The unit or the number is unknown')
  return {
    gtin: gtinOf(row, reading),
    ...(table.has(column('mpn')) ? { mpn: cell(row, 'mpn') || null } : {}),
    ...(table.has(column('content')) ? { unitMeasure: unitMeasure ?? null } : {})
  }
}

/** The GTIN of a variant; null without a valid one. */
function gtinOf(row: Row, { cell, column, report }: Reading): string | null {
  const text = cell(row, 'barcode')
  const gtin = toGtin(text)
  if (text !== '' && gtin === undefined) report.ignore(column('barcode'), 'This is not a GTIN, EAN, UPC or ISBN')
  return gtin ?? null
}

/** The options of each variant. Only the first row of a product has the names of its options. */
function optionsOf(rows: readonly Row[], variants: readonly Row[], { cell }: Reading): OptionValues[] {
  const names = (['name1', 'name2', 'name3'] as const).map(
    (field, index) => rows.map((row) => cell(row, field)).find((name) => name !== '') ?? `Option ${index + 1}`
  )
  const options = variants.map((row) => {
    const values = (['option1', 'option2', 'option3'] as const).map((field) => cell(row, field))
    const named = names.map((name, index) => [name, values[index] ?? ''] as const)
    return Object.fromEntries(named.filter(([, value]) => value !== ''))
  })
  return withoutMisfits(options)
}

/** The pictures of a product, in the order of their positions. Each row of the product can name one. */
function imagesIn(rows: readonly Row[], reading: Reading): { src: string; alt: string }[] {
  const { cell } = reading
  const images = rows
    .map((row) => ({
      src: cell(row, 'image'),
      alt: cell(row, 'imageAlt'),
      position: Number(cell(row, 'imagePosition'))
    }))
    .filter(({ src }) => isFetched(src, 'image', reading))
  const sorted = images.toSorted((a, b) => (a.position || Infinity) - (b.position || Infinity) || 0)
  const first = new Map<string, { src: string; alt: string }>()
  for (const { src, alt } of sorted) if (!first.has(src)) first.set(src, { src, alt: alt.slice(0, 500) })
  return [...first.values()].slice(0, 100)
}

/** The picture of a variant. */
function variantImage(row: Row, reading: Reading): { src: string }[] {
  const src = reading.cell(row, 'variantImage')
  return isFetched(src, 'variantImage', reading) ? [{ src }] : []
}

function isFetched(src: string, field: 'image' | 'variantImage', { column, report }: Reading): boolean {
  if (src === '') return false
  const fetched = /^https?:\/\//i.test(src) && URL.canParse(src)
  if (!fetched) report.ignore(column(field), 'Only http and https addresses are fetched')
  return fetched
}
