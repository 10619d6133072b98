import { isFalsy, toTaxClass } from './cells.ts'
import type { TaxClass } from '../../tax/input.ts'
import { toGrams, toGtin, toMillimetres, unitOf } from './measures.ts'
import type { WooContext, WooRow } from './woocommerce-row.ts'

const gtinColumn = 'GTIN, UPC, EAN, or ISBN'
/** Fields of SEO plugins: Yoast, Rank Math and SEOPress. */
const seoTitles = ['Meta: _yoast_wpseo_title', 'Meta: rank_math_title', 'Meta: _seopress_titles_title']
const seoDescriptions = ['Meta: _yoast_wpseo_metadesc', 'Meta: rank_math_description', 'Meta: _seopress_titles_desc']
/** WooCommerce has its own column since version 9.2; before, plugins such as Germanized had theirs. */
const gtins = [gtinColumn, 'Meta: _global_unique_id', 'Meta: _ts_gtin', 'Meta: _wpm_gtin_code', 'Meta: _alg_ean']

const measure = /^(weight|length|width|height) \(/i

const read = new Set(
  [...seoTitles, ...seoDescriptions, ...gtins, 'Brands', 'Tax status', 'Tax class'].map((name) => name.toLowerCase())
)

/** Whether `factsOf` reads a column, given in lower case. */
export function isFact(column: string): boolean {
  return read.has(column) || measure.test(column)
}

/** Weight, size, brand, GTIN and texts for search engines; fields without a column are left out. */
export function factsOf(product: WooRow, children: readonly WooRow[], woo: WooContext): Record<string, unknown> {
  const { table } = woo
  const [brand = null] = product.row.cell('Brands').split(/(?<!\\),|>/)
  return {
    ...measuresOf(product, children, woo),
    ...taxOf(product, woo),
    ...(table.has('Brands') ? { brand: brand?.replaceAll('\\,', ',').trim() || null } : {}),
    ...(gtins.some(table.has) ? { gtin: gtinOf(product, woo) } : {}),
    ...textOf('seoTitle', seoTitles, product, woo),
    ...textOf('seoDescription', seoDescriptions, product, woo)
  }
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
