import { toDecimalText } from '../../../platform/money.ts'
import { isRecord } from '../../../platform/typed.ts'
import { parseAmount } from '../amounts.ts'
import type { Row, WordPress } from './database.ts'
import type { Term, Terms } from './terms.ts'
import { decoded } from './terms.ts'
import { idsOf, php, phpEntries, readMeta, scalar, seconds, text } from './values.ts'
import type { Meta } from './values.ts'

/** A product or variation with everything that its row in an export needs. */
export type SourceProduct = { id: string; row: Row; meta: Meta; terms: readonly Term[] }
/** What all products share. */
export type Catalog = {
  currency: string
  /** Of a tax class of the shop's own, the one of WooCommerce with the same rate. */
  taxClasses: ReadonlyMap<string, string>
  terms: Terms
  labels: ReadonlyMap<string, string>
  pictures: ReadonlyMap<string, string>
  units: Units
}
type Units = { weight: string; length: string }
export type Cells = Readonly<Record<string, string>>

const readKeys = [
  '_sku',
  '_regular_price',
  '_price',
  '_sale_price',
  '_sale_price_dates_from',
  '_sale_price_dates_to',
  '_tax_status',
  '_tax_class',
  '_manage_stock',
  '_stock',
  '_stock_status',
  '_backorders',
  '_weight',
  '_length',
  '_width',
  '_height',
  '_virtual',
  '_downloadable',
  '_downloadable_files',
  '_download_limit',
  '_download_expiry',
  '_product_attributes',
  '_default_attributes',
  '_thumbnail_id',
  '_product_image_gallery',
  '_global_unique_id',
  '_ts_gtin',
  '_ts_mpn',
  '_wc_gla_gtin',
  '_wc_gla_mpn',
  '_unit',
  '_unit_product',
  '_subscription_price',
  '_subscription_period',
  '_subscription_period_interval',
  '_yoast_wpseo_title',
  '_yoast_wpseo_metadesc',
  'rank_math_title',
  'rank_math_description'
]

/** Reads the products, and after each page of them nothing else: the rows of one call are products, or variations. */
export async function* readProducts(source: WordPress, type: 'product' | 'product_variation', terms: Terms) {
  const sql = `SELECT ID AS id, post_title, post_name, post_status, post_parent, post_password, post_content, post_excerpt, menu_order
    FROM {posts} WHERE post_type = '${type}' AND post_status NOT IN ('auto-draft', 'inherit') AND ID > ?`
  for await (const rows of source.parts(sql)) {
    const ids = idsOf(rows)
    const metaOf = await readMeta(
      source,
      { table: 'postmeta', owner: 'post_id' },
      ids,
      type === 'product' ? readKeys : undefined
    )
    const relations = await source.rows(
      'SELECT object_id, term_taxonomy_id FROM {term_relationships} WHERE object_id IN (?) ORDER BY term_order, term_taxonomy_id',
      [ids]
    )
    const byProduct = Map.groupBy(relations, (row) => text(row, 'object_id'))
    yield rows.map((row): SourceProduct => {
      const id = text(row, 'id')
      const found = (byProduct.get(id) ?? []).flatMap(
        (each) => terms.byRelation.get(text(each, 'term_taxonomy_id')) ?? []
      )
      return { id, row, meta: metaOf(id), terms: found }
    })
  }
}

/** The names of attributes, the addresses of pictures and the units. */
export async function readCatalog(
  source: WordPress,
  terms: Terms,
  { currency, uploads }: { currency: string; uploads: string }
): Promise<Catalog> {
  const attributes = source.has('woocommerce_attribute_taxonomies')
    ? await source.rows('SELECT attribute_name, attribute_label FROM {woocommerce_attribute_taxonomies}')
    : []
  const files = await source.rows("SELECT post_id, meta_value FROM {postmeta} WHERE meta_key = '_wp_attached_file'")
  return {
    currency,
    terms,
    taxClasses: await readTaxClasses(source),
    labels: new Map(attributes.map((row) => [`pa_${text(row, 'attribute_name')}`, text(row, 'attribute_label')])),
    pictures: new Map(files.map((row) => [text(row, 'post_id'), uploads + text(row, 'meta_value')])),
    units: {
      weight: (await source.option('woocommerce_weight_unit')) ?? 'kg',
      length: (await source.option('woocommerce_dimension_unit')) ?? 'cm'
    }
  }
}

/** Which of WooCommerce's own tax classes a class of the shop is: the one with the same rate in the shop's country. */
async function readTaxClasses(source: WordPress): Promise<ReadonlyMap<string, string>> {
  if (!source.has('woocommerce_tax_rates')) return new Map()
  const country = (await source.option('woocommerce_default_country'))?.split(':')[0] ?? ''
  const rows = await source.rows(
    'SELECT tax_rate_class AS class, max(tax_rate) AS rate FROM {woocommerce_tax_rates} WHERE tax_rate_country = ? GROUP BY tax_rate_class',
    [country]
  )
  const rates = new Map(rows.map((row) => [text(row, 'class'), Number(text(row, 'rate'))]))
  const usual = ['', 'reduced-rate', 'zero-rate']
  return new Map(
    [...rates].flatMap(([name, rate]) => {
      const same = usual.find((known) => rates.get(known) === rate)
      return usual.includes(name) || same === undefined ? [] : [[name, same] as const]
    })
  )
}

/** WooCommerce's type of a product, such as `simple` or `variable-subscription`. */
export function typeOf({ terms }: SourceProduct): string {
  return terms.find(({ taxonomy }) => taxonomy === 'product_type')?.slug ?? 'simple'
}

const published: Readonly<Record<string, string>> = { publish: '1', private: '0' }

/** A product as a row of WooCommerce's product export. */
export function productCells(product: SourceProduct, catalog: Catalog, slug: string): Cells {
  const { id, row, terms, meta } = product
  const kind = typeOf(product).replace('-subscription', '').replace('subscription', 'simple')
  const visibility = new Set(terms.filter(({ taxonomy }) => taxonomy === 'product_visibility').map((term) => term.slug))
  const named = (taxonomy: string): string =>
    listOf(terms.filter((term) => term.taxonomy === taxonomy).map(({ name }) => name))
  return {
    ID: id,
    Slug: slug,
    Type: [kind, ...flags(meta)].join(', '),
    Name: text(row, 'post_title'),
    Published: text(row, 'post_password') === '' ? (published[text(row, 'post_status')] ?? '-1') : '0',
    'Visibility in catalog': visibility.has('exclude-from-catalog') ? 'hidden' : 'visible',
    'Short description': escapeBreaks(text(row, 'post_excerpt')),
    Description: escapeBreaks(text(row, 'post_content')),
    Categories: listOf(terms.filter(({ taxonomy }) => taxonomy === 'product_cat').map(catalog.terms.slugPathOf)),
    Tags: named('product_tag'),
    Brands: named('product_brand'),
    Position: text(row, 'menu_order'),
    'Meta: _yoast_wpseo_title': meta.get('_yoast_wpseo_title') ?? '',
    'Meta: _yoast_wpseo_metadesc': meta.get('_yoast_wpseo_metadesc') ?? '',
    'Meta: rank_math_title': meta.get('rank_math_title') ?? '',
    'Meta: rank_math_description': meta.get('rank_math_description') ?? '',
    ...commonCells(meta, catalog, meta.get('_manage_stock') === 'yes' ? (meta.get('_stock') ?? '0') : ''),
    ...attributeCells(product, catalog),
    ...downloadCells(meta)
  }
}

/** A variation as a row of the export. */
export function variationCells({ id, row, meta }: SourceProduct, parent: SourceProduct, catalog: Catalog): Cells {
  const own = meta.get('_manage_stock') === 'yes'
  const shared = parent.meta.get('_manage_stock') === 'yes' ? 'parent' : ''
  return {
    ID: id,
    Type: ['variation', ...flags(meta)].join(', '),
    Name: text(row, 'post_title'),
    Published: text(row, 'post_status') === 'publish' ? '1' : '0',
    Parent: `id:${parent.id}`,
    Position: text(row, 'menu_order'),
    ...commonCells(meta, catalog, own ? (meta.get('_stock') ?? '0') : shared),
    ...Object.fromEntries(
      [...optionsOf(meta, parent, catalog)].flatMap(([name, value], index) => [
        [`Attribute ${index + 1} name`, name],
        [`Attribute ${index + 1} value(s)`, escapeList(value)]
      ])
    )
  }
}

function flags(meta: Meta): string[] {
  return ['downloadable', 'virtual'].filter((flag) => meta.get(`_${flag}`) === 'yes')
}

/** What products and variations have in common. */
function commonCells(meta: Meta, { currency, units, pictures, taxClasses }: Catalog, stock: string): Cells {
  const value = (key: string): string => meta.get(key) ?? ''
  const ids = [value('_thumbnail_id'), ...value('_product_image_gallery').split(',')]
  const status = value('_stock_status')
  return {
    SKU: value('_sku'),
    'Regular price': priceCell(value('_regular_price') || value('_subscription_price'), currency),
    'Sale price': priceCell(value('_sale_price'), currency),
    'Date sale price starts': saleDate(value('_sale_price_dates_from')),
    'Date sale price ends': saleDate(value('_sale_price_dates_to')),
    'Tax status': value('_tax_status'),
    'Tax class': taxClasses.get(value('_tax_class')) ?? value('_tax_class'),
    'In stock?': status === 'onbackorder' ? 'backorder' : status === 'outofstock' ? '0' : '1',
    Stock: stock,
    'Backorders allowed?': value('_backorders') === 'yes' ? '1' : value('_backorders') === 'notify' ? 'notify' : '0',
    'GTIN, UPC, EAN, or ISBN': value('_global_unique_id') || value('_ts_gtin') || value('_wc_gla_gtin'),
    MPN: value('_ts_mpn') || value('_wc_gla_mpn'),
    Unit: value('_unit'),
    'Unit product': value('_unit_product'),
    [`Weight (${units.weight})`]: value('_weight'),
    [`Length (${units.length})`]: value('_length'),
    [`Width (${units.length})`]: value('_width'),
    [`Height (${units.length})`]: value('_height'),
    Images: listOf(ids.flatMap((id) => pictures.get(id.trim()) ?? []).map(encodeURI))
  }
}

/** A price with the decimals of the currency. Empty for text that is not a price, so that the product arrives unpublished. */
function priceCell(stored: string, currency: string): string {
  const minor = parseAmount(stored, currency)
  return minor === undefined ? '' : toDecimalText(minor, currency)
}

function saleDate(stored: string): string {
  const at = seconds(stored)
  return at === null ? '' : new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

function attributeCells({ meta, terms }: SourceProduct, catalog: Catalog): Cells {
  const defaults = new Map(phpEntries(meta.get('_default_attributes') ?? ''))
  const attributes = attributesOf(meta)
  return Object.fromEntries(
    attributes.flatMap(({ key, name, isTerm, value }, index) => {
      const values = isTerm
        ? terms.filter(({ taxonomy }) => taxonomy === key).map((term) => term.name)
        : value.split('|').map((each) => each.trim())
      const standard = scalar(defaults.get(key))
      return [
        [`Attribute ${index + 1} name`, isTerm ? (catalog.labels.get(key) ?? name) : name],
        [`Attribute ${index + 1} value(s)`, listOf(values)],
        [`Attribute ${index + 1} default`, isTerm ? (catalog.terms.find(key, standard)?.name ?? standard) : standard]
      ]
    })
  )
}

type Attribute = { key: string; name: string; value: string; isTerm: boolean; position: number }

function attributesOf(meta: Meta): Attribute[] {
  return phpEntries(meta.get('_product_attributes') ?? '')
    .flatMap(([key, entry]): Attribute[] => {
      if (!isRecord(entry)) return []
      const isTerm = scalar(entry['is_taxonomy']) === '1'
      return [
        {
          key,
          name: scalar(entry['name']) || key,
          value: scalar(entry['value']),
          isTerm,
          position: Number(entry['position']) || 0
        }
      ]
    })
    .toSorted((a, b) => a.position - b.position)
}

/** The value of each option of a variation, by the option's name. An empty value is any value. */
export function optionsOf(meta: Meta, parent: SourceProduct, catalog: Catalog): Map<string, string> {
  const options = new Map<string, string>()
  for (const { key, name, isTerm } of attributesOf(parent.meta)) {
    const stored = meta.get(`attribute_${key}`)
    if (stored === undefined) continue
    if (isTerm) options.set(catalog.labels.get(key) ?? name, catalog.terms.find(key, stored)?.name ?? decoded(stored))
    else options.set(name, stored)
  }
  return options
}

function downloadCells(meta: Meta): Cells {
  if (meta.get('_downloadable') !== 'yes') return {}
  const value = php(meta.get('_downloadable_files') ?? '')
  const files = Object.values(isRecord(value) || Array.isArray(value) ? value : {}).filter(isRecord)
  const days = meta.get('_download_expiry') ?? ''
  return {
    'Download expiry days': days === '-1' ? '' : days,
    ...Object.fromEntries(files.map((file, index) => [`Download ${index + 1} URL`, scalar(file['file'])]))
  }
}

/** The exporter writes a line break as `\n`, and a literal `\n` as `\\n`. */
function escapeBreaks(html: string): string {
  return html.replaceAll('\\n', '\\\\n')
}

function listOf(names: readonly string[]): string {
  return names.map(escapeList).join(', ')
}

function escapeList(name: string): string {
  return name.replaceAll(',', '\\,')
}
