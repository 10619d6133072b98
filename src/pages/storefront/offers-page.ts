import { AppError } from '../../errors.ts'
import { rawTarget } from '../../platform/http/node-request.ts'
import { codePoints } from '../../platform/text.ts'
import { listCategories } from '../../shop/catalog/categories.ts'
import type { Offer } from '../../shop/catalog/offer-view.ts'
import { listOffers } from '../../shop/catalog/offers.ts'
import type { OfferQuery } from '../../shop/catalog/offers.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { PageCall } from '../page.ts'
import { pictureRules } from './pictures.ts'
import { toCard } from './card.ts'
import type { Shown } from './shown.ts'

const perPage = 24

type Listed = { offers: Offer[]; pagination: { page: number; total: number; totalPages: number } }

/** The offers by category and search. The page's script runs later searches without reloading the page. */
export function showOffers({ app, request, now }: PageCall): Shown {
  const query = readQuery(request)
  const { page, category = '', search = '' } = query
  const categories = listCategories(app.db)
  const title = setting(app.db, 'shop.name')
  const common = { categories, category, search, page, perPage, rules: JSON.stringify(pictureRules) }
  try {
    const { data } = JSON.parse(listOffers(app, query, now).body.toString()) as { data: Listed }
    const { total, totalPages } = data.pagination
    const name = categories.find(({ slug }) => slug === category)?.name
    const heading = search === '' ? (name ?? 'Everything in the shop') : `Found for “${search}”`
    const cards = data.offers.map((offer) => toCard(offer, app.publicUrl()))
    const pages = pageLinks(query, totalPages)
    return { template: 'offers', title, data: { ...common, heading, cards, total, pages, closed: false } }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DEPENDENCY_UNAVAILABLE') throw error
    const data = { ...common, heading: 'We are closed', cards: [], total: 0, pages: {}, closed: true }
    return { status: 503, template: 'offers', title, data }
  }
}

/** Reads the query of a link from anywhere: invalid parameters are ignored. */
function readQuery(request: Request): OfferQuery {
  const target = rawTarget(request)
  const sent = new URLSearchParams(target.includes('?') ? target.slice(target.indexOf('?')) : '')
  const text = (name: string): string | undefined => {
    const value = sent.get(name)?.trim() ?? ''
    return value === '' || codePoints(value) > 100 ? undefined : value
  }
  const page = /^[1-9]\d{0,5}$/.test(sent.get('page') ?? '') ? Number(sent.get('page')) : 1
  return { page, perPage, category: text('category'), search: text('search') }
}

function pageLinks({ page, category, search }: OfferQuery, totalPages: number): object {
  const link = (to: number): string => {
    const query = new URLSearchParams({
      ...(category === undefined ? {} : { category }),
      ...(search === undefined ? {} : { search }),
      ...(to === 1 ? {} : { page: String(to) })
    })
    return query.size === 0 ? '/' : `/?${query.toString()}`
  }
  return { before: page > 1 ? link(page - 1) : null, after: page < totalPages ? link(page + 1) : null, totalPages }
}
