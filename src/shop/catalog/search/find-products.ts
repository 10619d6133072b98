import { eq, sql } from 'drizzle-orm'
import { categories } from '../schema.ts'
import type { Db } from '../../../platform/db/database.ts'
import { rawStatement, statement } from '../../../platform/db/database.ts'
import { foldWord, otherSpellings, tokenMarks } from '../../../platform/search-text.ts'
import { slugFor } from '../import/slug.ts'
import { categoryQuery, keyToken } from './index-product.ts'
import { compoundsOf, parseSearch, spellingsOf } from './parse-search.ts'
import type { Search } from './parse-search.ts'

export const productSorts = ['position', 'newest', 'price', '-price', 'name'] as const
export type ProductSort = (typeof productSorts)[number]

export type ProductQuery = {
  /** The buyer's words. */
  text?: string | undefined
  /** Slug or name of a category. Clients of the offers know only the name. */
  category?: string | undefined
  /** By default `position`; with a text, by how well a product matches. */
  sort?: ProductSort | undefined
  /** Whether to look only in name, description and tags, and to forgive no typing mistake. */
  literal?: boolean
  /** Whether to leave out products that are sold out. */
  availableOnly?: boolean
  page: number
  perPage: number
}

export type FoundProducts = { ids: number[]; total: number }

/**
 * The published products that match, one page of their ids, and the number of all.
 *
 * Each word of the text must be the beginning of a word in the product's name, tags, categories, SKUs or description, in
 * one of its spellings (`strasse` and Straße), or the last part of a compound (`packung` and Großpackung). If
 * no product matches, one typing mistake in each word of five letters or more is forgiven. Products with all words in the
 * name come first, then in name, tags, categories and SKUs, then all others. Products that match equally
 * well, and those listed by position, are ordered by position and id, sold-out ones last.
 *
 * @param now decides which sale prices count when sorted by price
 */
export function findProducts(db: Db, query: ProductQuery, now: number): FoundProducts {
  const { text, category, literal } = query
  const keys = category === undefined ? undefined : keysOf(db, category)
  if (category !== undefined && keys === undefined) return { ids: [], total: 0 }
  if (text === undefined) return pageOf(db, query, { filter: keys ?? listed, tiers: [] }, now)
  const search = parseSearch(text)
  if (search.words.length + search.signs.length === 0) return { ids: [], total: 0 }
  const words = search.words.map((word) => [word, ...otherSpellings(word)])
  const whole = words.map((same) =>
    literal === true ? same : [...same, ...same.flatMap((word) => compoundsOf(db, foldWord(word)))]
  )
  const found = pageOf(db, query, matchOf(search, keys, literal, whole.map(anyOf)), now)
  if (found.total > 0 || literal === true) return found
  const spellings = search.words.map((word) => spellingsOf(db, foldWord(word)))
  if (spellings.every(({ length }) => length === 0)) return found
  const terms = words.map((same, index) => anyOf([...same, ...(spellings[index] ?? [])]))
  return pageOf(db, query, matchOf(search, keys, literal, terms), now)
}

/** A query of FTS5: what every product must match, and the words in wider and wider sets of columns, the best first. */
type Match = { filter: string | undefined; tiers: string[] }

const listed = `"${keyToken('listed')}"`
const bestColumns = ['{name} : ', '{name tags labels} : ', '']
const literalColumns = ['{name tags description} : ']

function matchOf(search: Search, keys: string | undefined, literal: boolean | undefined, terms: string[]): Match {
  const marks = literal === true ? [tokenMarks.sign] : [tokenMarks.sign, tokenMarks.labelSign]
  const signs = search.signs.map((sign) => anyOf(marks.map((mark) => mark + sign)))
  const filters = keys === undefined ? signs : [keys, ...signs]
  const words = terms.join(' AND ')
  return {
    filter: filters.length === 0 ? undefined : filters.join(' AND '),
    tiers:
      terms.length === 0 ? [] : (literal === true ? literalColumns : bestColumns).map((names) => `${names}(${words})`)
  }
}

const prefixTerm = (word: string): string => `"${word}"*`
const anyOf = (words: readonly string[]): string => `(${words.map(prefixTerm).join(' OR ')})`

const categoryBySlug = statement((orm) =>
  orm
    .select({ id: categories.id })
    .from(categories)
    .where(eq(categories.slug, sql.placeholder('slug')))
    .prepare()
)

/** The id of a category by its slug or name. */
export function findCategoryId(db: Db, category: string): number | undefined {
  return categoryBySlug(db).get({ slug: slugFor(category) })?.id
}

/** The products of a category as a query of FTS5. */
function keysOf(db: Db, category: string): string | undefined {
  const id = findCategoryId(db, category)
  return id === undefined ? undefined : categoryQuery(id)
}

const fullQuery = ({ filter, tiers }: Match, tier: string | undefined = tiers.at(-1)): string =>
  [filter, tier].filter((part) => part !== undefined).join(' AND ')

// The row id of an entry is the product's place: sold out, position, id (index-product.ts).
const productId = '(products_search.rowid & 4294967295)'
const matching = 'FROM products_search WHERE products_search MATCH @match AND products_search.rowid < @end'
const [wholeIndex, available] = [2n ** 63n - 1n, 2n ** 62n]

type MatchValues = { match: string; end: bigint }
const countMatches = rawStatement<MatchValues, number>(`SELECT count(*) ${matching}`)
const matchesByPlace = rawStatement<MatchValues & { limit: number; offset: number }, number>(
  `SELECT ${productId} ${matching} ORDER BY products_search.rowid LIMIT @limit OFFSET @offset`
)

function pageOf(db: Db, query: ProductQuery, match: Match, now: number): FoundProducts {
  const end = query.availableOnly === true ? available : wholeIndex
  const total =
    countMatches(db)
      .pluck()
      .get({ match: fullQuery(match), end }) ?? 0
  const offset = (query.page - 1) * query.perPage
  if (offset >= total) return { ids: [], total }
  // A page that is full needs no wider search.
  const page = { limit: Math.min(query.perPage, total - offset), offset }
  const { sort = match.tiers.length > 1 && query.literal !== true ? undefined : 'position' } = query
  if (sort === undefined) return { ids: bestMatches(db, match, end, page), total }
  const values = { match: fullQuery(match), end, ...page }
  const ids =
    sort === 'position'
      ? matchesByPlace(db).pluck().all(values)
      : sorted[sort](db)
          .pluck()
          .all({ ...values, now })
  return { ids, total }
}

/** A page of the products by how well they match: those of each tier that are not in a better one. */
function bestMatches(db: Db, match: Match, end: bigint, page: { limit: number; offset: number }): number[] {
  const ids: number[] = []
  let { offset } = page
  for (const [index, tier] of match.tiers.entries()) {
    const better = match.tiers[index - 1]
    const query = better === undefined ? fullQuery(match, tier) : `(${fullQuery(match, tier)}) NOT (${better})`
    const found = matchesByPlace(db)
      .pluck()
      .all({ match: query, end, limit: page.limit - ids.length, offset })
    ids.push(...found)
    if (ids.length === page.limit) break
    offset = found.length > 0 || offset === 0 ? 0 : offset - (countMatches(db).pluck().get({ match: query, end }) ?? 0)
  }
  return ids
}

const priceIn = (row: 'p' | 'v'): string => `
  CASE WHEN ${row}.sale_price_minor < ${row}.price_minor AND coalesce(p.sale_starts_at, @now) <= @now
    AND coalesce(p.sale_ends_at, @now + 1) > @now THEN ${row}.sale_price_minor ELSE ${row}.price_minor END`
/** The price that a card shows: the lowest of the variations in stock, or of all when they are sold out. */
const price = `
  coalesce((
    SELECT ${priceIn('v')} AS lowest FROM variations v WHERE v.product_id = p.id AND v.available = 1
    ORDER BY coalesce(v.stock, p.stock, 1) <= 0, lowest LIMIT 1
  ), ${priceIn('p')})`
// SQLite's lower() changes only the letters A to Z, and fold_word is slow.
const name = `CASE WHEN octet_length(p.name) = length(p.name) THEN lower(p.name) ELSE fold_word(p.name) END`

type SortValues = MatchValues & { limit: number; offset: number; now: number }
const inOrder = (order: string) =>
  rawStatement<SortValues, number>(
    `SELECT p.id FROM products_search CROSS JOIN products p ON p.id = ${productId}
     WHERE products_search MATCH @match AND products_search.rowid < @end
     ORDER BY ${order}, products_search.rowid LIMIT @limit OFFSET @offset`
  )
const sorted = {
  // Ids are in the order in which products were created.
  newest: rawStatement<SortValues, number>(
    `SELECT ${productId} ${matching} AND @now IS NOT NULL ORDER BY ${productId} DESC LIMIT @limit OFFSET @offset`
  ),
  price: inOrder(price),
  '-price': inOrder(`${price} DESC`),
  name: inOrder(name)
}

// The search index lists the products of a category ten times as fast as the tables.
const count = rawStatement<[string], number>('SELECT count(*) FROM products_search WHERE products_search MATCH ?')
const firstImage = rawStatement<[string], number>(`
  SELECT (
    SELECT id FROM product_images
    WHERE product_id = products_search.rowid & 4294967295 AND variation_id IS NULL AND media_hash IS NOT NULL
    ORDER BY position, id LIMIT 1
  ) AS image
  FROM products_search WHERE products_search MATCH ? AND image IS NOT NULL ORDER BY products_search.rowid LIMIT 1`)

/** The number of published products of a category, with those of the categories below it. */
export function countInCategory(db: Db, categoryId: number): number {
  return count(db).pluck().get(categoryQuery(categoryId)) ?? 0
}

/** The id of the main picture of the first product with a picture, in the order of the shop. */
export function firstImageInCategory(db: Db, categoryId: number): number | undefined {
  return firstImage(db).pluck().get(categoryQuery(categoryId))
}
