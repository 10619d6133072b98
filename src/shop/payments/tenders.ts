import { and, eq, inArray, ne, or, sum } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { giftCardEntries } from '../gift-cards/schema.ts'
import { creditsOf } from '../orders/refunds/credits.ts'
import type { OrderRow } from '../orders/find.ts'
import { refundsOfOrder, splitRefund } from '../orders/refunds/refund-lines.ts'
import type { RefundOfThings } from '../orders/refunds/refund-lines.ts'
import { orders } from '../orders/schema.ts'
import { findPayingAttempt } from './attempts.ts'
import type { AttemptRow } from './rows.ts'
import { refunds } from './schema.ts'

/** A card payment or a gift card that pays an order, and how much of it can go back. */
type Tender = Omit<RefundPart, 'refund'> & { leftMinor: number }

/** A part of a refund, and the card payment or the gift card that it returns; both null for what the operator pays back. */
export type RefundPart = { refund: RefundOfThings; attempt: AttemptRow | null; giftCardId: number | null }

/** What goes back to gift cards, and what the operator pays back, in minor units. The gateway returns the rest of a refund. */
export type RefundShares = { giftCardMinor: number; byHandMinor: number }

export function sharesOf(parts: readonly RefundPart[]): RefundShares {
  const sumOf = (is: (part: RefundPart) => boolean): number =>
    parts.filter(is).reduce((sum, { refund }) => sum + refund.amountMinor, 0)
  return {
    giftCardMinor: sumOf(({ giftCardId }) => giftCardId !== null),
    byHandMinor: sumOf(({ attempt, giftCardId }) => attempt === null && giftCardId === null)
  }
}

/** A refund of an order. `byHand`: the operator pays all of it back. */
export type DividedRefund = { order: OrderRow; refund: RefundOfThings; byHand?: boolean }

/**
 * Divides a refund by what paid the order: the gift cards first, so that what they paid never becomes money, then its own card
 * payment, then those of the orders whose credits it has, and the rest by hand.
 */
export function divideRefund(db: Db, { order, refund, byHand = false }: DividedRefund): RefundPart[] {
  if (byHand) return [{ refund, attempt: null, giftCardId: null }]
  const parts: RefundPart[] = []
  let rest = refund
  for (const { leftMinor: tenderMinor, ...to } of tendersOf(db, order.id)) {
    const { giftCardId } = to
    const leftMinor =
      giftCardId === null ? tenderMinor : Math.min(tenderMinor, leftForCard(db, order, giftCardId, parts))
    if (rest.amountMinor === 0 || leftMinor <= 0) continue
    const [part, others] = splitRefund(rest, Math.min(leftMinor, rest.amountMinor))
    parts.push({ refund: part, ...to })
    rest = others
  }
  const isOver = rest.amountMinor === 0 && parts.length > 0
  return isOver ? parts : [...parts, { refund: rest, attempt: null, giftCardId: null }]
}

function tendersOf(db: Db, orderId: number): Tender[] {
  const own = findPayingAttempt(db, orderId)
  const credits = creditsOf(db, orderId).filter(({ credit }) => credit.state === 'spent')
  // What is left of the order limits its refunds, unless a credit has paid a part of it.
  const ownLeftMinor = own === undefined ? 0 : credits.length === 0 ? Number.POSITIVE_INFINITY : leftOf(db, own)
  const cards = credits.flatMap(({ credit: { amountMinor }, card }) =>
    card === null
      ? []
      : [{ attempt: null, giftCardId: card.id, leftMinor: amountMinor - returnedTo(db, orderId, card.id) }]
  )
  const others = credits.flatMap(({ credit, refund }) => {
    const tenders = refund === null ? [] : tendersOf(db, refund.orderId)
    return tenders.map((tender) => ({ ...tender, leftMinor: Math.min(credit.amountMinor, tender.leftMinor) }))
  })
  const ownTender = own === undefined ? [] : [{ attempt: own, giftCardId: null, leftMinor: ownLeftMinor }]
  return [...cards, ...ownTender, ...others]
}

/** What refunds of an order have returned to a gift card. */
function returnedTo(db: Db, orderId: number, giftCardId: number): number {
  return refundsOfOrder(db, orderId)
    .filter((refund) => refund.giftCardId === giftCardId && refund.state !== 'failed')
    .reduce((total, { amountMinor }) => total + amountMinor, 0)
}

/**
 * What a gift card has paid of an order and those that add to it, and what neither refunds nor these parts have returned to it.
 * An addition returns what the card paid of the first order.
 */
function leftForCard(db: Db, { id, addedTo }: OrderRow, giftCardId: number, parts: readonly RefundPart[]): number {
  const first = addedTo ?? id
  const row = db.orm
    .select({ minor: sum(giftCardEntries.amountMinor).mapWith(Number) })
    .from(giftCardEntries)
    .innerJoin(orders, eq(orders.id, giftCardEntries.orderId))
    .where(
      and(
        eq(giftCardEntries.giftCardId, giftCardId),
        inArray(giftCardEntries.kind, ['used', 'returned']),
        or(eq(orders.id, first), eq(orders.addedTo, first))
      )
    )
    .get()
  const returning = parts.filter((part) => part.giftCardId === giftCardId)
  return -(row?.minor ?? 0) - returning.reduce((total, { refund }) => total + refund.amountMinor, 0)
}

/** What the gateway can still return of a payment. */
function leftOf(db: Db, { id, amountMinor }: AttemptRow): number {
  const row = db.orm
    .select({ minor: sum(refunds.amountMinor).mapWith(Number) })
    .from(refunds)
    .where(and(eq(refunds.attemptId, id), ne(refunds.state, 'failed')))
    .get()
  return amountMinor - (row?.minor ?? 0)
}
