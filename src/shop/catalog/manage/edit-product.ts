import { AppError, validationFailed } from '../../../errors.ts'
import { write } from '../../../platform/db/database.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { definedFields } from '../../../platform/input-fields.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import type { ShopContext } from '../../context.ts'
import { setting } from '../../settings/settings.ts'
import { ApplyRun, applyProduct } from '../apply-product.ts'
import { exportProduct } from '../export-catalog.ts'
import { formatSchemas } from '../import/format-schemas.ts'
import { slugFor } from '../import/slug.ts'
import type { ProductEntry } from '../import/write-json.ts'
import { getProduct } from '../products.ts'
import type { ProductRow } from '../rows.ts'
import { productBySlug } from '../stored-product.ts'
import { changesOf } from './field-changes.ts'
import type { FieldChange } from './field-changes.ts'
import { withVariationEdit } from './edit-variations.ts'
import type { SaleEdit } from './edit-variations.ts'

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
