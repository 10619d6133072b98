import { isDeepStrictEqual } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { slugFor } from './import/slug.ts'
import { categories, productCategories, productGrants, productTags } from './schema.ts'
import type { GrantSpec } from './grants.ts'
import { categoriesOfProduct, grantsOfProduct, tagsOfProduct } from './stored-product.ts'

const categoryBySlug = statement((orm) =>
  orm
    .select({ id: categories.id })
    .from(categories)
    .where(eq(categories.slug, sql.placeholder('slug')))
    .prepare()
)

/** The categories of an import. Names with the same slug are one category, which keeps its first name. */
export class CategoryIds {
  readonly #tx: Tx
  readonly #known = new Map<string, number>()

  constructor(tx: Tx) {
    this.#tx = tx
  }

  /** The ids of these categories, without duplicates, in the order of the names. Unknown names create categories. */
  of(names: readonly string[]): number[] {
    return [...new Set(names.map((name) => this.#find(name)))]
  }

  /** Replaces a product's categories; returns true when something changed. */
  apply(productId: number, names: readonly string[]): boolean {
    const wanted = this.of(names)
    const current = categoriesOfProduct(this.#tx, productId).map((category) => category.id)
    if (isDeepStrictEqual(current, wanted)) return false
    const { orm } = this.#tx
    orm.delete(productCategories).where(eq(productCategories.productId, productId)).run()
    for (const [position, categoryId] of wanted.entries()) {
      orm.insert(productCategories).values({ productId, categoryId, position }).run()
    }
    return true
  }

  #find(name: string): number {
    const slug = slugFor(name)
    const id = this.#known.get(slug) ?? categoryBySlug(this.#tx).get({ slug })?.id ?? this.#create(slug, name)
    this.#known.set(slug, id)
    return id
  }

  #create(slug: string, name: string): number {
    return this.#tx.orm.insert(categories).values({ slug, name }).returning({ id: categories.id }).get().id
  }
}

/** Replaces a product's tags; returns true when something changed. */
export function applyTags(tx: Tx, productId: number, wanted: readonly string[]): boolean {
  if (isDeepStrictEqual(tagsOfProduct(tx, productId), wanted)) return false
  tx.orm.delete(productTags).where(eq(productTags.productId, productId)).run()
  for (const [position, tag] of wanted.entries()) tx.orm.insert(productTags).values({ productId, tag, position }).run()
  return true
}

/** Replaces a product's grants; returns true when something changed. Benefits that orders have given stay. */
export function applyGrants(tx: Tx, productId: number, wanted: readonly GrantSpec[]): boolean {
  if (isDeepStrictEqual(grantsOfProduct(tx, productId), wanted)) return false
  tx.orm.delete(productGrants).where(eq(productGrants.productId, productId)).run()
  for (const [position, spec] of wanted.entries()) {
    tx.orm.insert(productGrants).values({ productId, spec, position }).run()
  }
  return true
}
