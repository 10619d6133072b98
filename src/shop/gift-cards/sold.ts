import { and, asc, eq, ne } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { endOfDay } from '../../platform/days.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { toMajor } from '../../platform/money.ts'
import { setting } from '../settings/settings.ts'
import { shopDay, shopTimeZone, startOfShopDay } from '../settings/shop-days.ts'
import { addEntry, cardsSoldBy, freeMinor, issueCard, stateOf } from './cards.ts'
import type { GiftCardRow } from './cards.ts'
import { readCode, withHyphens } from './code.ts'
import { giftCardEntries, giftCards } from './schema.ts'

/** To whom the gift cards of an order are sent, as its buyer wrote it; the day is YYYY-MM-DD in the shop's time zone. */
export type GiftRecipient = { email: string; message: string | null; sendOn: string | null }

/** A paid order that sells gift cards. */
type Selling = {
  orderId: number
  currency: string
  language: string | null
  recipient: GiftRecipient | null
  /** The lines that sell gift cards, with what was paid for each card, without those that were returned before. */
  lines: readonly { id: number; amountsMinor: readonly number[] }[]
}

/** Issues the gift cards of a paid order, once each, and mails them to the recipient, or to the buyer. */
export function issueSold(tx: Tx, { orderId, recipient, lines, ...card }: Selling, by: string, now: number): void {
  const sold = cardsSoldBy(tx, orderId)
  const sendAt = recipient?.sendOn == null ? null : startOfShopDay(tx, recipient.sendOn)
  const to = recipient === null ? null : { email: recipient.email, message: recipient.message, sendAt }
  for (const { id: orderItemId, amountsMinor } of lines) {
    const issued = sold.filter((each) => each.orderItemId === orderItemId).length
    for (const amountMinor of amountsMinor.slice(issued))
      if (amountMinor > 0)
        issueCard(
          tx,
          { ...card, amountMinor, expiresAt: endOfValidity(tx, now), recipient: to, origin: { orderId, orderItemId } },
          by,
          now
        )
  }
}

/** A gift card with its code, for its buyer. */
export type BoughtCard = { code: string; balance: number; currency: string; expiresAt: string | null }

/**
 * The gift cards that an order sold to its buyer, with their codes. One that was sent to a recipient is theirs, and is not
 * shown, also when the recipient was erased.
 */
export function boughtCards(
  db: Db,
  { orderId, email, recipient }: { orderId: number; email: string | null; recipient: GiftRecipient | null },
  now: number
): BoughtCard[] {
  if (recipient !== null) return []
  return cardsSoldBy(db, orderId).flatMap((card) => {
    const { recipientEmail, sendAt, balanceMinor, currency, expiresAt } = card
    const isBuyers = recipientEmail === null ? sendAt === null : recipientEmail === email
    const code = isBuyers && stateOf(card, now) === 'active' ? readCode(db, card) : null
    if (code === null) return []
    const balance = toMajor(balanceMinor, currency)
    return [{ code: withHyphens(code), balance, currency, expiresAt: toIsoOrNull(expiresAt) }]
  })
}

/** The end of the year some years after a sale (`giftCards.validYears`); null if gift cards do not expire. */
function endOfValidity(db: Db, now: number): number | null {
  const years = setting(db, 'giftCards.validYears')
  if (years === 0) return null
  return endOfDay(shopTimeZone(db), `${Number(shopDay(db, now).slice(0, 4)) + years}-12-31`)
}

/** The gift cards of a line that have paid nothing and can be returned, oldest first. */
export function unusedCards(db: Db, orderItemId: number): GiftCardRow[] {
  const ofItem = and(eq(giftCards.orderItemId, orderItemId), eq(giftCards.balanceMinor, giftCards.issuedMinor))
  const cards = db.orm.select().from(giftCards).where(ofItem).orderBy(asc(giftCards.id)).all()
  return cards.filter((card) => card.heldMinor === 0)
}

/** How many gift cards of a line have paid something, are held by an order, or have expired. */
export function usedCards(db: Db, orderItemId: number): number {
  const issued = db.orm.select().from(giftCards).where(eq(giftCards.orderItemId, orderItemId)).all().length
  return issued - unusedCards(db, orderItemId).length - cancelledCards(db, orderItemId).length
}

function cancelledCards(db: Db, orderItemId: number): GiftCardRow[] {
  const isCancelled = and(
    eq(giftCards.orderItemId, orderItemId),
    eq(giftCards.balanceMinor, 0),
    eq(giftCardEntries.kind, 'cancelled')
  )
  const found = db.orm
    .selectDistinct({ card: giftCards })
    .from(giftCardEntries)
    .innerJoin(giftCards, eq(giftCards.id, giftCardEntries.giftCardId))
    .where(isCancelled)
    .orderBy(asc(giftCards.id))
    .all()
  return found.map(({ card }) => card)
}

/** A line whose gift cards are returned, and how many units of it are. */
type ReturnedLine = { orderId: number; orderItemId: number; units: number }

/** Cancels unused gift cards of a line until as many are cancelled as units of it were returned. */
export function cancelReturned(tx: Tx, { orderId, orderItemId, units }: ReturnedLine, by: string, now: number): void {
  const wanted = Math.max(0, units - cancelledCards(tx, orderItemId).length)
  for (const card of unusedCards(tx, orderItemId).slice(0, wanted)) cancel(tx, card, { orderId, by }, now)
}

/** Puts what they were sold with back onto cancelled gift cards, because the refund of their line was refused. */
export function restoreCancelled(tx: Tx, { orderId, orderItemId, units }: ReturnedLine, by: string, now: number): void {
  for (const { id, issuedMinor } of cancelledCards(tx, orderItemId).slice(units))
    addEntry(tx, { giftCardId: id, kind: 'returned', amountMinor: issuedMinor, orderId, by }, now)
}

/** Cancels what is left on the gift cards of an order that is over. */
export function cancelSold(tx: Tx, orderId: number, by: string, now: number): void {
  const left = and(eq(giftCards.orderId, orderId), ne(giftCards.balanceMinor, giftCards.heldMinor))
  for (const card of tx.orm.select().from(giftCards).where(left).all()) cancel(tx, card, { orderId, by }, now)
}

function cancel(tx: Tx, card: GiftCardRow, { orderId, by }: { orderId: number; by: string }, now: number): void {
  addEntry(tx, { giftCardId: card.id, kind: 'cancelled', amountMinor: -freeMinor(card), orderId, by }, now)
}
