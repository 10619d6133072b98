import type { ShopContext } from '../../context.ts'
import { setting } from '../../settings/settings.ts'
import { productUrl } from '../product-url.ts'

/** What the public views of a product need beyond its rows. */
export type ViewTerms = {
  currency: string
  /** The page of a product without a URL of its own. */
  urlOf: (slug: string) => string
  /** The base of picture addresses, without a trailing slash. */
  publicUrl: string
  /** Buyers see how many units are left at or below this number. */
  lowStock: number
}

/** The terms by the settings of the shop. */
export function viewTerms(shop: Pick<ShopContext, 'db' | 'publicUrl'>): ViewTerms {
  return {
    currency: setting(shop.db, 'shop.currency'),
    urlOf: productUrl(shop),
    publicUrl: shop.publicUrl(),
    lowStock: setting(shop.db, 'store.lowStock')
  }
}
