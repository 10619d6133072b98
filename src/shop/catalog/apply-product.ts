import { eq, max, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { placeholders, statement } from '../../platform/db/database.ts'
import { applyVariations } from './apply-variations.ts'
import { CategoryTree } from './category-tree.ts'
import type { Change } from './changes.ts'
import { applyImages } from './images/stored-images.ts'
import { productColumns, withDefaults } from './import/format.ts'
import type { ProductColumns, ProductInput } from './import/format.ts'
import { slugFor } from './import/slug.ts'
import { resolveOffer } from './offer-input.ts'
import type { ProductRow } from './rows.ts'
import { products, productGrants, productTags } from './schema.ts'
import { indexNewProduct, indexProduct } from './search/index-product.ts'
import { productBySlug, productsBySku, grantsOfProduct, tagsOfProduct } from './stored-product.ts'
import { isDeepStrictEqual } from 'node:util'
import type { GrantSpec } from './grants.ts'

export type ApplyOptions = {
  /**
   * True for seeding: the stock of existing products stays, since orders have taken from it. False for an import: the
   * stock becomes the file's.
   */
  keepStock: boolean
  /** The URL that the shop derives for a product. An imported offer with this URL has no URL of its own. */
  urlOf?: (slug: string) => string
  /** The folder of the import file, for pictures with a path relative to it. */
  folder?: string | undefined
  /** Leaves the products of renamed and moved categories to `updateProducts` of `CategoryTree`. */
  updatesLater?: boolean | undefined
}

/** The state that all entries of one import share. */
export class ApplyRun {
  readonly tx: Tx
  readonly options: ApplyOptions
  readonly now: number
  readonly categories: CategoryTree
  #lastPosition: number | undefined

  constructor(tx: Tx, options: ApplyOptions, now: number) {
    this.tx = tx
    this.options = options
    this.now = now
    this.categories = new CategoryTree(tx, options)
  }

  /** The position of an entry, or the one after the highest so far. */
  position(wanted: number | undefined): number {
    const last = this.#lastPosition ?? highestPosition(this.tx)
    const position = wanted ?? last + 1
    this.#lastPosition = Math.max(last, position)
    return position
  }
}

/** Both values of `published`, because the index starts with it. */
function highestPosition(tx: Tx): number {
  const highest = (published: boolean) =>
    tx.orm
      .select({ position: max(products.position) })
      .from(products)
      .where(eq(products.published, published))
      .get()?.position ?? 0
  return Math.max(highest(true), highest(false))
}

/** Creates or updates a product, matched by its slug. Fields that the entry does not have stay unchanged. */
export function applyProduct(run: ApplyRun, entry: ProductInput): Change {
  const row = (entry.foundBySku === true ? findBySku(run.tx, entry) : undefined) ?? productBySlug(run.tx, entry.slug)
  const { urlOf } = run.options
  const input = entry.shape === 'offer' ? resolveOffer(run.tx, row, entry, { urlOf, now: run.now }) : entry
  return row === undefined ? createProduct(run, input) : updateProduct(run, row, input)
}

/**
 * The product with the entry's SKU, or with the slug of that SKU if it has no SKU: earlier versions stored only the slug.
 * It keeps its slug, so its address still works. Undefined if several products have the SKU.
 */
function findBySku(tx: Tx, { sku }: ProductInput): ProductRow | undefined {
  if (sku == null) return undefined
  const [row, other] = productsBySku(tx, sku)
  if (row !== undefined) return other === undefined ? row : undefined
  const old = productBySlug(tx, slugFor(sku))
  return old?.sku === null ? old : undefined
}

const insertProduct = statement((orm) =>
  orm
    .insert(products)
    .values(placeholders([...productColumns, 'slug', 'createdAt', 'updatedAt']))
    .returning({ id: products.id })
    .prepare()
)

function createProduct(run: ApplyRun, input: ProductInput): Change {
  const { categories, tags, images, variations, grants, position, ...columns } = withDefaults(input)
  const places = { position: run.position(position), createdAt: run.now, updatedAt: run.now }
  const { id } = insertProduct(run.tx).get({ ...columns, ...places })
  run.categories.apply(id, categories)
  applyTags(run.tx, id, tags)
  applyImages(run.tx, { productId: id, variationId: null }, images, { folder: run.options.folder, now: run.now })
  applyVariations(run.tx, id, variations, { ...run.options, now: run.now })
  applyGrants(run.tx, id, grants)
  indexNewProduct(run.tx, id)
  return { kind: 'product', key: input.slug, outcome: 'created', fields: [] }
}

function updateProduct(run: ApplyRun, row: ProductRow, input: ProductInput): Change {
  const { tx, options, now } = run
  const columns = changedColumns(row, input, options)
  const lists = {
    categories: input.categories !== undefined && run.categories.apply(row.id, input.categories),
    tags: input.tags !== undefined && applyTags(tx, row.id, input.tags),
    images:
      input.images !== undefined &&
      applyImages(tx, { productId: row.id, variationId: null }, input.images, { folder: options.folder, now }),
    variations:
      input.variations !== undefined &&
      input.unpriced !== true &&
      applyVariations(tx, row.id, input.variations, { ...options, now }),
    grants: input.grants !== undefined && applyGrants(tx, row.id, input.grants)
  }
  const fields = [
    ...Object.keys(columns).map((column) => fileNames[column] ?? column),
    ...Object.entries(lists).flatMap(([name, changed]) => (changed ? [name] : []))
  ]
  if (fields.length === 0) return { kind: 'product', key: row.slug, outcome: 'unchanged', fields }
  tx.orm
    .update(products)
    .set({ ...columns, updatedAt: run.now })
    .where(eq(products.id, row.id))
    .run()
  indexProduct(tx, row.id)
  return { kind: 'product', key: row.slug, outcome: 'updated', fields }
}

const fileNames: Record<string, string> = {
  priceMinor: 'price',
  salePriceMinor: 'salePrice',
  costMinor: 'cost',
  saleStartsAt: 'saleStart',
  saleEndsAt: 'saleEnd'
}

/** The columns whose value an existing product keeps, even if the entry has one. */
function keptColumns({ unpriced }: ProductInput, { keepStock }: ApplyOptions): ReadonlySet<string> {
  const prices = ['priceMinor', 'salePriceMinor', 'saleStartsAt', 'saleEndsAt', 'published']
  return new Set([...(keepStock ? ['stock'] : []), ...(unpriced === true ? prices : [])])
}

type Columns = Partial<ProductColumns>

function changedColumns(row: ProductRow, input: ProductInput, options: ApplyOptions): Columns {
  const kept = keptColumns(input, options)
  const present = productColumns.filter((name) => input[name] !== undefined && !kept.has(name))
  const columns = Object.fromEntries(present.map((name) => [name, input[name]]))
  const wanted = withConsistentSale(row, input, withoutOldHtml(row, columns))
  const changed = productColumns.filter((name) => wanted[name] !== undefined && wanted[name] !== row[name])
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]))
}

/** A new description as text replaces the HTML of the old one. */
function withoutOldHtml(row: ProductRow, wanted: Columns): Columns {
  const { description, descriptionHtml } = wanted
  const isOld = description !== undefined && description !== row.description && descriptionHtml === undefined
  return isOld ? { ...wanted, descriptionHtml: null } : wanted
}

/** If the file contains only a part of a sale and it contradicts the stored part, the stored part is removed. */
function withConsistentSale(row: ProductRow, input: ProductInput, wanted: Columns): Columns {
  const { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt } = { ...row, ...wanted }
  const consistent = { ...wanted }
  if (salePriceMinor !== null && salePriceMinor >= priceMinor) consistent.salePriceMinor = null
  if (saleStartsAt !== null && saleEndsAt !== null && saleEndsAt <= saleStartsAt) {
    if (input.saleEndsAt === undefined) consistent.saleEndsAt = null
    else consistent.saleStartsAt = null
  }
  return consistent
}

const owner = sql.placeholder('productId')
const place = sql.placeholder('position')
const deleteTags = statement((orm) => orm.delete(productTags).where(eq(productTags.productId, owner)).prepare())
const insertTag = statement((orm) =>
  orm
    .insert(productTags)
    .values({ productId: owner, tag: sql.placeholder('tag'), position: place })
    .prepare()
)
const deleteGrants = statement((orm) => orm.delete(productGrants).where(eq(productGrants.productId, owner)).prepare())
const insertGrant = statement((orm) =>
  orm
    .insert(productGrants)
    .values({ productId: owner, spec: sql.placeholder('spec'), position: place })
    .prepare()
)

/** Replaces a product's tags; returns true when something changed. */
export function applyTags(tx: Tx, productId: number, wanted: readonly string[]): boolean {
  if (isDeepStrictEqual(tagsOfProduct(tx, productId), wanted)) return false
  deleteTags(tx).run({ productId })
  for (const [position, tag] of wanted.entries()) insertTag(tx).run({ productId, tag, position })
  return true
}

/** Replaces a product's grants; returns true when something changed. Benefits that orders have given stay. */
export function applyGrants(tx: Tx, productId: number, wanted: readonly GrantSpec[]): boolean {
  if (isDeepStrictEqual(grantsOfProduct(tx, productId), wanted)) return false
  deleteGrants(tx).run({ productId })
  for (const [position, spec] of wanted.entries()) insertGrant(tx).run({ productId, spec, position })
  return true
}
