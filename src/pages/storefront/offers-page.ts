import { ShopError } from '../../client/client.ts'
import type { Card, Category } from '../../client/api-types.ts'
import { toCard } from './products.ts'
import { shopJsonLd } from './structured-data.ts'
import type { Meta, Shown, Site, Visit } from './site.ts'

const perPage = 24
const sorts = ['position', 'newest', 'price', '-price', 'name'] as const
type Sort = (typeof sorts)[number]
type Query = { page: number; category: string; search: string; sort: Sort }

/**
 * The products by category and search. The page's script replaces the list while the buyer types. A category that does
 * not exist, and a page after the last one, are 404 with a way on.
 */
export async function showOffers(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const query = readQuery(visit.query)
  const { page, category, search, sort } = query
  try {
    const { categories } = await client.get('/store/categories')
    const chosen = categories.find(({ slug }) => slug === category)
    if (category !== '' && chosen === undefined) return missingCategory(query, categories, site)
    const { products, pagination } = await client.get('/store/products', {
      query: {
        page,
        perPage,
        ...(category && { category }),
        ...(search && { search }),
        ...(sort !== 'position' && { sort })
      }
    })
    const { total, totalPages } = pagination
    if (page > Math.max(1, totalPages)) return missingPage(query, totalPages, { chosen, categories, site })
    const isFront = isFrontPage(query)
    const heading = headingOf(query, chosen, site)
    return {
      template: 'offers',
      title: isFront ? site.name : heading,
      meta: metaOf(query, { chosen, products }, site),
      data: {
        ...listOf(query),
        heading,
        description: chosen?.description ?? '',
        status: statusOf(query, { total, totalPages }, site),
        chips: chipsOf(categories, chosen),
        cards: products.map((card) => toCard(card, site)),
        sorts: total > 1 ? sortsOf(query, site) : [],
        pages: { before: page > 1 ? to(query, page - 1) : null, after: page < totalPages ? to(query, page + 1) : null }
      }
    }
  } catch (error) {
    if (!(error instanceof ShopError) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error
    const words = { heading: site.t('closed'), status: site.t('closedText'), closed: true }
    return { status: 503, template: 'offers', title: site.name, data: { ...listOf(query), ...words } }
  }
}

/** The data of a list without products. */
function listOf(query: Query) {
  const empty = { chips: [], cards: [], sorts: [], pages: { before: null, after: null }, description: '' }
  return { ...query, ...empty, isFront: isFrontPage(query), closed: false, missing: false }
}

function isFrontPage({ page, category, search }: Query): boolean {
  return page === 1 && category === '' && search === ''
}

function headingOf({ search }: Query, chosen: Category | undefined, { t }: Site): string {
  return search === '' ? (chosen?.name ?? t('allProducts')) : t('found', { search })
}

function statusOf(query: Query, { total, totalPages }: { total: number; totalPages: number }, { t }: Site): string {
  if (total === 0) return t(isFrontPage(query) ? 'noProducts' : 'noneFound')
  const count = t('products', { count: total })
  return totalPages > 1 ? `${count}, ${t('pageOf', { page: query.page, pages: totalPages })}` : count
}

function missingCategory(query: Query, categories: readonly Category[], site: Site): Shown {
  const heading = site.t('missingCategory')
  const words = { heading, status: site.t('missingCategoryText'), chips: chipsOf(categories, undefined) }
  return { status: 404, template: 'offers', title: heading, data: { ...listOf(query), ...words, missing: true } }
}

type Known = { chosen: Category | undefined; categories: readonly Category[]; site: Site }

function missingPage(query: Query, totalPages: number, { chosen, categories, site }: Known): Shown {
  const count = Math.max(1, totalPages)
  const heading = site.t('missingPage', { page: query.page })
  const words = { heading, status: site.t('missingPageText', { count }), chips: chipsOf(categories, chosen) }
  const pages = { before: to(query, count), after: null }
  return {
    status: 404,
    template: 'offers',
    title: heading,
    data: { ...listOf(query), ...words, pages, missing: true }
  }
}

/** Reads the query of a link from anywhere: invalid parameters are ignored. */
function readQuery(sent: URLSearchParams): Query {
  const text = (name: string): string => {
    const value = sent.get(name)?.trim() ?? ''
    return Array.from(value).length > 100 ? '' : value
  }
  const page = /^[1-9]\d{0,5}$/.test(sent.get('page') ?? '') ? Number(sent.get('page')) : 1
  const sort = sorts.find((name) => name === sent.get('sort')) ?? 'position'
  return { page, category: text('category'), search: text('search'), sort }
}

/** The choices of an order. A search without one has the best matches first. */
function sortsOf({ sort, search }: Query, { t }: Site) {
  return sorts.map((value) => ({
    value,
    label: t(value === 'position' && search !== '' ? 'sort.match' : `sort.${value}`),
    chosen: value === sort
  }))
}

/** The top categories, and below the chosen one its own, or its siblings. */
function chipsOf(categories: readonly Category[], chosen: Category | undefined) {
  const below = categories.filter(({ parent }) => parent !== null && parent === chosen?.slug)
  const open = below.length > 0 ? (chosen?.slug ?? null) : (chosen?.parent ?? null)
  return categories
    .filter(({ parent }) => parent === null || parent === open)
    .map(({ slug, name, parent }) => ({ name, slug, href: link({ category: slug }), isBelow: parent !== null }))
}

function to(query: Query, page: number): string {
  return link({ ...query, page })
}

/** The address of a list. */
export function link({ page = 1, category = '', search = '', sort = 'position' }: Partial<Query>): string {
  const query = new URLSearchParams({
    ...(category === '' ? {} : { category }),
    ...(search === '' ? {} : { search }),
    ...(sort === 'position' ? {} : { sort }),
    ...(page === 1 ? {} : { page: String(page) })
  })
  return query.size === 0 ? '/' : `/?${query.toString()}`
}

/** A search, and another order of the same products, stay out of search results. */
function metaOf(
  query: Query,
  { chosen, products }: { chosen: Category | undefined; products: readonly Card[] },
  site: Site
): Meta {
  const isListed = query.search === '' && query.sort === 'position'
  return {
    description: (chosen?.description || site.tagline) ?? '',
    path: isListed ? link(query) : null,
    image: chosen?.image ?? products.find(({ image }) => image !== null)?.image ?? null,
    jsonLd: isFrontPage(query) ? shopJsonLd(site) : null
  }
}
