import type { Source } from './report.ts'
import { repeatedSkus } from './report.ts'
import { slugFor, UniqueNames } from './slug.ts'
import { withoutMisfits } from '../grants.ts'
import type { OptionValues } from '../grants.ts'
import { attributesOf, gtinOf, imagesOf, mpnOf, pricesOf, publishedState } from './woocommerce-row.ts'
import { stockOf, unitMeasureOf, weightOf } from './woocommerce-row.ts'
import type { WooContext, WooPrices, WooRow } from './woocommerce-row.ts'

const columns: Source['columns'] = {
  sku: 'SKU',
  name: 'Attribute 1 value(s)',
  options: 'Attribute 1 value(s)',
  price: 'Regular price',
  salePrice: 'Sale price',
  stock: 'Stock',
  gtin: 'GTIN, UPC, EAN, or ISBN',
  mpn: 'MPN',
  unitMeasure: 'Unit product'
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

/** WooCommerce also exports the variations of a product that was deleted or became a simple one. */
function findParent(
  { row, name }: WooRow,
  products: ReadonlyMap<string, WooRow>,
  { report }: WooContext
): WooRow | undefined {
  const parent = products.get(row.cell('Parent'))
  if (parent !== undefined && parent.kind !== 'simple') return parent
  const cause = parent === undefined ? 'is not in the file' : 'is a simple product'
  report.ignore('Parent', `Variations whose product ${cause} are not imported`, name)
  return undefined
}

function byPosition(rows: readonly WooRow[]): WooRow[] {
  return rows.toSorted((a, b) => (Number(a.row.cell('Position')) || 0) - (Number(b.row.cell('Position')) || 0))
}

/** A variable product's variations, and the product's fields that depend on them: sale period, stock, type and price. */
export function readVariations(
  product: WooRow,
  all: readonly WooRow[],
  slug: string,
  woo: WooContext
): { value: Record<string, unknown>; sources: Source[]; unpriced: boolean } {
  const children = withPrice(all, woo)
  const choices = choicesOf(product, children, woo)
  const standard = choices.find((choice) => isStandard(product, choice, woo)) ?? choices[0]
  const parts = new Map(children.map((child) => [child, partsOf(child, product, woo)]))
  const sale = [...parts.values()].map(({ prices }) => prices).find(({ salePrice }) => salePrice !== null)
  const options = optionsOf(product, choices, woo)
  const skus = skusOf(choices, slug, woo)
  const variations = choices.map((choice, index) => {
    const { child } = choice
    const { prices, stock, ...rest } = parts.get(child) ?? partsOf(child, product, woo)
    return {
      ...rest,
      sku: skus[index],
      name: nameOf(product, choice, woo),
      options: options[index],
      price: prices.price ?? 0,
      salePrice: salePriceInPeriod(child, prices, sale, woo),
      stock: stock === 'parent' ? null : shareOfStock(stock, choice, woo),
      default: choice === standard
    }
  })
  const value = {
    saleStart: sale?.saleStart ?? null,
    saleEnd: sale?.saleEnd ?? null,
    stock: sharedStock(product, children, woo),
    type: children.every(({ isVirtual }) => isVirtual) ? 'digital' : 'physical',
    variations
  }
  const unpriced = children.every(({ row }) => row.cell('Regular price') === '')
  return { value, sources: choices.map(({ child }) => ({ line: child.row.line, columns })), unpriced }
}

/** What all choices of a row have in common. */
function partsOf(child: WooRow, product: WooRow, woo: WooContext) {
  return {
    prices: pricesOf(child, woo),
    stock: stockOf(child, woo),
    gtin: gtinOf(child, woo),
    mpn: mpnOf(child),
    unitMeasure: unitMeasureOf(child, woo, product),
    weightGrams: weightOf(child, woo),
    ...(child.row.cell('Images') === '' ? {} : { images: imagesOf(child.row, woo) })
  }
}

/** The variations with a price. Without a price, WooCommerce does not sell a variation; if none has one, all are imported. */
function withPrice(children: readonly WooRow[], { report }: WooContext): readonly WooRow[] {
  const priced = children.filter(({ row }) => row.cell('Regular price') !== '')
  if (priced.length === 0) return children
  for (const { name } of children.filter((child) => !priced.includes(child)))
    report.ignore('Regular price', 'Variations without a price are not imported', name)
  return priced
}

/** The SKU of each choice, unique within the product. */
function skusOf(choices: readonly Choice[], slug: string, woo: WooContext): string[] {
  const skus = new UniqueNames()
  return choices.map((choice) => {
    const { child, added, count } = choice
    const own = count === 1 ? child.sku : `${child.sku}-${slugFor(added.join(' '))}`
    const sku = child.sku === '' ? slugFor([slug, ...orderedValues(choice, woo)].join(' ')) : own
    const unique = skus.take(sku, child.id || child.name)
    const repeats = child.sku !== '' && unique !== sku
    if (repeats) woo.report.warnOf(repeatedSkus, slug)
    return unique
  })
}

/** The values of a choice, in the order of its row's attributes. */
function orderedValues({ child, values }: Choice, { table }: WooContext): string[] {
  return attributesOf(table, child.row).flatMap(({ name }) => values.get(name) ?? [])
}

function nameOf(product: WooRow, choice: Choice, woo: WooContext): string {
  return orderedValues(choice, woo).join(' / ') || ownName(product, choice.child)
}

/**
 * A product has only one sale period. A variation with a different period loses its sale price, because the price would
 * apply at the wrong times.
 */
function salePriceInPeriod(
  child: WooRow,
  prices: WooPrices,
  sale: WooPrices | undefined,
  { report }: WooContext
): string | null {
  if (prices.salePrice === null) return null
  if (prices.saleStart === sale?.saleStart && prices.saleEnd === sale?.saleEnd) return prices.salePrice
  report.ignore('Sale price', "The sale's dates differ from those of the product's other variations", child.name)
  return null
}

function sharedStock(product: WooRow, children: readonly WooRow[], woo: WooContext): number | string | null {
  if (!children.some(({ row }) => row.cell('Stock').toLowerCase() === 'parent')) return null
  woo.report.warn(`Line ${product.row.line}: the variations share the stock of ${product.name}.`)
  return stockOf(product, woo)
}

/** The options of each choice in the product's order; without options when they do not fit together. */
function optionsOf(product: WooRow, choices: readonly Choice[], woo: WooContext): OptionValues[] {
  const labels = new Map(attributesOf(woo.table, product.row).map(({ name, label }) => [name, label]))
  const order = [...labels.keys()]
  const options = choices.map(({ child, values }) => {
    const own = attributesOf(woo.table, child.row).filter(({ name }) => values.has(name))
    const sorted = own.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    return Object.fromEntries(sorted.map(({ name, label }) => [labels.get(name) ?? label, values.get(name) ?? '']))
  })
  const fitting = withoutMisfits(options)
  const isLost =
    options.some((each) => Object.keys(each).length > 0) && fitting.every((each) => Object.keys(each).length === 0)
  if (isLost) woo.report.ignore('Attribute 1 name', 'The variations do not have the same options', product.name)
  return fitting
}

/** A variation's name without the parent's name, which WooCommerce puts before it: `Hoodie - Red`. */
function ownName(product: WooRow, child: WooRow): string {
  const prefix = `${product.name} - `
  return child.name.startsWith(prefix) ? child.name.slice(prefix.length) : child.name
}

function isStandard(product: WooRow, { values }: Choice, { table }: WooContext): boolean {
  const wanted = attributesOf(table, product.row).filter(({ standard }) => standard !== '')
  return wanted.length > 0 && wanted.every(({ name, standard }) => [undefined, standard].includes(values.get(name)))
}

/** One variation to import. A row of the export for any value of an attribute has one choice for each value. */
export type Choice = {
  child: WooRow
  /** The value of each attribute, by its name in lower case. */
  values: ReadonlyMap<string, string>
  /** The values that the row leaves open. */
  added: string[]
  /** Which of the row's choices it is. */
  index: number
  /** The number of choices of the row. */
  count: number
}

const most = 2048

/**
 * The choices of a variable product. A row with a value for each attribute wins over a row for any value. A row for any
 * value stays one choice if the product does not list the values, or if there would be too many.
 */
export function choicesOf(product: WooRow, children: readonly WooRow[], woo: WooContext): Choice[] {
  const listed = new Map(attributesOf(woo.table, product.row).map(({ name, values }) => [name, values]))
  const rows = children.map((child) => ({ child, fixed: fixedValues(child, woo), open: openNames(child, woo) }))
  const taken = new Set(rows.filter(({ open }) => open.length === 0).map(({ fixed }) => keyOf(fixed)))
  const isHuge = rows.reduce((sum, { open }) => sum + sizeOf(open, listed), 0) > most
  return rows.flatMap(({ child, fixed, open }): Choice[] => {
    const single = { child, values: fixed, added: [], index: 0, count: 1 }
    if (open.length === 0) return [single]
    if (isHuge || open.some((name) => (listed.get(name) ?? []).length === 0)) {
      woo.report.ignore('Parent', 'A variation for any attribute value is imported as one variation', child.name)
      return [single]
    }
    const free = combinations(fixed, open, listed).filter(({ values }) => !taken.has(keyOf(values)))
    for (const { values } of free) taken.add(keyOf(values))
    return free.map((choice, index) => ({ child, ...choice, index, count: free.length }))
  })
}

/** The part of a row's counted stock that a choice gets: the choices together have as many units as the row. */
export function shareOfStock(stock: number | string | null, { child, index, count }: Choice, woo: WooContext) {
  if (typeof stock !== 'number' || count === 1) return stock
  if (index === 0 && stock > 0) {
    woo.report.warn(`Line ${child.row.line}: the stock of ${stock} is divided among ${count} variations.`)
  }
  return Math.floor(stock / count) + (index < stock % count ? 1 : 0)
}

function fixedValues(child: WooRow, { table }: WooContext): Map<string, string> {
  return new Map(
    attributesOf(table, child.row).flatMap(({ name, values: [value] }) => (value === undefined ? [] : [[name, value]]))
  )
}

function openNames(child: WooRow, { table }: WooContext): string[] {
  return attributesOf(table, child.row).flatMap(({ name, values }) => (values.length === 0 ? [name] : []))
}

function sizeOf(open: readonly string[], listed: ReadonlyMap<string, string[]>): number {
  return open.reduce((product, name) => product * Math.max(1, listed.get(name)?.length ?? 1), 1)
}

function combinations(
  fixed: ReadonlyMap<string, string>,
  open: readonly string[],
  listed: ReadonlyMap<string, string[]>
): Pick<Choice, 'values' | 'added'>[] {
  let found: { values: Map<string, string>; added: string[] }[] = [{ values: new Map(fixed), added: [] }]
  for (const name of open) {
    found = found.flatMap(({ values, added }) =>
      (listed.get(name) ?? []).map((value) => ({ values: new Map(values).set(name, value), added: [...added, value] }))
    )
  }
  return found
}

function keyOf(values: ReadonlyMap<string, string>): string {
  return JSON.stringify([...values].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
