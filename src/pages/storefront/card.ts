import type { Card, Image, Price } from '../../client/api-types.ts'
import { money } from './money.ts'
import type { Site } from './site.ts'

/** A picture, or the initial of the product's name in its place. */
export type Picture = { image: (Image & { srcset: string }) | null; initial: string }

export type ShownPrice = { price: string; original: string | null; from: boolean }

/** A product in a list. */
export type ShownCard = ShownPrice & { name: string; href: string; picture: Picture; soldOut: boolean }

/** A card of the API for the storefront's list. */
export function toCard(card: Card, site: Site): ShownCard {
  return {
    name: card.name,
    href: `/products/${card.slug}`,
    picture: toPicture(card.image, card.name, site),
    soldOut: !card.available,
    ...toPrice(card.price, site)
  }
}

/** A price as text. */
export function toPrice({ amount, originalAmount, from }: Price, site: Site): ShownPrice {
  return { price: money(amount, site), original: originalAmount === null ? null : money(originalAmount, site), from }
}

export function toPicture(image: Image | null, name: string, site: Site): Picture {
  const [initial = ''] = name.trim().toLocaleUpperCase()
  if (image === null) return { image: null, initial }
  const srcset = image.sizes.map(({ url, width }) => `${ownPath(url, site)} ${width}w`).join(', ')
  return { image: { ...image, url: ownPath(image.url, site), srcset }, initial }
}

/**
 * The path of an address of the shop. A buyer who opened the shop under another host name stays there, and sees the
 * pictures, which the content security policy allows only from the page's own host.
 */
export function ownPath(url: string, { publicUrl }: Site): string {
  return url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url
}
