import type { Db } from '../../platform/db/database.ts'
import { findCard, freeMinor, stateOf } from '../gift-cards/cards.ts'
import type { GiftCardRow } from '../gift-cards/cards.ts'
import { isVoucher } from '../catalog/product-types.ts'
import { shareOfCards } from '../orders/refunds/credits.ts'
import type { PaidLine } from '../orders/refunds/credits.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import type { ProblemCode } from '../orders/shapes.ts'

/** The code of a gift card in a cart: the card and what it pays of the total, or why it pays nothing. */
export type CartCard = { code: string; card: GiftCardRow | null; amountMinor: number; refusal: Refusal | null }

/** What gift cards pay. */
type Payable = { totalMinor: number; currency: string; lines: readonly PaidLine[] }

/** The gift cards that a request names, and what each pays of the total. The same card twice counts once. */
export function cardsOfCart(db: Db, codes: readonly string[], payable: Payable, now: number): CartCard[] {
  const found = new Map<string | number, Omit<CartCard, 'amountMinor'>>()
  for (const [index, code] of codes.entries()) {
    if (code === '') continue
    const card = findCard(db, code) ?? null
    const why = card === null ? 'gift_card_unknown' : whyNot(card, payable, now)
    const path = `giftCards.${index}`
    const refused = why === null ? null : refusal({ path, code: why, message: messages[why](card, payable.currency) })
    const key = card?.id ?? code
    if (!found.has(key)) found.set(key, { code, card: refused === null ? card : null, refusal: refused })
  }
  const cards = [...found.values()]
  const amounts = shareOfCards(
    payable,
    cards.map(({ card }) => (card === null ? 0 : freeMinor(card)))
  )
  return cards.map((each, index) => ({ ...each, amountMinor: amounts[index] ?? 0 }))
}

type Why = Extract<ProblemCode, `gift_card_${string}`>

/** A blocked card looks like an unknown one to a person who has its code. */
function whyNot(card: GiftCardRow, { currency, lines }: Payable, now: number): Why | null {
  const state = stateOf(card, now)
  if (state === 'blocked') return 'gift_card_unknown'
  if (state !== 'active') return 'gift_card_empty'
  if (card.currency !== currency) return 'gift_card_currency'
  if (lines.length > 0 && lines.every(({ type }) => isVoucher(type))) return 'gift_card_not_for_cart'
  return freeMinor(card) === 0 ? 'gift_card_held' : null
}

const messages: Readonly<Record<Why, (card: GiftCardRow | null, currency: string) => string>> = {
  gift_card_not_for_cart: () => 'A gift card cannot pay for another gift card.',
  gift_card_unknown: () => 'There is no gift card with this code.',
  gift_card_empty: () => 'This gift card is used up or has expired.',
  gift_card_held: () =>
    'An order that is not paid yet holds this gift card. Pay or cancel that order, or try again later.',
  gift_card_currency: (card, currency) =>
    `This gift card is in ${card?.currency ?? ''}, and this order in ${currency}: it cannot pay it.`
}
