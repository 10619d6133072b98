import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'

/** Where the page of a product without an address of its own is: `store.productUrl`, filled in. */
export function productUrl({ db, publicUrl }: Pick<ShopContext, 'db' | 'publicUrl'>): (slug: string) => string {
  const pattern = setting(db, 'store.productUrl').replaceAll('{publicUrl}', publicUrl())
  return (slug) => pattern.replaceAll('{slug}', encodeURIComponent(slug))
}
