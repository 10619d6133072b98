import { firstInstant, isDay } from '../../../platform/days.ts'
import { toIso } from '../../../platform/iso-time.ts'
import type { GrantSpec } from '../grants.ts'
import { decimalText, isCheaper, isFalsy, isTruthy, splitList, stockCount, toTaxClass } from './csv-table.ts'
import type { Row, Table } from './csv-table.ts'
import { htmlToLine, htmlToText, embeddedIsIgnored, hasEmbedded, withParagraphs } from './html-text.ts'
import type { FileErrors, ReportBuilder } from './report.ts'
import type { TaxClass } from '../../tax/input.ts'
import { toGrams, toMillimetres, toUnitMeasure, unitOf } from './csv-table.ts'
import { toGtin } from './fields.ts'

export type WooContext = {
  table: Table
  currency: string
  timeZone: string
  slugsFrom: 'name' | 'sku'
  errors: FileErrors
  report: ReportBuilder
}

/** What the parts of the WooCommerce reader share. */
export type WooRow = { row: Row; kind: string; isVirtual: boolean; id: string; sku: string; name: string }

/** Splits the `Type` cell (`simple, downloadable, virtual`) and normalizes the name. */
export function toWooRow(row: Row): WooRow {
  const types = splitList(row.cell('Type').toLowerCase())
  return {
    row,
    kind: types.find((type) => type !== 'virtual' && type !== 'downloadable') ?? 'simple',
    isVirtual: types.includes('virtual'),
    id: row.cell('ID'),
    sku: row.cell('SKU'),
    name: htmlToLine(row.cell('Name'))
  }
}

/** The `Published` cell: 1 and empty mean published; 0 (private), -1 (draft) and 2 (pending) do not. */
export function publishedState(row: Row, { errors }: WooContext): 'published' | 'private' | 'draft' {
  const cell = row.cell('Published')
  if (cell === '' || isTruthy(cell)) return 'published'
  if (cell === '0') return 'private'
  if (!/^(?:-1|2|false|no)$/i.test(cell)) errors.add(row.line, 'Published', 'Must be 1, 0, -1 or 2.')
  return 'draft'
}

/**
 * Null when stock is not counted: WooCommerce does not manage it, or sells below zero. 0 for a product that is marked as
 * out of stock. `parent` when the variations share the product's stock.
 */
export function stockOf({ row, name }: WooRow, { report }: WooContext): number | string | null {
  const inStock = row.cell('In stock?').toLowerCase()
  const stock = row.cell('Stock').toLowerCase()
  const backorders = row.cell('Backorders allowed?').toLowerCase()
  if (isFalsy(inStock)) return 0
  if (inStock === 'backorder' || isTruthy(backorders) || backorders === 'notify') {
    if (stock !== '') report.ignore('Stock', 'The product is sold below zero, so its stock is not counted', name)
    return null
  }
  if (stock === '' || stock === 'parent') return stock || null
  return stockCount(stock)
}

/** Cells of a price, to be validated by the format. */
export type WooPrices = {
  price: string | undefined
  salePrice: string | null
  saleStart: string | null
  saleEnd: string | null
}

/** The regular price, and the sale price with its period when it is lower. Warns of how sale dates are read. */
export function pricesOf({ row, name }: WooRow, { currency, timeZone, report }: WooContext): WooPrices {
  const price = decimalText(row.cell('Regular price')) || undefined
  const sale = decimalText(row.cell('Sale price'))
  const none = { price, salePrice: null, saleStart: null, saleEnd: null }
  if (sale !== '' && price === undefined) report.ignore('Sale price', 'The regular price is missing', name)
  if (sale === '' || price === undefined) return none
  if (!isCheaper(sale, price, currency)) {
    report.ignore('Sale price', 'The sale price is not below the regular price')
    return none
  }
  const [saleStart, saleEnd] = ['Date sale price starts', 'Date sale price ends'].map((column) =>
    dateOf(row.cell(column), timeZone)
  )
  if (saleStart !== null || saleEnd !== null)
    report.warn(`The sale dates in this export have no time zone. They are read in the one of the shop, ${timeZone}.`)
  return { price, salePrice: sale, saleStart: saleStart ?? null, saleEnd: saleEnd ?? null }
}

/**
 * WooCommerce writes `2026-11-30 23:59:59` in the shop's time zone, which the export does not contain. A date without a
 * time, and an end in its last second, are the whole day. Other text is returned unchanged, so that the format refuses it.
 */
function dateOf(cell: string, timeZone: string): string | null {
  const [, day = '', hour, minute = '00', second = '00'] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(cell) ?? []
  if (!isDay(day)) return cell || null
  if (hour === undefined) return day
  const clock = `${hour.padStart(2, '0')}:${minute}:${second}`
  if (clock === '23:59:59') return day
  return Number.isNaN(Date.parse(`${day}T${clock}Z`)) ? cell : toIso(firstInstant(timeZone, `${day} ${clock}`))
}

/**
 * Short and long description as text and as HTML. The exporter writes a line break as `\n` and a literal `\n` as `\\n`.
 */
export function descriptionOf(
  { row, name }: WooRow,
  { report }: WooContext
): { description: string; descriptionHtml: string } {
  const parts = new Map<string, string>()
  for (const column of ['Short description', 'Description']) {
    const html = row.cell(column).replaceAll(/\\\\n|\\n/g, (written) => (written === '\\n' ? '\n' : '\\n'))
    const text = htmlToText(html)
    if (hasEmbedded(html)) report.ignore(column, embeddedIsIgnored, name)
    if (text !== '' && !parts.has(text)) parts.set(text, withParagraphs(html))
  }
  return { description: [...parts.keys()].join('\n\n'), descriptionHtml: [...parts.values()].join('\n') }
}

/** An attribute of a row. `name` is in lower case, `label` as written. */
export type WooAttribute = { name: string; label: string; values: string[]; standard: string }

/** A row's attributes. A variation's empty list of values means any value. */
export function attributesOf({ columns }: Table, row: Row): WooAttribute[] {
  return columns.flatMap((column) => {
    const number = /^attribute (\d+) name$/i.exec(column)?.[1]
    const label = number === undefined ? '' : row.cell(column)
    if (label === '') return []
    const values = splitList(row.cell(`Attribute ${number} value(s)`))
    return [{ name: label.toLowerCase(), label, values, standard: row.cell(`Attribute ${number} default`) }]
  })
}

/** The addresses in the `Images` cell, the main picture first. Others than http and https are left out and reported. */
export function imagesOf(row: Row, { report }: WooContext): { src: string }[] {
  const sources = splitList(row.cell('Images'))
  const isFetched = (src: string): boolean => /^https?:\/\//i.test(src) && URL.canParse(src)
  for (const _ of sources.filter((src) => !isFetched(src)))
    report.ignore('Images', 'Only http and https addresses are fetched')
  return [...new Set(sources.filter(isFetched))].map((src) => ({ src }))
}

/** The grants for a product's downloads. The files are named as in the URL; the operator copies them to the downloads folder. */
export function downloadsOf({ columns }: Table, row: Row): GrantSpec<'download'>[] {
  const expiry = row.cell('Download expiry days')
  const days = /^[1-9]\d{0,4}$/.test(expiry) ? Number(expiry) : null
  const files = columns.flatMap((column) => {
    const address = /^download \d+ url$/i.test(column) ? row.cell(column) : ''
    const file = downloadName(address)
    return file === undefined ? [] : [file]
  })
  return [...new Set(files)].map((file) => ({ kind: 'download', file, days }))
}

/** The name of a download's file in the downloads folder; undefined for an address without one. */
export function downloadName(address: string): string | undefined {
  const path = (URL.parse(address)?.pathname ?? address).split(/[\\/]/).at(-1) ?? ''
  try {
    const name = decodeURIComponent(path)
      .replaceAll(/[\\/:\p{Cc}]/gu, '')
      .trim()
    return name === '' || name === '.' || name === '..' ? undefined : name
  } catch (error) {
    // The percent sign does not start an escape sequence: it is part of the name.
    if (error instanceof URIError) return path.replaceAll(/[:\p{Cc}]/gu, '') || undefined
    throw error
  }
}

const gtinColumn = 'GTIN, UPC, EAN, or ISBN'
/** Fields of SEO plugins: Yoast, Rank Math and SEOPress. */
const seoTitles = ['Meta: _yoast_wpseo_title', 'Meta: rank_math_title', 'Meta: _seopress_titles_title']
const seoDescriptions = ['Meta: _yoast_wpseo_metadesc', 'Meta: rank_math_description', 'Meta: _seopress_titles_desc']
/** WooCommerce has its own column since version 9.2; before, plugins such as Germanized had theirs. */
const gtins = [
  gtinColumn,
  'GTIN',
  ...['_global_unique_id', '_ts_gtin', '_wpm_gtin_code', '_alg_ean', '_wc_gla_gtin'].map((key) => `Meta: ${key}`)
]
/** Of Germanized, in the columns of its own and as meta values, and of Google for WooCommerce. */
const mpns = ['MPN', 'Meta: _ts_mpn', 'Meta: _wc_gla_mpn']
/**
 * What the law of product safety asks for: columns of Germanized, German Market (marketpress.de, meta keys of its
 * documentation), and fields of the shop's own.
 */
const safetyColumns = {
  manufacturer: ['Manufacturer', 'Meta: _german_market_gpsr_manufacturer', 'Meta: manufacturer'],
  responsiblePerson: ['Responsible person', 'Meta: _german_market_gpsr_responsible_person', 'Meta: responsible_person'],
  safetyInfo: [
    'Safety instructions',
    'Meta: _safety_instructions',
    'Meta: _german_market_gpsr_warnings_and_safety_information',
    'Meta: safety_info'
  ]
} as const satisfies Record<string, readonly string[]>
const units = ['Unit', 'Meta: _unit']
const amounts = ['Unit product', 'Meta: _unit_product']

const measure = /^(weight|length|width|height) \(/i

const read = new Set(
  [
    seoTitles,
    seoDescriptions,
    gtins,
    mpns,
    units,
    amounts,
    ...Object.values(safetyColumns),
    ['Brands', 'Tax status', 'Tax class']
  ]
    .flat()
    .map((name) => name.toLowerCase())
)

/** Whether `factsOf` reads a column, given in lower case. */
export function isFact(column: string): boolean {
  return read.has(column) || measure.test(column)
}

/** Weight, size, brand, codes, content and texts for search engines; fields without a column are left out. */
export function factsOf(product: WooRow, children: readonly WooRow[], woo: WooContext): Record<string, unknown> {
  const { table } = woo
  const [brand = null] = product.row.cell('Brands').split(/(?<!\\),|>/)
  return {
    ...measuresOf(product, children, woo),
    ...taxOf(product, woo),
    ...(table.has('Brands') ? { brand: brand?.replaceAll('\\,', ',').trim() || null } : {}),
    ...(gtins.some(table.has) ? { gtin: gtinOf(product, woo) } : {}),
    ...(mpns.some(table.has) ? { mpn: mpnOf(product) } : {}),
    ...(amounts.some(table.has) ? { unitMeasure: unitMeasureOf(product, woo) } : {}),
    ...safetyOf(product, woo),
    ...textOf('seoTitle', seoTitles, product, woo),
    ...textOf('seoDescription', seoDescriptions, product, woo)
  }
}

function safetyOf({ row }: WooRow, { table }: WooContext): Record<string, string | null> {
  const known = Object.entries(safetyColumns).filter(([, columns]) => columns.some(table.has))
  return Object.fromEntries(known.map(([field, columns]) => [field, htmlToText(firstOf(row, columns)) || null]))
}

function taxOf({ row, name }: WooRow, { table, report }: WooContext): { taxClass?: TaxClass } {
  if (!table.has('Tax status') && !table.has('Tax class')) return {}
  // `shipping` means that only its shipping is taxed.
  if (/^(?:none|shipping)$/i.test(row.cell('Tax status'))) return { taxClass: 'zero' }
  const taxClass = toTaxClass(row.cell('Tax class'))
  if (taxClass === undefined) report.ignore('Tax class', 'The shop has no such tax class, so standard is used', name)
  return { taxClass: taxClass ?? 'standard' }
}

/** The GTIN of a product or variation; null without a valid one. */
export function gtinOf({ row, name }: WooRow, { report }: WooContext): string | null {
  const column = gtins.find((each) => row.cell(each) !== '')
  if (column === undefined) return null
  const gtin = toGtin(row.cell(column))
  if (gtin === undefined) report.ignore(column, 'This is not a GTIN, EAN, UPC or ISBN', name)
  return gtin ?? null
}

/** The maker's number of a product or variation; null without one. */
export function mpnOf({ row }: WooRow): string | null {
  return firstOf(row, mpns) || null
}

/** How much a product or variation contains; null if that is not known. A variation has the unit of its product. */
export function unitMeasureOf(of: WooRow, { report }: WooContext, product: WooRow = of): string | null {
  const unit = firstOf(of.row, units) || firstOf(product.row, units)
  const measure = toUnitMeasure(firstOf(of.row, amounts), unit)
  if (measure === undefined) report.ignore('Unit', 'The unit or the number is unknown', of.name)
  return measure ?? null
}

/** The first cell that is not empty. */
function firstOf(row: Row, columns: readonly string[]): string {
  return columns.map((column) => row.cell(column)).find((cell) => cell !== '') ?? ''
}

/** A product's own weight and size. Its variations have weights of their own, but no sizes. */
function measuresOf(product: WooRow, children: readonly WooRow[], woo: WooContext): Record<string, number | null> {
  const found = woo.table.columns.flatMap((column): [string, number | null][] => {
    const kind = measure.exec(column)?.[1]?.toLowerCase()
    if (kind === undefined) return []
    if (kind === 'weight') return [['weightGrams', measureOf(product, column, woo)]]
    for (const { row } of children) {
      if (row.cell(column) !== '') woo.report.ignore(column, 'Variations do not have their own size')
    }
    return [[`${kind}Mm`, measureOf(product, column, woo)]]
  })
  return Object.fromEntries(found)
}

/** The weight of a variation; null for the weight of its product. */
export function weightOf(variation: WooRow, woo: WooContext): number | null {
  const column = woo.table.columns.find((each) => /^weight \(/i.test(each))
  return column === undefined ? null : measureOf(variation, column, woo)
}

function measureOf({ row, name }: WooRow, column: string, { table, report }: WooContext): number | null {
  const unit = unitOf(table.titleOf(column))
  const convert = /^weight/i.test(column) ? toGrams : toMillimetres
  const value = convert(row.cell(column), unit)
  if (value === undefined) report.ignore(column, 'The unit or the number is unknown', name)
  return value ?? null
}

/** A text of an SEO plugin. A template such as `%%title%% %%sep%%` is not the product's own text. */
function textOf(
  field: 'seoTitle' | 'seoDescription',
  columns: readonly string[],
  { row, name }: WooRow,
  { table, report }: WooContext
): Record<string, string | null> {
  if (!columns.some(table.has)) return {}
  const column = columns.find((each) => row.cell(each) !== '')
  const text = column === undefined ? '' : row.cell(column).replaceAll(/\s+/g, ' ')
  const isTemplate = /%%?[a-z_]+%%?/i.test(text)
  if (isTemplate && column !== undefined) report.ignore(column, 'The text is a template of the plugin', name)
  return { [field]: text === '' || isTemplate || isFalsy(text) ? null : text }
}
