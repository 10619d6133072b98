import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { NewLine } from '../orders/create-order.ts'
import { notEnough, refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import {
  countFreeAt,
  countHeldAt,
  holdsAnOrder,
  pendingOrdersOf,
  unitsHeldByGuests,
  countedStock,
  releaseHold,
  dropHolder
} from '../orders/holds.ts'
import type { Holder, CountedStock } from '../orders/holds.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { startDeadline } from '../payments/gateway.ts'
import { callOffPayments, cancelUnpaidOrder, moveToCancelled } from '../payments/end-hold.ts'
import { setting } from '../settings/settings.ts'
import { compareKey } from '../../platform/text.ts'
import { dryRunWhenFree } from '../../platform/db/dry-run.ts'
import { findCard } from '../gift-cards/cards.ts'
import { creditsOf, returnCredits } from '../orders/refunds/credits.ts'
import { couponsOf, getOrder, itemsOf } from '../orders/find.ts'
import { attemptsOf, unanswered } from '../payments/attempts.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { askGateway } from './buyer-status.ts'
import { sentCodes } from './cart.ts'
import type { QuoteBody } from './input.ts'

/** What decides whether an order counts for the limit of an address. */
type Limited = {
  strategy: Strategy
  totals: { totalMinor: number }
  holder: Pick<Holder, 'buyer' | 'isGuest' | 'addressKey'>
}

/**
 * Whether one client address has as many orders without a payment as it may have: unpaid ones, and those of guests that
 * cost nothing and were completed within the time of a hold. A payment by token is decided at once, and many buyers can
 * share an address; for the same reason, the first unpaid order of a customer is always possible. A guest can't be told from
 * the others there: without its cookie, each request would be the first of a new guest.
 */
function holdsTooMuch(db: Db, { strategy, totals, holder }: Limited, now: number): boolean {
  const { buyer, isGuest, addressKey } = holder
  if (takesToken(strategy) && !(isGuest && totals.totalMinor === 0)) return false
  if (!isGuest && !holdsAnOrder(db, buyer)) return false
  const since = now - setting(db, 'checkout.holdMinutes') * 60_000
  const without = countHeldAt(db, addressKey) + countFreeAt(db, addressKey, since)
  return without >= setting(db, 'checkout.heldOrdersPerAddress')
}

/**
 * Limits how many orders without a payment one client address has. Otherwise one client could hold the whole stock, and
 * orders that cost nothing could flood a stranger's mailbox.
 *
 * @throws AppError RATE_LIMITED (held_orders)
 */
export function assertMayHold(db: Db, order: Limited, now: number): void {
  if (!holdsTooMuch(db, order, now)) return
  const headers = { 'Retry-After': String(setting(db, 'checkout.holdMinutes') * 60) }
  throw new AppError('RATE_LIMITED', tooManyUnpaid, { bucket: 'held_orders' }, { headers })
}

/** The problem of an order that `assertMayHold` refuses. */
export function heldRefusals(db: Db, order: Limited, now: number): Refusal[] {
  return holdsTooMuch(db, order, now)
    ? [refusal({ path: '_body', code: 'too_many_unpaid', message: tooManyUnpaid })]
    : []
}

const tooManyUnpaid = 'Too many unpaid orders from this address. Log in, pay or cancel one of them, or try again later.'

/**
 * The lines with more than the stock that is left for this order. Several variations of a product may share
 * its stock, so the lines are checked together. The guests of one address who pay on a payment page can hold only a share
 * of a stock in several unpaid orders.
 */
export function stockRefusals(
  db: Db,
  { isGuest, addressKey }: Pick<Holder, 'isGuest' | 'addressKey'>,
  { lines, strategy }: { lines: readonly NewLine[]; strategy: Strategy }
): Refusal[] {
  const isShared = isGuest && !takesToken(strategy)
  const taken = new Map<string, number>()
  return lines.flatMap((line) => {
    const stock = countedStock(db, line)
    if (stock === null) return []
    const key = `${stock.productId}/${stock.variationId ?? ''}`
    const before = taken.get(key) ?? 0
    const units = stock.units - before
    const left = isShared ? shareLeft(db, addressKey, stock) - before : units
    if (line.quantity > left) return [left < units ? beyondShare(line, left) : beyondStock(line, left)]
    taken.set(key, before + line.quantity)
    return []
  })
}

function beyondStock({ path, name }: NewLine, left: number): Refusal {
  const problem = notEnough(`${path}.quantity`, name, Math.max(0, left))
  return refusal(problem, { message: 'There is not enough of this in stock.' })
}

function beyondShare({ path, name }: NewLine, left: number): Refusal {
  const [message, named] =
    left <= 0
      ? [
          'The rest of the stock is held for other buyers. Please try again later.',
          'the rest of the stock is held for other buyers. Please try again later.'
        ]
      : [`Only ${left} can be ordered at a time.`, `only ${left} can be ordered at a time.`]
  const problem = {
    path: `${path}.quantity`,
    code: 'not_enough',
    message: `${name}: ${named}`,
    left: Math.max(0, left)
  } as const
  return refusal(problem, { message })
}

/** The first unpaid order of an address may hold all: a buyer who wants the last pieces holds nothing else. */
function shareLeft(db: Db, addressKey: string, stock: CountedStock): number {
  if (countHeldAt(db, addressKey) === 0) return stock.units
  const held = unitsHeldByGuests(db, addressKey, stock)
  const share = Math.floor(((stock.units + held) * setting(db, 'checkout.heldStockPercent')) / 100)
  return Math.min(stock.units, Math.max(1, share) - held)
}

/** Cancels a buyer's oldest pending orders beyond the limit, after a new one was placed. */
export async function releaseOldestOrders(shop: ShopContext, buyer: string): Promise<void> {
  const pending = pendingOrdersOf(shop.db, buyer)
  await releaseOrders(shop, pending.slice(0, Math.max(0, pending.length - setting(shop.db, 'checkout.heldOrders'))))
}

/**
 * Cancels unpaid orders beyond the limit. An order whose payment waits for the bank, or that turns out to be paid, stays. If
 * the gateway does not answer, the end of the hold releases the order.
 */
function releaseOrders(shop: ShopContext, orderIds: readonly number[]): Promise<void> {
  return forEach(shop, orderIds, 'an older unpaid order was not cancelled', cancelUnpaidOrder)
}

/** Does `work` for each order while the buyer waits for the new one. What an AppError refuses only leaves a line in the log. */
async function forEach(
  shop: ShopContext,
  orderIds: readonly number[],
  failure: string,
  work: typeof callOffPayments
): Promise<void> {
  const deadline = startDeadline(longestWaitMs)
  for (const orderId of orderIds) {
    try {
      await work(shop, orderId, 'checkout', deadline)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      shop.log.info(failure, { orderId, error: describeError(error) })
    }
  }
}

/**
 * The orders that a new one replaces (`replacedOrders`). The gateway is asked about them first: one that was paid on the
 * payment page, which the shop has not heard of yet, keeps its stock and coupons. If the gateway does not answer soon,
 * the order is replaced, and a payment that arrives later is a late payment of it.
 */
export async function findReplaced(shop: ShopContext, holder: Holder, body: QuoteBody): Promise<number[]> {
  const found = replacedOrders(shop.db, holder, body)
  if (found.length === 0) return found
  const asked = Promise.all(found.map((orderId) => askGateway(shop, orderId)))
  await Promise.race([asked, sleep(longestQuestionMs, undefined, { ref: false })])
  return replacedOrders(shop.db, holder, body)
}

/** The new order is not placed yet, so its buyer waits for less than for the end of the old one. */
const longestQuestionMs = 2_000

/** Cancels the orders that a new one replaces, and that can still be replaced, in the transaction of the new one. */
export function cancelReplaced(tx: Tx, orderIds: readonly number[], now: number): void {
  for (const id of orderIds)
    if (getOrder(tx, id).status === 'pending' && canBeReplaced(tx, id)) moveToCancelled(tx, id, 'checkout', now)
}

/**
 * Closes the payment pages of cancelled orders. If the gateway does not answer, or the process ends before, the reconciler
 * closes them. A payment that arrived before is a late payment of its order.
 */
export function closePaymentsOf(shop: ShopContext, orderIds: readonly number[]): Promise<void> {
  return forEach(shop, orderIds, 'the payment page of a replaced order was not closed', callOffPayments)
}

/** The buyer waits for the new order. */
const longestWaitMs = 8_000

/**
 * The buyer's unpaid orders that a new order for this cart replaces: those with a product, a coupon or a gift card of it. Otherwise the
 * buyer's own order would make the cart sold out, and use up a coupon. A payment that waits for the bank is left, and a card
 * payment that is being made, or whose outcome is not known.
 */
export function replacedOrders(
  db: Db,
  { buyer, cookieBuyer }: Pick<Holder, 'buyer' | 'cookieBuyer'>,
  body: QuoteBody
): number[] {
  const buyers = cookieBuyer === null ? [buyer] : [buyer, cookieBuyer]
  const products = new Set(body.items.map(({ productId }) => productId))
  const codes = new Set(sentCodes(body).map(({ code }) => compareKey(code)))
  const cards = new Set((body.giftCards ?? []).flatMap((code) => findCard(db, code)?.id ?? []))
  return buyers
    .flatMap((each) => pendingOrdersOf(db, each))
    .filter(
      (id) =>
        canBeReplaced(db, id) &&
        (itemsOf(db, id).some(({ productId }) => products.has(productId)) ||
          couponsOf(db, id).some(({ code }) => codes.has(compareKey(code))) ||
          creditsOf(db, id).some(({ card }) => card !== null && cards.has(card.id)))
    )
}

function canBeReplaced(db: Db, orderId: number): boolean {
  const [newest] = attemptsOf(db, orderId)
  if (newest !== undefined && isAtTheBank(newest)) return false
  // The buyer came back from the bank's page without an answer.
  if (takesToken(getOrder(db, orderId).strategy)) return newest?.gatewayStatus === 'requires_action'
  // A concurrent request is opening the payment page, and its buyer waits for it.
  const isBeingOpened = newest?.objectId === null && newest.outcome === null && newest.gatewayStatus !== unanswered
  return !isBeingOpened
}

/**
 * What `work` finds when these orders hold nothing and do not count for the limits on unpaid orders. It must only read:
 * everything is rolled back.
 */
export async function ifReleased<T>(
  db: Db,
  orderIds: readonly number[],
  work: () => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  if (orderIds.length === 0) return work()
  return dryRunWhenFree<T>(db, (tx) => {
    for (const id of orderIds) {
      releaseHold(tx, id)
      returnCredits(tx, creditsOf(tx, id), 0)
      dropHolder(tx, id)
    }
    return work()
  })
}
