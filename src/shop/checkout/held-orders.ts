import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { NewLine } from '../orders/create-order.ts'
import { notEnough, refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import {
  countHeldAt,
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
import { cancelUnpaidOrder } from '../payments/end-hold.ts'
import { setting } from '../settings/settings.ts'
import { compareKey } from '../../platform/text.ts'
import { dryRunWhenFree } from '../../platform/db/dry-run.ts'
import { couponsOf, getOrder, itemsOf } from '../orders/find.ts'
import { attemptsOf, unanswered } from '../payments/attempts.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { sentCodes } from './cart.ts'
import type { QuoteBody } from './input.ts'

/** Whether the unpaid orders of one client address are as many as they may be. */
export function holdsTooMuch(db: Db, { addressKey }: Pick<Holder, 'addressKey'>): boolean {
  return countHeldAt(db, addressKey) >= setting(db, 'checkout.heldOrdersPerAddress')
}

/**
 * Limits how many unpaid orders one client address has. Otherwise one client could hold the whole stock.
 *
 * @throws AppError RATE_LIMITED (held_orders)
 */
export function assertMayHold(db: Db, holder: Pick<Holder, 'addressKey'>): void {
  if (!holdsTooMuch(db, holder)) return
  const headers = { 'Retry-After': String(setting(db, 'checkout.holdMinutes') * 60) }
  throw new AppError('RATE_LIMITED', tooManyUnpaid, { bucket: 'held_orders' }, { headers })
}

/** For the buyer. */
export const tooManyUnpaid = 'Too many unpaid orders from this address. Pay or cancel one of them, or try again later.'

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
 * Cancels unpaid orders for a newer one. An order whose payment waits for the bank, or that turns out to be paid, stays. If
 * the gateway does not answer, the end of the hold releases the order.
 */
export async function releaseOrders(shop: ShopContext, orderIds: readonly number[]): Promise<void> {
  const deadline = startDeadline(longestWaitMs)
  for (const orderId of orderIds) {
    try {
      await cancelUnpaidOrder(shop, orderId, 'checkout', deadline)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      shop.log.info('an older unpaid order was not cancelled', { orderId, error: describeError(error) })
    }
  }
}

/** The buyer waits for the new order. */
const longestWaitMs = 8_000

/**
 * The buyer's unpaid orders that a new order for this cart replaces: those with a product or a coupon of it. Otherwise the
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
  return buyers
    .flatMap((each) => pendingOrdersOf(db, each))
    .filter(
      (id) =>
        canBeReplaced(db, id) &&
        (itemsOf(db, id).some(({ productId }) => products.has(productId)) ||
          couponsOf(db, id).some(({ code }) => codes.has(compareKey(code))))
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
      dropHolder(tx, id)
    }
    return work()
  })
}
