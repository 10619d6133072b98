import { eq, max, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { placeholders, statement } from '../../platform/db/database.ts'
import { applyVariations } from './apply-variations.ts'
import { CategoryTree } from './category-tree.ts'
import { changesOf } from './changes.ts'
import type { Change, FieldChange } from './changes.ts'
import { toFullProduct } from './export-catalog.ts'
import { applyImages } from './images/stored-images.ts'
import { productColumns, withDefaults } from './import/format.ts'
import type { ProductColumns, ProductInput, ProductLists } from './import/format.ts'
import { toEntry } from './import/write-json.ts'
import { slugFor } from './import/slug.ts'
import { resolveOffer } from './offer-input.ts'
import type { ProductRow } from './rows.ts'
import { products, productGrants, productTags } from './schema.ts'
import { indexNewProduct, indexProduct } from './search/index-product.ts'
import { productBySlug, productsBySku, grantsOfProduct, tagsOfProduct } from './stored-product.ts'
import { isDeepStrictEqual } from 'node:util'
import { definedFields } from '../../platform/input-fields.ts'
import { setting } from '../settings/settings.ts'
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
  const { tx, now } = run
  const columns = changedColumns(row, input, run.options)
  const lists = replacedLists(run, row.id, input)
  if (Object.keys({ ...columns, ...lists }).length === 0)
    return { kind: 'product', key: row.slug, outcome: 'unchanged', fields: [] }
  const changed = { ...row, ...columns, updatedAt: now }
  tx.orm
    .update(products)
    .set({ ...columns, updatedAt: now })
    .where(eq(products.id, row.id))
    .run()
  indexProduct(tx, row.id)
  const after = toFullProduct(tx, changed)
  const currency = setting(tx, 'shop.currency')
  const fields = changesOf(toEntry({ ...after, ...row, ...lists }, currency), toEntry(after, currency)).map(shortened)
  return { kind: 'product', key: row.slug, outcome: 'updated', fields }
}

/** Replaces the lists that an entry has, and returns those that changed as they were before. */
function replacedLists(run: ApplyRun, productId: number, input: ProductInput): Partial<ProductLists> {
  const { tx, options, now } = run
  const { categories, tags, images, variations, grants, unpriced } = input
  return definedFields({
    categories: categories && run.categories.apply(productId, categories),
    tags: tags && applyTags(tx, productId, tags),
    images: images && applyImages(tx, { productId, variationId: null }, images, { folder: options.folder, now }),
    variations:
      unpriced === true ? undefined : variations && applyVariations(tx, productId, variations, { ...options, now }),
    grants: grants && applyGrants(tx, productId, grants)
  })
}

/** An import can change many long texts, so what is reported of each is limited. */
const reportedLength = 300

function shortened(change: FieldChange): FieldChange {
  const brief = (value: unknown): unknown =>
    typeof value === 'string' && value.length > reportedLength ? `${value.slice(0, reportedLength)}…` : value
  return { ...change, from: brief(change.from), to: brief(change.to) }
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

/** Replaces a product's tags; returns those before, or undefined when nothing changed. */
function applyTags(tx: Tx, productId: number, wanted: readonly string[]): string[] | undefined {
  const before = tagsOfProduct(tx, productId)
  if (isDeepStrictEqual(before, wanted)) return undefined
  deleteTags(tx).run({ productId })
  for (const [position, tag] of wanted.entries()) insertTag(tx).run({ productId, tag, position })
  return before
}

/** Replaces a product's grants; returns those before, or undefined when nothing changed. Benefits that orders have given stay. */
function applyGrants(tx: Tx, productId: number, wanted: readonly GrantSpec[]): GrantSpec[] | undefined {
  const before = grantsOfProduct(tx, productId)
  if (isDeepStrictEqual(before, wanted)) return undefined
  deleteGrants(tx).run({ productId })
  for (const [position, spec] of wanted.entries()) insertGrant(tx).run({ productId, spec, position })
  return before
}
