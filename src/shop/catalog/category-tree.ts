import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, gt, isNotNull, sql } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { countOutcomes } from './changes.ts'
import type { Counts } from './changes.ts'
import type { CategoryInput } from './import/format.ts'
import { slugFor } from './import/slug.ts'
import { categories, productCategories } from './schema.ts'
import { indexProduct } from './search/index-product.ts'
import { categoriesOfProduct } from './stored-product.ts'

type CategoryRow = typeof categories.$inferSelect

const owner = sql.placeholder('productId')
const deletePlaces = statement((orm) =>
  orm.delete(productCategories).where(eq(productCategories.productId, owner)).prepare()
)
const insertPlace = statement((orm) =>
  orm
    .insert(productCategories)
    .values({ productId: owner, categoryId: sql.placeholder('categoryId'), position: sql.placeholder('position') })
    .prepare()
)
/** So many products that a category is updated at once. */
const wholeCategory = 2 ** 31

/** What separates the levels of a category in a file: `Clothing > Shirts`. */
const levels = ' > '

/**
 * The categories of the shop during an import. A product of a category is in all categories above it, too, so that lists
 * and coupons of `Clothing` include the shirts.
 */
export class CategoryTree {
  readonly #tx: Tx
  readonly #byId: Map<number, CategoryRow>
  readonly #bySlug: Map<string, CategoryRow>
  readonly #updatesLater: boolean

  /** @param options.updatesLater leaves the products of renamed and moved categories to `updateProducts` */
  constructor(tx: Tx, { updatesLater = false }: { updatesLater?: boolean | undefined } = {}) {
    this.#tx = tx
    this.#updatesLater = updatesLater
    const rows = tx.orm.select().from(categories).all()
    this.#byId = new Map(rows.map((row) => [row.id, row]))
    this.#bySlug = new Map(rows.map((row) => [row.slug, row]))
  }

  /**
   * The ids of categories by name, slug or path, without duplicates. Unknown ones are created. Names with the same slug are
   * one category, which keeps its first name.
   */
  of(names: readonly string[]): number[] {
    return [...new Set(names.map((name) => this.#find(name).id))]
  }

  /** Replaces a product's categories; returns those before, as a file names them, or undefined when nothing changed. */
  apply(productId: number, names: readonly string[]): string[] | undefined {
    return this.#replace(productId, this.of(names))
  }

  /**
   * Creates and updates categories by slug. Other categories do not change.
   *
   * @throws AppError VALIDATION_FAILED for an unknown parent, or one that is below the category
   */
  applyEntries(entries: readonly CategoryInput[]): Counts {
    const before = new Map(this.#bySlug)
    for (const { slug, name, description } of entries) {
      const row = this.#bySlug.get(slug) ?? this.#create(slug, name, null)
      this.#update(row, { name, description: description ?? row.description })
    }
    for (const [index, { slug, parent }] of entries.entries()) {
      const row = this.#bySlug.get(slug)
      if (row === undefined || parent === undefined) continue
      this.#update(row, {
        parentId: parent === null ? null : this.#parentOf(row, parent, `categories.${index}.parent`)
      })
    }
    return countOutcomes(
      entries.map(({ slug }) => {
        const old = before.get(slug)
        if (old === undefined) return 'created'
        return isDeepStrictEqual(old, this.#bySlug.get(slug)) ? 'unchanged' : 'updated'
      })
    )
  }

  /** @throws AppError VALIDATION_FAILED */
  #parentOf(row: CategoryRow, slug: string, path: string): number {
    const parent = this.#bySlug.get(slug)
    const cause = parent === undefined ? 'No category has this slug.' : 'A category cannot be below itself.'
    if (parent === undefined || this.#path(parent.id).includes(row.id)) {
      throw validationFailed({ [path]: [cause] }, `The category ${row.slug} has a parent that is not valid. ${cause}`)
    }
    return parent.id
  }

  /** The categories before, or undefined when nothing changed. */
  #replace(productId: number, ids: readonly number[]): string[] | undefined {
    const wanted = [...new Set(ids.flatMap((id) => this.#path(id)))]
    const current = categoriesOfProduct(this.#tx, productId)
    if (
      isDeepStrictEqual(
        current.map(({ id }) => id),
        wanted
      )
    )
      return undefined
    deletePlaces(this.#tx).run({ productId })
    for (const [position, categoryId] of wanted.entries())
      insertPlace(this.#tx).run({ productId, categoryId, position })
    return current.map(categoryReference)
  }

  /** The category's id after those of the categories above it. */
  #path(id: number): number[] {
    const parentId = this.#byId.get(id)?.parentId ?? null
    return parentId === null ? [id] : [...this.#path(parentId), id]
  }

  #find(name: string): CategoryRow {
    const [first = '', ...further] = name.split(levels)
    const slug = slugFor(first)
    const top = this.#bySlug.get(slug) ?? this.#create(slug, first, null)
    return further.reduce((parent, below) => this.#findBelow(parent, below), top)
  }

  /**
   * The category with this name below another one. A category of this name at the top moves below it. When the slug belongs
   * to a category elsewhere, the new one's slug ends with its parent's: `shoes-women`.
   */
  #findBelow(parent: CategoryRow, name: string): CategoryRow {
    const slug = slugFor(name)
    const children = [...this.#byId.values()].filter(({ parentId }) => parentId === parent.id)
    const known = children.find((row) => row.slug === slug || compareKey(row.name) === compareKey(name))
    if (known !== undefined) return known
    const other = this.#bySlug.get(slug)
    if (other === undefined) return this.#create(slug, name, parent.id)
    if (other.parentId !== null || this.#path(parent.id).includes(other.id)) {
      return this.#create(this.#freeSlug(slugFor(`${slug.slice(0, 60)} ${parent.slug}`)), name, parent.id)
    }
    return this.#update(other, { parentId: parent.id })
  }

  #freeSlug(base: string): string {
    let slug = base
    for (let round = 2; this.#bySlug.has(slug); round += 1) slug = `${base.slice(0, 90)}-${round}`
    return slug
  }

  #create(slug: string, name: string, parentId: number | null): CategoryRow {
    const row = this.#tx.orm.insert(categories).values({ slug, name, parentId }).returning().get()
    return this.#remember(row)
  }

  /** Changes a category. Its products get the categories above it, and are found by its name. */
  #update(row: CategoryRow, change: Partial<CategoryRow>): CategoryRow {
    const changed = { ...row, ...change }
    if (isDeepStrictEqual(changed, row)) return row
    const isSame = changed.parentId === row.parentId && changed.name === row.name
    const next = isSame ? changed : { ...changed, updatedTo: 0 }
    const { id, ...columns } = next
    this.#tx.orm.update(categories).set(columns).where(eq(categories.id, id)).run()
    this.#remember(next)
    if (isSame || this.#updatesLater) return next
    while (this.updateProducts(wholeCategory));
    return this.#byId.get(id) ?? next
  }

  /** Updates up to `limit` products of a renamed or moved category. False when there is none. */
  updateProducts(limit: number): boolean {
    const row = this.#behind()
    if (row === undefined) return false
    const ids = this.#tx.orm
      .select({ id: productCategories.productId })
      .from(productCategories)
      .where(and(eq(productCategories.categoryId, row.id), gt(productCategories.productId, row.updatedTo ?? 0)))
      .orderBy(productCategories.productId)
      .limit(limit)
      .all()
      .map(({ id }) => id)
    for (const id of ids) {
      this.#replace(id, idsOf(this.#tx, id))
      indexProduct(this.#tx, id)
    }
    const updatedTo = ids.length < limit ? null : (ids.at(-1) ?? null)
    this.#tx.orm.update(categories).set({ updatedTo }).where(eq(categories.id, row.id)).run()
    this.#remember({ ...row, updatedTo })
    return true
  }

  #behind(): CategoryRow | undefined {
    return [...this.#byId.values()].find(({ updatedTo }) => updatedTo !== null)
  }

  #remember(row: CategoryRow): CategoryRow {
    this.#byId.set(row.id, row)
    this.#bySlug.set(row.slug, row)
    return row
  }
}

/** Whether products have to be updated, because an import renamed or moved their category. */
export function hasStaleProducts({ orm }: Db): boolean {
  return orm.select({ id: categories.id }).from(categories).where(isNotNull(categories.updatedTo)).get() !== undefined
}

function idsOf(tx: Tx, productId: number): number[] {
  return categoriesOfProduct(tx, productId).map(({ id }) => id)
}

/** How a file refers to a category: by its name, or by its slug if the name means another category or a path. */
export function categoryReference({ slug, name }: Pick<CategoryRow, 'slug' | 'name'>): string {
  return slugFor(name) === slug && !name.includes(levels) ? name : slug
}

/** The categories in the import format, by slug. */
export function exportCategories({ orm }: Db) {
  const rows = orm.select().from(categories).orderBy(asc(categories.slug)).all()
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]))
  return rows.map(({ slug, name, parentId, description }) => {
    return { slug, name, parent: parentId === null ? null : (slugs.get(parentId) ?? null), description }
  })
}
