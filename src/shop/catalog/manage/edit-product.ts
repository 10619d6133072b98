import { AppError, validationFailed } from '../../../errors.ts'
import { write } from '../../../platform/db/database.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { definedFields } from '../../../platform/input-fields.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import type { ShopContext } from '../../context.ts'
import { setting } from '../../settings/settings.ts'
import { ApplyRun, applyProduct } from '../apply-product.ts'
import { exportProduct } from '../export-catalog.ts'
import { formatSchemas } from '../import/format.ts'
import { slugFor } from '../import/slug.ts'
import type { ProductEntry } from '../import/write-json.ts'
import { getProduct } from '../products.ts'
import type { ProductRow } from '../rows.ts'
import { productBySlug } from '../stored-product.ts'
import { isDeepStrictEqual } from 'node:util'

/** Fields of the import file with their new values, as an operator typed them; undefined keeps the stored value. */
export type ProductFields = {
  name?: string | undefined
  description?: string | undefined
  categories?: string[] | undefined
  tags?: string[] | undefined
  taxClass?: string | undefined
  weightGrams?: number | string | null | undefined
  saleStart?: string | null | undefined
  saleEnd?: string | null | undefined
}

export type ProductEdit = ProductFields & SaleEdit
export type NewProduct = ProductFields & {
  name: string
  price: string
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
  slug?: string | undefined
  type?: string | undefined
  published?: boolean | undefined
}

export type Edited = { row: ProductRow; changes: FieldChange[] }

/**
 * Changes fields of a product, or prices, stock and weight of its variations. Everything else stays, above all the stock, because
 * orders take from it at any time.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED with the field
 */
export function editProduct(shop: ShopContext, slugOrId: string, edit: ProductEdit, now: number): Edited {
  const currency = setting(shop.db, 'shop.currency')
  return write(shop.db, (tx) => {
    const row = getProduct(tx, slugOrId)
    const before = exportProduct(tx, row, currency)
    const { price, salePrice, stock, stockAdd, weightGrams, skus, ...fields } = edit
    // With SKUs, the weight is that of these variations.
    const weights = skus === undefined ? [weightGrams, undefined] : [undefined, weightGrams]
    const sale = withVariationEdit(before, { price, salePrice, stock, stockAdd, weightGrams: weights[1], skus })
    const changed = definedFields({ ...fields, weightGrams: weights[0] })
    const entry = { slug: row.slug, name: row.name, price: before.price, ...changed, ...sale }
    const touchesStock = stock !== undefined || stockAdd !== undefined
    applyProduct(new ApplyRun(tx, { keepStock: !touchesStock }, now), parseEntry(entry, before, currency))
    const edited = getProduct(tx, row.slug)
    return { row: edited, changes: changesOf(before, exportProduct(tx, edited, currency)) }
  })
}

/**
 * Adds a product. Without a slug it gets one from its name.
 *
 * @throws AppError VALIDATION_FAILED with the field, also for a slug that another product has
 */
export function addProduct(shop: ShopContext, product: NewProduct, now: number): Edited {
  const currency = setting(shop.db, 'shop.currency')
  return write(shop.db, (tx) => {
    const slug = product.slug ?? freeSlug(tx, product.name)
    if (productBySlug(tx, slug) !== undefined) throw validationFailed({ slug: ['Another product has this slug.'] })
    const entry = { ...definedFields(product), slug }
    applyProduct(new ApplyRun(tx, { keepStock: false }, now), parseWith(formatSchemas(currency).product, entry))
    const row = getProduct(tx, slug)
    return { row, changes: changesOf(undefined, exportProduct(tx, row, currency)) }
  })
}

function freeSlug(tx: Tx, name: string): string {
  const base = slugFor(name)
  let slug = base
  for (let number = 2; productBySlug(tx, slug) !== undefined; number += 1) slug = `${base}-${number}`
  return slug
}

/** An error in a variation names its field and SKU instead of its place in the list. */
function parseEntry(entry: object, { variations }: ProductEntry, currency: string) {
  try {
    return parseWith(formatSchemas(currency).product, entry)
  } catch (error) {
    const fields = error instanceof AppError ? error.details['fieldErrors'] : undefined
    if (typeof fields !== 'object' || fields === null) throw error
    const named = Object.entries(fields).map(([path, messages]: [string, string[]]): [string, string[]] => {
      const [, index, field] = /^variations\.(\d+)\.(\w+)$/.exec(path) ?? []
      return [index === undefined ? path : `${field} (${variations[Number(index)]?.sku})`, messages]
    })
    throw validationFailed(Object.fromEntries(named))
  }
}

/** New prices, stock and weight; null removes the sale price or the weight, or stops counting the stock. */
export type SaleEdit = {
  price?: string | undefined
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
  /** Units to add; negative to remove. */
  stockAdd?: number | undefined
  /** Of the chosen variations. */
  weightGrams?: number | string | null | undefined
  /** The variations to change. */
  skus?: readonly string[] | undefined
}

type Variation = ProductEntry['variations'][number]

/**
 * The prices and the stock of an import entry after an edit. Without SKUs, the prices of a product's variations change
 * together if they are the same, and the stock of the product if no variation has its own.
 *
 * @throws AppError VALIDATION_FAILED with the field
 */
export function withVariationEdit(product: ProductEntry, edit: SaleEdit): object {
  const { price, salePrice, stock, stockAdd, weightGrams, skus } = edit
  const prices = definedFields({ price, salePrice })
  const hasPrices = Object.keys(prices).length > 0
  const weight = definedFields({ weightGrams })
  const hasStock = stock !== undefined || stockAdd !== undefined
  if (stock !== undefined && stockAdd !== undefined) throw refused('stock', 'Pass either --stock or --stock-add.')
  if (product.variations.length === 0) {
    if (skus !== undefined) throw refused('sku', 'The product has no variations.')
    return {
      ...(hasPrices ? { price: product.price, salePrice: product.salePrice, ...prices } : {}),
      ...(hasStock ? { stock: stockAfter(product, edit) } : {})
    }
  }
  if (!hasPrices && !hasStock && weightGrams === undefined) {
    if (skus === undefined) return {}
    throw refused('sku', 'Pass what changes: --price, --sale-price, --stock, --stock-add or --weight.')
  }
  const priced = hasPrices ? pricedTogether(product, skus) : []
  const stocked = hasStock ? stockedTogether(product, skus) : []
  const weighed = skus === undefined ? [] : chosen(product.variations, skus)
  const variations = product.variations.map((variation) => {
    const { images: _images, ...kept } = variation
    return {
      ...kept,
      ...(priced.includes(variation) ? prices : {}),
      ...(stocked.includes(variation) ? { stock: stockAfter(variation, edit) } : {}),
      ...(weighed.includes(variation) ? weight : {})
    }
  })
  const main = priced.some((variation) => variation.default) ? variations.find((each) => each.default) : undefined
  return {
    variations,
    ...(main === undefined ? {} : { price: main.price, salePrice: main.salePrice }),
    ...(hasStock && stocked.length === 0 ? { stock: stockAfter(product, edit) } : {})
  }
}

function pricedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  const [first] = variations
  const isSame = variations.every(({ price, salePrice }) => price === first?.price && salePrice === first.salePrice)
  if (isSame) return variations
  throw refused('price', `The variations have different prices. Choose with --sku: ${named(variations)}.`)
}

/** The variations whose stock changes; empty for the product's own stock. */
function stockedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  if (variations.every(({ stock }) => stock === null)) return []
  throw refused('stock', `The variations have stocks of their own. Choose with --sku: ${named(variations)}.`)
}

function chosen(variations: Variation[], skus: readonly string[]): Variation[] {
  const unknown = skus.find((sku) => !variations.some((variation) => variation.sku === sku))
  if (unknown === undefined) return variations.filter(({ sku }) => skus.includes(sku))
  throw refused('sku', `No variation has the SKU ${unknown}. The product has ${named(variations)}.`)
}

function named(variations: readonly Variation[]): string {
  const skus = variations.map(({ sku }) => sku)
  return skus.length > 10 ? `${skus.slice(0, 10).join(', ')} and ${skus.length - 10} more` : skus.join(', ')
}

function stockAfter(
  { stock: before }: { stock: number | null },
  { stock, stockAdd }: SaleEdit
): number | string | null | undefined {
  if (stockAdd === undefined) return stock
  if (before === null) throw refused('stock', 'The stock is not counted. Pass --stock to count it.')
  if (before + stockAdd < 0) throw refused('stock', `Only ${before} are in stock.`)
  return before + stockAdd
}

function refused(field: string, message: string) {
  return validationFailed({ [field]: [message] })
}

/**
 * A field of a product, as in the import file, before and after an edit. `sku` names the variation that the field
 * belongs to. `from` is undefined for a new product.
 */
export type FieldChange = { field: string; sku?: string; from: unknown; to: unknown }

/** The fields in which two states of a product differ; `before` is undefined for a new product. */
export function changesOf(before: ProductEntry | undefined, after: ProductEntry): FieldChange[] {
  const { variations: old = [], ...oldFields } = before ?? {}
  const { variations, slug: _slug, ...fields } = after
  // The product's own prices repeat those of its default variation.
  const repeated = variations.length > 0 ? ['price', 'salePrice'] : []
  const bySku = new Map(old.map((variation) => [variation.sku, variation]))
  return [
    ...differences(oldFields, fields).filter(({ field }) => !repeated.includes(field)),
    ...variations.flatMap(({ sku, ...variation }) =>
      differences(bySku.get(sku) ?? {}, variation).map(({ field, from, to }) => ({ field, sku, from, to }))
    )
  ]
}

function differences(before: object, after: object): FieldChange[] {
  const old = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after)
    .filter(([field, to]) => !isDeepStrictEqual(old.get(field), to))
    .map(([field, to]) => ({ field, from: old.get(field), to }))
}
