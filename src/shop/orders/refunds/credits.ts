import { and, asc, eq, ne, sql, sum } from 'drizzle-orm'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { statement } from '../../../platform/db/database.ts'
import { isBelowMinimum, minimumChargeMinor } from '../../../platform/money.ts'
import { isVoucher } from '../../catalog/product-types.ts'
import { renewalInterval } from '../../benefits/kinds.ts'
import { addEntry, freeMinor, getCard, returnToCard, stateOf } from '../../gift-cards/cards.ts'
import type { GiftCardRow } from '../../gift-cards/cards.ts'
import { giftCards } from '../../gift-cards/schema.ts'
import { cancelSold } from '../../gift-cards/sold.ts'
import { getOrder, itemsOf } from '../find.ts'
import type { OrderItemRow, OrderRow } from '../find.ts'
import { isReleasedStatus } from '../states.ts'
import { orderCredits, orderRefunds } from './schema.ts'

export type OrderCreditRow = typeof orderCredits.$inferSelect
type OrderRefundRow = typeof orderRefunds.$inferSelect

/** A credit, and what pays it: a refund of another order, or a gift card. */
export type Credit = { credit: OrderCreditRow; refund: OrderRefundRow | null; card: GiftCardRow | null }
type RefundCredit = Credit & { refund: OrderRefundRow }
type CardCredit = Credit & { card: GiftCardRow }

const sumOf = statement((orm) =>
  orm
    .select({ minor: sum(orderCredits.amountMinor).mapWith(Number) })
    .from(orderCredits)
    .where(and(eq(orderCredits.orderId, sql.placeholder('orderId')), ne(orderCredits.state, 'returned')))
    .prepare()
)

/** What credits pay of an order, in minor units. */
export function creditedMinor(db: Db, orderId: number): number {
  return sumOf(db).get({ orderId })?.minor ?? 0
}

/** What the buyer of an order has to pay, or has paid: its total without its credits (`creditsFor`). */
export function dueMinor(db: Db, order: Pick<OrderRow, 'id' | 'totalMinor'>): number {
  return Math.max(0, order.totalMinor - sumOfAll(amountsOf(creditsFor(db, order))))
}

/**
 * The credits of an order, with what each pays of its total. Of a total that is not stored yet, gift cards pay as much as they
 * can.
 */
export function creditsFor(db: Db, order: Pick<OrderRow, 'id' | 'totalMinor'>): Credit[] {
  const credits = creditsOf(db, order.id)
  const cards = heldCards(credits)
  if (cards.length === 0 || getOrder(db, order.id).totalMinor === order.totalMinor) return credits
  const amounts = allot(db, order, credits)
  return credits.map((found) => {
    const index = cards.findIndex(({ credit }) => credit.id === found.credit.id)
    return index < 0 ? found : { ...found, credit: { ...found.credit, amountMinor: amounts[index] ?? 0 } }
  })
}

const amountsOf = (credits: readonly Credit[]): number[] => credits.map(({ credit }) => credit.amountMinor)
const sumOfAll = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)

function isCardCredit(found: Credit): found is CardCredit {
  return found.card !== null
}

function isRefundCredit(found: Credit): found is RefundCredit {
  return found.refund !== null
}

const ofOrder = statement((orm) =>
  orm
    .select({ credit: orderCredits, refund: orderRefunds, card: giftCards })
    .from(orderCredits)
    .leftJoin(orderRefunds, eq(orderRefunds.id, orderCredits.refundId))
    .leftJoin(giftCards, eq(giftCards.id, orderCredits.giftCardId))
    .where(eq(orderCredits.orderId, sql.placeholder('orderId')))
    .orderBy(asc(orderCredits.id))
    .prepare()
)

/** The credits of an order that are held or spent, oldest first. */
export function creditsOf(db: Db, orderId: number): Credit[] {
  return ofOrder(db)
    .all({ orderId })
    .filter(({ credit }) => credit.state !== 'returned')
}

/** The credits that an order gives to others, and that are not spent. */
export function creditsHeldFrom(db: Db, orderId: number): Credit[] {
  return db.orm
    .select({ credit: orderCredits, refund: orderRefunds })
    .from(orderCredits)
    .innerJoin(orderRefunds, eq(orderRefunds.id, orderCredits.refundId))
    .where(and(eq(orderRefunds.orderId, orderId), eq(orderCredits.state, 'held')))
    .orderBy(asc(orderCredits.id))
    .all()
    .map((found) => ({ ...found, card: null }))
}

/** What an order has promised to the payment of others, in minor units: it cannot be refunded otherwise. */
export function promisedMinor(db: Db, orderId: number): number {
  return sumOfAll(amountsOf(creditsHeldFrom(db, orderId)))
}

/** Lets what another order gives back pay a part of an order, which is not paid. The refund is requested until then. */
export function holdCredit(tx: Tx, orderId: number, { id: refundId, amountMinor }: OrderRefundRow, now: number): void {
  tx.orm
    .insert(orderCredits)
    .values({ orderId, refundId, amountMinor, state: 'held', createdAt: now, updatedAt: now })
    .run()
}

/** Lets gift cards pay as much as they can of an order that is not paid. They keep that for it until it is paid or over. */
export function holdCards(tx: Tx, orderId: number, cardIds: readonly number[], now: number): void {
  const held = new Set(creditsOf(tx, orderId).map(({ card }) => card?.id))
  for (const giftCardId of cardIds) {
    if (held.has(giftCardId)) continue
    const credit = { orderId, giftCardId, amountMinor: 0, state: 'held', createdAt: now, updatedAt: now } as const
    const set = { amountMinor: 0, state: 'held', updatedAt: now } as const
    tx.orm
      .insert(orderCredits)
      .values(credit)
      .onConflictDoUpdate({ target: [orderCredits.giftCardId, orderCredits.orderId], set })
      .run()
  }
  fitCards(tx, orderId, now)
}

/** Fits what the gift cards of an unpaid order pay to its total, which has changed. */
export function fitCards(tx: Tx, orderId: number, now: number): void {
  const credits = creditsOf(tx, orderId)
  const cards = heldCards(credits)
  if (cards.length === 0) return
  const amounts = allot(tx, getOrder(tx, orderId), credits)
  const changes = cards.flatMap(({ card, credit: { id, amountMinor: before } }, index) => {
    const amountMinor = amounts[index] ?? 0
    return amountMinor === before ? [] : [{ id, amountMinor, card }]
  })
  for (const { id, amountMinor, card } of changes) {
    setCreditAmount(tx, id, amountMinor, now)
    cancelIfRefunded(tx, card.id, now)
  }
}

function heldCards(credits: readonly Credit[]): CardCredit[] {
  return credits.filter(isCardCredit).filter(({ credit }) => credit.state === 'held')
}

/** What each held gift card pays of an order with this total. */
function allot(db: Db, { id, totalMinor }: Pick<OrderRow, 'id' | 'totalMinor'>, credits: readonly Credit[]): number[] {
  const { currency, updatedAt } = getOrder(db, id)
  const leftMinor = Math.max(0, totalMinor - sumOfAll(amountsOf(credits.filter(isRefundCredit))))
  const available = heldCards(credits).map(
    ({ card, credit }) => credit.amountMinor + (stateOf(card, updatedAt) === 'active' ? freeMinor(card) : 0)
  )
  return shareOfCards({ totalMinor: leftMinor, currency, lines: itemsOf(db, id) }, available)
}

/** What is paid by gift cards: its total in minor units, and its lines. */
type Payable = { totalMinor: number; currency: string; lines: readonly PaidLine[] }
export type PaidLine = Pick<OrderItemRow, 'grants' | 'type' | 'totalMinor'>

/**
 * What each gift card pays, the first ones first. They do not pay for gift cards in the order. What they leave is nothing, or at
 * least what a card can pay; of a subscription always that, because its renewals are charged to a card.
 */
export function shareOfCards({ totalMinor, currency, lines }: Payable, available: readonly number[]): number[] {
  const forOthers = totalMinor - sumOfAll(lines.map((line) => (isVoucher(line.type) ? line.totalMinor : 0)))
  const restMinor = totalMinor - Math.min(Math.max(0, forOthers), sumOfAll(available))
  const isRenewed = lines.some(({ grants }) => grants.some((grant) => renewalInterval(grant) !== null))
  const isTooLittle = isRenewed ? restMinor < minimumChargeMinor(currency) : isBelowMinimum(restMinor, currency)
  let leftMinor = Math.max(0, totalMinor - (isTooLittle ? minimumChargeMinor(currency) : restMinor))
  return available.map((most) => {
    const amount = Math.min(most, leftMinor)
    leftMinor -= amount
    return amount
  })
}

/** Whether what another order gives back pays a part of an order, or was to pay one. */
export function hadOrderCredits(db: Db, orderId: number): boolean {
  return ofOrder(db).all({ orderId }).some(isRefundCredit)
}

/** Returns held credits: the other orders keep what they would have given back, and gift cards what they would have paid. */
export function returnCredits(tx: Tx, credits: readonly Credit[], now: number): void {
  for (const { credit, refund, card } of credits) {
    if (credit.state !== 'held') continue
    setCreditState(tx, credit.id, 'returned', now)
    if (card !== null) cancelIfRefunded(tx, card.id, now)
    if (refund !== null)
      tx.orm.update(orderRefunds).set({ state: 'failed' }).where(eq(orderRefunds.id, refund.id)).run()
  }
}

/** Puts what a refunded order was paid with back onto its gift card, as `returnToCard`, unless that was refunded itself. */
export function refundToCard(
  tx: Tx,
  giftCardId: number,
  returned: Parameters<typeof returnToCard>[2],
  now: number
): void {
  returnToCard(tx, giftCardId, returned, now)
  cancelIfRefunded(tx, giftCardId, now)
}

/** Cancels what becomes free on a gift card after the order that sold it is over: its buyer has the money already. */
function cancelIfRefunded(tx: Tx, giftCardId: number, now: number): void {
  const { orderId } = getCard(tx, giftCardId)
  if (orderId !== null && isReleasedStatus(getOrder(tx, orderId).status)) cancelSold(tx, orderId, 'shop', now)
}

/** The gift cards that were to pay an order which ended without a payment, and could pay it now. */
function reclaimableCards(db: Db, orderId: number, now: number): CardCredit[] {
  return returnedCards(db, orderId).filter(({ card, credit }) => canPay(getCard(db, card.id), credit.amountMinor, now))
}

function returnedCards(db: Db, orderId: number): CardCredit[] {
  const isMeant = ({ credit }: Credit): boolean => credit.state === 'returned' && credit.amountMinor > 0
  return ofOrder(db).all({ orderId }).filter(isCardCredit).filter(isMeant)
}

function canPay(card: GiftCardRow, amountMinor: number, now: number): boolean {
  return stateOf(card, now) === 'active' && freeMinor(card) >= amountMinor
}

/** What the gift cards of an order that ended could pay of it now, in minor units. */
export function reclaimableMinor(db: Db, orderId: number, now: number): number {
  return sumOfAll(amountsOf(reclaimableCards(db, orderId, now)))
}

/**
 * What credits pay of an unpaid order whose buyer has paid another amount than was due, in minor units: also what gift cards
 * of an order that ended can pay now. Those that cannot are no longer meant to.
 */
export function takeCredits(tx: Tx, orderId: number, now: number): number {
  const minor = creditedMinor(tx, orderId) + reclaimableMinor(tx, orderId, now)
  for (const { card, credit } of returnedCards(tx, orderId))
    if (!canPay(getCard(tx, card.id), credit.amountMinor, now)) setCreditAmount(tx, credit.id, 0, now)
  return minor
}

/** Holds the gift cards of an order that ended, and goes on. Returns a text for each that cannot pay it any more. */
export function reclaimCards(tx: Tx, orderId: number, now: number): string[] {
  const reclaimed = reclaimableCards(tx, orderId, now)
  for (const { credit } of reclaimed) setCreditState(tx, credit.id, 'held', now)
  return returnedCards(tx, orderId).map(({ card }) => `gift card ${card.id} is used otherwise`)
}

/**
 * Spends the held credits of an order, whose payment has arrived. A credit that its order cannot give any more, because it was
 * refunded otherwise in the meantime, is returned.
 *
 * @returns the refunds that pay it, and the orders that cannot
 */
export function spendCredits(
  tx: Tx,
  orderId: number,
  by: string,
  now: number
): { spent: OrderRefundRow[]; lost: number[] } {
  const held = creditsOf(tx, orderId).filter(({ credit }) => credit.state === 'held')
  for (const { credit, card } of held.filter(isCardCredit)) {
    const { amountMinor } = credit
    setCreditState(tx, credit.id, amountMinor === 0 ? 'returned' : 'spent', now)
    if (amountMinor > 0)
      addEntry(tx, { giftCardId: card.id, kind: 'used', amountMinor: -amountMinor, orderId, by }, now)
  }
  const spent: OrderRefundRow[] = []
  const lost: number[] = []
  for (const found of held.filter(isRefundCredit)) {
    const { credit, refund } = found
    const { totalMinor, refundedMinor } = getOrder(tx, refund.orderId)
    if (totalMinor - refundedMinor < credit.amountMinor) {
      returnCredits(tx, [found], now)
      lost.push(refund.orderId)
    } else {
      setCreditState(tx, credit.id, 'spent', now)
      spent.push(refund)
    }
  }
  return { spent, lost }
}

function setCreditAmount(tx: Tx, id: number, amountMinor: number, now: number): void {
  tx.orm.update(orderCredits).set({ amountMinor, updatedAt: now }).where(eq(orderCredits.id, id)).run()
}

function setCreditState(tx: Tx, id: number, state: OrderCreditRow['state'], now: number): void {
  tx.orm.update(orderCredits).set({ state, updatedAt: now }).where(eq(orderCredits.id, id)).run()
}
