import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'

/** Returns a function from a slug to the product's page: the setting `store.productUrl`, filled in. For products without a URL of their own. */
export function productUrl({ db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>): (slug: string) => string {
  const pattern = setting(db, 'store.productUrl').replaceAll('{publicUrl}', publicUrl())
  return (slug) => pattern.replaceAll('{slug}', encodeURIComponent(slug))
}
