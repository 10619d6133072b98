import type { Source } from './drafts.ts'
import { slugFor, UniqueNames } from './slug.ts'
import { withoutMisfits } from '../variation-options.ts'
import type { OptionValues } from '../variation-options.ts'
import { attributesOf, imagesOf, pricesOf, publishedState, stockOf } from './woocommerce-row.ts'
import type { WooContext, WooPrices, WooRow } from './woocommerce-row.ts'

const columns: Source['columns'] = {
  sku: 'SKU',
  name: 'Attribute 1 value(s)',
  options: 'Attribute 1 value(s)',
  price: 'Regular price',
  salePrice: 'Sale price',
  stock: 'Stock'
}

/** Groups the variations by their `Parent`, which is `id:44` or the parent's SKU. Disabled variations are ignored. */
export function groupVariations(
  rows: readonly WooRow[],
  products: readonly WooRow[],
  woo: WooContext
): Map<WooRow, WooRow[]> {
  const byReference = new Map<string, WooRow>()
  for (const product of products) {
    if (product.id !== '') byReference.set(`id:${product.id}`, product)
    if (product.sku !== '') byReference.set(product.sku, product)
  }
  const children = new Map<WooRow, WooRow[]>()
  for (const variation of rows.filter(({ kind }) => kind === 'variation')) {
    const parent = findParent(variation, byReference, woo)
    if (!parent) continue
    if (publishedState(variation.row, woo) === 'private') {
      woo.report.ignore('Published', 'Disabled variations are not imported', variation.name)
      continue
    }
    const siblings = children.get(parent)
    if (siblings) siblings.push(variation)
    else children.set(parent, [variation])
  }
  return new Map([...children].map(([parent, list]) => [parent, byPosition(list)]))
}

function findParent(
  { row }: WooRow,
  products: ReadonlyMap<string, WooRow>,
  { errors }: WooContext
): WooRow | undefined {
  const reference = row.cell('Parent')
  const parent = products.get(reference)
  if (reference === '') errors.add(row.line, 'Parent', 'Is required for a variation.')
  else if (!parent) errors.add(row.line, 'Parent', 'Must be the SKU or the id of a product in this file.')
  else if (parent.kind === 'simple') errors.add(row.line, 'Parent', 'Must be a variable product.')
  return parent
}

function byPosition(rows: readonly WooRow[]): WooRow[] {
  return rows.toSorted((a, b) => (Number(a.row.cell('Position')) || 0) - (Number(b.row.cell('Position')) || 0))
}

/** A variable product's variations, and the product's fields that depend on them: sale period, stock and type. */
export function readVariations(
  product: WooRow,
  children: readonly WooRow[],
  slug: string,
  woo: WooContext
): { value: Record<string, unknown>; sources: Source[] } {
  const standard = children.find((child) => isStandard(product, child, woo)) ?? children[0]
  const skus = new UniqueNames()
  const prices = children.map((child) => pricesOf(child.row, woo))
  const sale = prices.find(({ salePrice }) => salePrice !== null)
  const options = optionsOf(product, children, woo)
  const variations = children.map((child, index) => {
    const values = valuesOf(child, woo)
    const stock = stockOf(child.row)
    const sku = child.sku || slugFor([slug, ...values].join(' '))
    const unique = skus.take(sku, child.id || child.name)
    const repeats = child.sku !== '' && unique !== sku
    if (repeats) woo.report.warn(`Line ${child.row.line}: another variation has the same SKU, so a suffix was added.`)
    return {
      sku: unique,
      name: values.join(' / ') || ownName(product, child),
      options: options[index],
      ...(child.row.cell('Images') === '' ? {} : { images: imagesOf(child.row, woo) }),
      price: prices[index]?.price,
      salePrice: salePriceInPeriod(child, prices[index], sale, woo),
      stock: stock === 'parent' ? null : stock,
      default: child === standard
    }
  })
  const value = {
    saleStart: sale?.saleStart ?? null,
    saleEnd: sale?.saleEnd ?? null,
    stock: sharedStock(product, children, woo),
    type: children.every(({ isVirtual }) => isVirtual) ? 'digital' : 'physical',
    variations
  }
  return { value, sources: children.map(({ row }) => ({ line: row.line, columns })) }
}

/**
 * A product has only one sale period. A variation with a different period loses its sale price, because the price would
 * apply at the wrong times.
 */
function salePriceInPeriod(
  child: WooRow,
  prices: WooPrices | undefined,
  sale: WooPrices | undefined,
  { report }: WooContext
): string | null {
  if (!prices || prices.salePrice === null) return null
  if (prices.saleStart === sale?.saleStart && prices.saleEnd === sale?.saleEnd) return prices.salePrice
  report.ignore('Sale price', "The sale's dates differ from those of the product's other variations", child.name)
  return null
}

function sharedStock(product: WooRow, children: readonly WooRow[], { report }: WooContext): number | string | null {
  if (!children.some(({ row }) => row.cell('Stock').toLowerCase() === 'parent')) return null
  report.warn(`Line ${product.row.line}: the variations share the stock of ${product.name}.`)
  return stockOf(product.row)
}

/** The options of each variation in the product's order; without options when one of them is for any value. */
function optionsOf(product: WooRow, children: readonly WooRow[], { table }: WooContext): OptionValues[] {
  const labels = new Map(attributesOf(table, product.row).map(({ name, label }) => [name, label]))
  const order = [...labels.keys()]
  const options = children.map((child) => {
    const chosen = attributesOf(table, child.row).filter(({ values }) => values.length > 0)
    const sorted = chosen.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    return Object.fromEntries(sorted.map(({ name, label, values }) => [labels.get(name) ?? label, values[0] ?? '']))
  })
  return withoutMisfits(options)
}

function valuesOf(child: WooRow, { table, report }: WooContext): string[] {
  return attributesOf(table, child.row).flatMap(({ values }) => {
    if (values.length === 0)
      report.ignore('Parent', 'A variation for any attribute value is imported as one variation', child.name)
    return values.slice(0, 1)
  })
}

/** A variation's name without the parent's name, which WooCommerce puts before it: `Hoodie - Red`. */
function ownName(product: WooRow, child: WooRow): string {
  const prefix = `${product.name} - `
  return child.name.startsWith(prefix) ? child.name.slice(prefix.length) : child.name
}

function isStandard(product: WooRow, child: WooRow, { table }: WooContext): boolean {
  const wanted = attributesOf(table, product.row).filter(({ standard }) => standard !== '')
  const own = new Map(attributesOf(table, child.row).map(({ name, values }) => [name, values]))
  return wanted.length > 0 && wanted.every(({ name, standard }) => [undefined, standard].includes(own.get(name)?.[0]))
}
