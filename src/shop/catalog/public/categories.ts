import { rawStatement } from '../../../platform/db/statements.ts'
import { cachedResponse } from '../cached-responses.ts'
import type { CachedResponse, CatalogueShop } from '../cached-responses.ts'
import type { Image } from './image.ts'

/** A category with published products (docs/contract.md A10). */
export type PublicCategory = {
  slug: string
  name: string
  description: string
  /** The slug of the category above it. */
  parent: string | null
  productCount: number
  image: Image | null
}

type Row = {
  id: number
  slug: string
  name: string
  description: string
  parentId: number | null
  productCount: number
}

const counted = rawStatement<[], Row>(`
  SELECT c.id, c.slug, c.name, c.description, c.parent_id AS parentId, count(*) AS productCount
  FROM categories c
  JOIN product_categories pc ON pc.category_id = c.id
  JOIN products p ON p.id = pc.product_id AND p.published = 1
  GROUP BY c.id
  ORDER BY c.name, c.id`)

/**
 * The categories with published products as JSON, from a cache: each one after its parent, and siblings by name.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function categoriesResponse(shop: CatalogueShop, now: number): CachedResponse {
  const render = () => ({ data: { categories: inTreeOrder(counted(shop.db).all()) }, changesAt: null })
  return cachedResponse(shop, () => 'categories', render, now)
}

function inTreeOrder(rows: readonly Row[]): PublicCategory[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const below = Map.groupBy(rows, ({ parentId }) => (parentId !== null && byId.has(parentId) ? parentId : null))
  const walk = (parentId: number | null): PublicCategory[] =>
    (below.get(parentId) ?? []).flatMap((row) => [toCategory(row, byId), ...walk(row.id)])
  return walk(null)
}

function toCategory(
  { slug, name, description, parentId, productCount }: Row,
  byId: ReadonlyMap<number, Row>
): PublicCategory {
  const parent = parentId === null ? undefined : byId.get(parentId)
  return { slug, name, description, parent: parent?.slug ?? null, productCount, image: null }
}
