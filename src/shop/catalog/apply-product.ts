import { eq, max } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { applyGrants, applyTags, CategoryIds } from './apply-lists.ts'
import { applyVariations } from './apply-variations.ts'
import type { Change } from './changes.ts'
import { withDefaults } from './import/format.ts'
import type { ProductInput } from './import/format.ts'
import { resolveOffer } from './offer-input.ts'
import type { ProductRow } from './rows.ts'
import { products } from './schema.ts'
import { indexProduct } from './search-index.ts'
import { productBySlug } from './stored-product.ts'

export type ApplyOptions = {
  /**
   * True for seeding: the stock of what exists is left alone, since orders have taken from it. False for an import: the
   * stock is what the file says.
   */
  keepStock: boolean
  /** The page's address that the shop itself gives a product; an offer that names it has none of its own. */
  urlOf?: (slug: string) => string
}

/** What the entries of one file share. */
export class ApplyRun {
  readonly tx: Tx
  readonly options: ApplyOptions
  readonly now: number
  readonly categories: CategoryIds
  #lastPosition: number | undefined

  constructor(tx: Tx, options: ApplyOptions, now: number) {
    this.tx = tx
    this.options = options
    this.now = now
    this.categories = new CategoryIds(tx)
  }

  /** The position given, or the one behind everything that has one. */
  position(given: number | undefined): number {
    const last = this.#lastPosition ?? highestPosition(this.tx)
    const position = given ?? last + 1
    this.#lastPosition = Math.max(last, position)
    return position
  }
}

function highestPosition(tx: Tx): number {
  return (
    tx.orm
      .select({ position: max(products.position) })
      .from(products)
      .get()?.position ?? 0
  )
}

export function applyProduct(run: ApplyRun, given: ProductInput): Change {
  const row = productBySlug(run.tx, given.slug)
  const { urlOf } = run.options
  const input = given.shape === 'offer' ? resolveOffer(run.tx, row, given, { urlOf, now: run.now }) : given
  return row === undefined ? createProduct(run, input) : updateProduct(run, row, input)
}

function createProduct(run: ApplyRun, input: ProductInput): Change {
  const { categories, tags, variations, grants, position, ...columns } = withDefaults(input)
  const { id } = run.tx.orm
    .insert(products)
    .values({ ...columns, position: run.position(position), createdAt: run.now, updatedAt: run.now })
    .returning({ id: products.id })
    .get()
  run.categories.apply(id, categories)
  applyTags(run.tx, id, tags)
  applyVariations(run.tx, id, variations, run.options)
  applyGrants(run.tx, id, grants)
  indexProduct(run.tx, id)
  return { kind: 'product', key: input.slug, outcome: 'created', fields: [] }
}

function updateProduct(run: ApplyRun, row: ProductRow, input: ProductInput): Change {
  const { tx, options } = run
  const columns = changedColumns(row, input, options)
  const lists = {
    categories: input.categories !== undefined && run.categories.apply(row.id, input.categories),
    tags: input.tags !== undefined && applyTags(tx, row.id, input.tags),
    variations: input.variations !== undefined && applyVariations(tx, row.id, input.variations, options),
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
  if ('name' in columns || 'description' in columns || lists.tags) indexProduct(tx, row.id)
  return { kind: 'product', key: row.slug, outcome: 'updated', fields }
}

const comparedColumns = [
  'name',
  'description',
  'priceMinor',
  'salePriceMinor',
  'saleStartsAt',
  'saleEndsAt',
  'type',
  'stock',
  'published',
  'position',
  'url'
] as const satisfies readonly (keyof ProductRow & keyof ProductInput)[]

const fileNames: Record<string, string> = {
  priceMinor: 'price',
  salePriceMinor: 'salePrice',
  saleStartsAt: 'saleStart',
  saleEndsAt: 'saleEnd'
}

type Columns = Partial<Pick<ProductRow, (typeof comparedColumns)[number]>>

function changedColumns(row: ProductRow, input: ProductInput, { keepStock }: ApplyOptions): Columns {
  const said = comparedColumns.filter((name) => input[name] !== undefined && !(name === 'stock' && keepStock))
  const wanted = withoutContradiction(row, input, Object.fromEntries(said.map((name) => [name, input[name]])))
  const changed = comparedColumns.filter((name) => wanted[name] !== undefined && wanted[name] !== row[name])
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]))
}

/** A file may state one half of a sale that contradicts the half which the shop had: then what the shop had goes. */
function withoutContradiction(row: ProductRow, input: ProductInput, wanted: Columns): Columns {
  const { priceMinor, salePriceMinor, saleStartsAt, saleEndsAt } = { ...row, ...wanted }
  const settled = { ...wanted }
  if (salePriceMinor !== null && salePriceMinor >= priceMinor) settled.salePriceMinor = null
  if (saleStartsAt !== null && saleEndsAt !== null && saleEndsAt <= saleStartsAt) {
    if (input.saleEndsAt === undefined) settled.saleEndsAt = null
    else settled.saleStartsAt = null
  }
  return settled
}
