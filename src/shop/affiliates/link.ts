import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { productUrl } from '../catalog/product-url.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { findAffiliateOfUser } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { requireActiveAffiliate } from './gate.ts'

type Place = Pick<ShopContext, 'db' | 'config' | 'publicUrl'>

/** Query of GET /affiliates/link. */
export const linkQuery = z.object({
  to: z
    .string()
    .max(2000)
    .default('/')
    .meta({ description: 'A page of the shop: its address, or its path.', example: '/products/storm-lantern' }),
  campaign: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'A name by which the affiliate tells links apart.', example: 'spring' })
})
export type LinkQuery = z.output<typeof linkQuery>

/**
 * An affiliate's link to a page of the shop: its address with `ref`, and with `campaign` if there is one. Other parameters
 * of the page stay.
 *
 * @throws AppError VALIDATION_FAILED on `to` for a page elsewhere; then as `requireActiveAffiliate`
 */
export function makeLink(shop: Place, userId: number, { to, campaign }: LinkQuery): string {
  const url = pageAt(shop, to.trim())
  const { code } = requireActiveAffiliate(shop.db, findAffiliateOfUser(shop.db, userId))
  url.searchParams.delete('campaign')
  url.searchParams.set('ref', code)
  if (campaign !== undefined && campaign.trim() !== '') url.searchParams.set('campaign', campaign.trim())
  return url.href
}

/** An active affiliate's link to the front page; null for another one. */
export function homeLink(shop: Place, { code, status }: AffiliateRow): string | null {
  return status === 'active' ? `${homeOf(shop)}/?ref=${encodeURIComponent(code)}` : null
}

function pageAt(shop: Place, to: string): URL {
  const home = homeOf(shop)
  const url = URL.canParse(to, home) ? new URL(to, home) : null
  if (url === null || url.username !== '' || url.password !== '' || !originsOf(shop).includes(url.origin))
    throw validationFailed({ to: [`Must be a page of the shop, such as ${home}/ or /products/lantern.`] })
  return url
}

/** Where the shop's site is: the origin of its product pages, or the first site of SHOPSTEAD_ORIGINS if it has no storefront. */
function homeOf({ db, config, publicUrl }: Place): string {
  const products = originOfProducts({ db, publicUrl })
  const [site] = config.origins
  const hasStorefront = config.storefront ?? setting(db, 'storefront.enabled')
  return hasStorefront || site === undefined || products !== new URL(publicUrl()).origin ? products : site
}

function originsOf({ db, config, publicUrl }: Place): string[] {
  const own = [originOfProducts({ db, publicUrl }), new URL(publicUrl()).origin]
  return [...own, ...config.origins, ...setting(db, 'checkout.returnOrigins')]
}

function originOfProducts(shop: Pick<Place, 'db' | 'publicUrl'>): string {
  return new URL(productUrl(shop)('x')).origin
}
