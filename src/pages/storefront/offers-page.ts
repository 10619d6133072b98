import { ShopError } from '../../client/client.ts'
import type { Category } from '../../client/api-types.ts'
import { toCard } from './card.ts'
import type { Meta, Shown, Site, Visit } from './site.ts'

const perPage = 24
type Query = { page: number; category: string; search: string }

/** The products by category and search. The page's script replaces the list while the buyer types. */
export async function showOffers({ client, query: sent, site }: Visit): Promise<Shown> {
  const query = readQuery(sent)
  const { page, category, search } = query
  const common = { category, search, page, isFront: page === 1 && category === '' && search === '' }
  try {
    const { categories } = await client.get('/store/categories')
    const { products, pagination } = await client.get('/store/products', {
      query: { page, perPage, ...(category && { category }), ...(search && { search }) }
    })
    const chosen = categories.find(({ slug }) => slug === category)
    const heading = search === '' ? (chosen?.name ?? 'All products') : `Found for “${search}”`
    return {
      template: 'offers',
      title: common.isFront ? site.name : heading,
      meta: metaOf({ ...query, isPastEnd: page > 1 && page > pagination.totalPages }, chosen, site),
      data: {
        ...common,
        heading,
        description: chosen?.description ?? '',
        chips: chipsOf(categories, chosen),
        cards: products.map((card) => toCard(card, site)),
        total: pagination.total,
        pages: pageLinks(query, pagination.totalPages),
        closed: false
      }
    }
  } catch (error) {
    if (!(error instanceof ShopError) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error
    const empty = { chips: [], cards: [], total: 0, pages: {}, description: '' }
    return {
      status: 503,
      template: 'offers',
      title: site.name,
      data: { ...common, ...empty, heading: 'We are closed', closed: true }
    }
  }
}

/** Reads the query of a link from anywhere: invalid parameters are ignored. */
function readQuery(sent: URLSearchParams): Query {
  const text = (name: string): string => {
    const value = sent.get(name)?.trim() ?? ''
    return Array.from(value).length > 100 ? '' : value
  }
  const page = /^[1-9]\d{0,5}$/.test(sent.get('page') ?? '') ? Number(sent.get('page')) : 1
  return { page, category: text('category'), search: text('search') }
}

/** The top categories, and below the chosen one its own, or its siblings. */
function chipsOf(categories: readonly Category[], chosen: Category | undefined) {
  const below = categories.filter(({ parent }) => parent !== null && parent === chosen?.slug)
  const open = below.length > 0 ? (chosen?.slug ?? null) : (chosen?.parent ?? null)
  return categories
    .filter(({ parent }) => parent === null || parent === open)
    .map(({ slug, name, parent }) => ({
      name,
      slug,
      href: link({ page: 1, category: slug, search: '' }),
      isBelow: parent !== null
    }))
}

function pageLinks(query: Query, totalPages: number) {
  const { page } = query
  const to = (number: number): string => link({ ...query, page: number })
  return { before: page > 1 ? to(page - 1) : null, after: page < totalPages ? to(page + 1) : null, page, totalPages }
}

/** The address of a list. */
export function link({ page, category, search }: Query): string {
  const query = new URLSearchParams({
    ...(category === '' ? {} : { category }),
    ...(search === '' ? {} : { search }),
    ...(page === 1 ? {} : { page: String(page) })
  })
  return query.size === 0 ? '/' : `/?${query.toString()}`
}

function metaOf(
  { isPastEnd, ...query }: Query & { isPastEnd: boolean },
  chosen: Category | undefined,
  site: Site
): Meta {
  const isKnown = !isPastEnd && query.search === '' && (query.category === '' || chosen !== undefined)
  return {
    description: (chosen?.description || site.tagline) ?? '',
    path: isKnown ? link(query) : null,
    image: chosen?.image?.url ?? null,
    jsonLd: null
  }
}
