import type { Db } from '../../platform/db/database.ts'
import { findProducts } from './search/find-products.ts'

export type OfferFilter = {
  /** Slug or name of a category. Clients know only the name, because offers show names. */
  category?: string | undefined
  search?: string | undefined
}

/** Ids of all products that can be bought and match the filter, in the shop's order. */
export function listedProductIds(db: Db, { category, search }: OfferFilter): number[] {
  const query = {
    category,
    text: search,
    literal: true,
    availableOnly: true,
    sort: 'position' as const,
    page: 1,
    perPage: 2 ** 40
  }
  return findProducts(db, query, 0).ids
}
