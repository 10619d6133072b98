import type { Db } from '../../../platform/db/database.ts'
import { inPartsById } from '../../../platform/db/in-parts.ts'
import { rawStatement } from '../../../platform/db/database.ts'
import { parseCursor, toCursor } from '../../../platform/input-fields.ts'
import { compareKey } from '../../../platform/text.ts'
import type { ProductRow } from '../rows.ts'
import { productById } from '../stored-product.ts'
import { AppError } from '../../../errors.ts'
import { findCategoryId } from '../search/find-products.ts'

export type ProductFilter = {
  /** Part of a name, slug or SKU, in any case. */
  search?: string | undefined
  /** Slug or name; its products include those of the categories below it. */
  category?: string | undefined
  /** The cursor of an earlier page. */
  cursor?: string | undefined
  /** All products that match if undefined. */
  limit?: number | undefined
}

/** `rows` are read while they are used; `nextCursor` is null on the last page. */
export type ProductPage<T> = { rows: Iterable<T>; nextCursor: string | null }

type Values = { search: string; category: number; order: number; id: number; limit: number }

const matching = rawStatement<Values, number>(`
  SELECT id FROM products p
  WHERE (position, id) > (@order, @id)
    AND (@category = 0 OR EXISTS (SELECT 1 FROM product_categories WHERE product_id = p.id AND category_id = @category))
    AND (@search = '' OR instr(compare_key(name), @search) > 0 OR instr(slug, @search) > 0
      OR EXISTS (SELECT 1 FROM variations WHERE product_id = p.id AND available AND instr(compare_key(sku), @search) > 0))
  ORDER BY position, id LIMIT @limit`)

/**
 * The products of an operator's list in the shop's order, also the unpublished and sold-out ones. Of a long list, only
 * the ids are in memory.
 *
 * @param view what the list shows of a product
 * @throws AppError NOT_FOUND for an unknown category; VALIDATION_FAILED for a cursor that is not one
 */
export function listProducts<T>(db: Db, filter: ProductFilter, view: (row: ProductRow) => T): ProductPage<T> {
  const { search = '', category, cursor, limit = -1 } = filter
  const after = cursor === undefined ? { order: -1, id: 0 } : parseCursor(cursor)
  const ids = matching(db)
    .pluck()
    .all({
      ...after,
      search: compareKey(search),
      category: category === undefined ? 0 : getCategoryId(db, category),
      // One more than the page tells whether there is a next page. A negative limit is none.
      limit: limit + (limit < 0 ? 0 : 1)
    })
  const page = limit < 0 ? ids : ids.slice(0, limit)
  const rows = inPartsById(db, page, (some) => some.flatMap((id) => productById(db, id) ?? []).map(view))
  const lastId = ids.length > page.length ? page.at(-1) : undefined
  const last = lastId === undefined ? undefined : productById(db, lastId)
  return { rows, nextCursor: last === undefined ? null : toCursor({ order: last.position, id: last.id }) }
}

const startingWith = rawStatement<{ start: string; limit: number }, { slug: string; name: string }>(
  `SELECT slug, name FROM products WHERE slug >= @start AND slug < @start || char(0x10FFFF) ORDER BY slug LIMIT @limit`
)

/** At most `limit` products whose slugs begin with a text, for completion. */
export function slugsFrom(db: Db, start: string, limit: number): { slug: string; name: string }[] {
  return startingWith(db).all({ start, limit })
}

/** The id of a category by its slug or name. @throws AppError NOT_FOUND */
export function getCategoryId(db: Db, category: string): number {
  const id = findCategoryId(db, category)
  if (id === undefined) throw new AppError('NOT_FOUND', `No category has the slug or name ${category}.`)
  return id
}
