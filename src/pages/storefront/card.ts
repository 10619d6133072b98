import { formatMoney, toMinor } from '../../platform/money.ts'
import type { Offer } from '../../shop/catalog/offer-view.ts'
import { pictureOf } from './pictures.ts'

/** An offer in the list. */
export type Card = {
  name: string
  href: string
  picture: string
  price: string
  original: string | null
  soldOut: boolean
}

/** Converts an offer for the storefront's list. */
export function toCard(offer: Offer, publicUrl: string): Card {
  const { currency, amount, originalAmount } = offer.price
  const money = (major: number): string => formatMoney(toMinor(major, currency), currency)
  return {
    name: offer.name,
    href: ownPath(offer.url, publicUrl),
    picture: pictureOf(offer.productSlug, offer.categories),
    price: money(amount),
    original: originalAmount === null ? null : money(originalAmount),
    soldOut: !offer.available
  }
}

/** A page of the shop is linked by its path, so that a buyer who opened the shop under another host name stays there. */
function ownPath(url: string, publicUrl: string): string {
  return url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url
}
