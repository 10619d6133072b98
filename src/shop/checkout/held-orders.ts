import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { DraftLine } from '../orders/draft.ts'
import { countHeldAt, pendingOrdersOf, unitsHeldByGuests } from '../orders/holders.ts'
import type { Holder } from '../orders/holders.ts'
import { countedStock } from '../orders/order-stock.ts'
import type { CountedStock } from '../orders/order-stock.ts'
import { takesToken } from '../orders/strategies.ts'
import type { Strategy } from '../orders/strategies.ts'
import { cancelOrder } from '../payments/end-hold.ts'
import { setting } from '../settings/settings.ts'

type Problem = { path: string; code: 'not_enough'; message: string; left: number }

/**
 * Limits what one address can hold without paying: a number of orders and, for guests who pay on a payment page, a share
 * of the stock. Otherwise one client could hold the whole stock.
 *
 * @throws AppError RATE_LIMITED (held_orders); VALIDATION_FAILED with a problem `not_enough` for each line
 */
export function assertMayHold(
  db: Db,
  { isGuest, addressKey }: Holder,
  { lines, strategy }: { lines: readonly DraftLine[]; strategy: Strategy }
): void {
  if (countHeldAt(db, addressKey) >= setting(db, 'checkout.heldOrdersPerAddress')) {
    const headers = { 'Retry-After': String(setting(db, 'checkout.holdMinutes') * 60) }
    const message = 'Too many unpaid orders from this address. Pay or cancel one of them, or try again later.'
    throw new AppError('RATE_LIMITED', message, { bucket: 'held_orders' }, { headers })
  }
  if (!isGuest || takesToken(strategy)) return
  const problems = overHeld(db, addressKey, lines)
  if (problems.length === 0) return
  throw new AppError('VALIDATION_FAILED', 'Some items cannot be bought.', {
    fieldErrors: Object.fromEntries(problems.map(({ path, message }) => [path, [message]])),
    problems
  })
}

/** The lines that take more than the address's share of their stock, which several variations of a product may share. */
function overHeld(db: Db, addressKey: string, lines: readonly DraftLine[]): Problem[] {
  const leftOf = new Map<string, number>()
  const problems: Problem[] = []
  for (const line of lines) {
    const stock = countedStock(db, line)
    if (stock === null) continue
    const key = `${stock.productId}/${stock.variationId ?? ''}`
    const left = leftOf.get(key) ?? shareLeft(db, addressKey, stock)
    leftOf.set(key, left - line.quantity)
    if (line.quantity > left) problems.push(notEnough(`${line.path}.quantity`, Math.max(0, left)))
  }
  return problems
}

function shareLeft(db: Db, addressKey: string, stock: CountedStock): number {
  const held = unitsHeldByGuests(db, addressKey, stock)
  const share = Math.floor(((stock.units + held) * setting(db, 'checkout.heldStockPercent')) / 100)
  return Math.min(stock.units, Math.max(1, share) - held)
}

function notEnough(path: string, left: number): Problem {
  const message =
    left === 0
      ? 'The rest of the stock is held for other buyers. Please try again later.'
      : `Only ${left} can be ordered at a time.`
  return { path, code: 'not_enough', message, left }
}

/**
 * Cancels a buyer's oldest pending orders beyond the limit, after a new one was placed. An order whose payment waits for
 * the bank stays. If the gateway does not answer, the end of the hold releases the order.
 */
export async function releaseOldestOrders(shop: ShopContext, buyer: string): Promise<void> {
  const pending = pendingOrdersOf(shop.db, buyer)
  for (const orderId of pending.slice(0, Math.max(0, pending.length - setting(shop.db, 'checkout.heldOrders')))) {
    try {
      await cancelOrder(shop, orderId, 'checkout')
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      shop.log.info('an older unpaid order was not cancelled', { orderId, error: describeError(error) })
    }
  }
}
