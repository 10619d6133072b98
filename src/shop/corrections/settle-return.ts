import { AppError } from '../../errors.ts'
import { dryRun } from '../../platform/db/dry-run.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Item } from '../checkout/cart.ts'
import type { ShopContext } from '../context.ts'
import { areWithdrawalsDone } from '../declarations/find.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import type { LineQuantity, WantedRefund } from '../orders/refunds/refund-lines.ts'
import { runWithRefunds } from '../payments/refund.ts'
import { resolveWarnings } from '../payments/warnings.ts'
import type { UnitOfWork } from '../payments/warnings.ts'
import {
  expectedReturnOf,
  expectReturn,
  linesOfReturn,
  receiveReturn,
  returnsOf,
  toItems
} from '../shipments/returns.ts'
import type { ReturnRow } from '../shipments/returns.ts'
import { changePaid } from './change-paid.ts'
import type { Changed } from './change-paid.ts'
import { detailsOf, recordChange } from './change-order.ts'

/** What came back, and what the buyer gets for it. */
export type ReceivedGoods = {
  /** What came back, if that is not what was expected. */
  items?: readonly LineQuantity[] | undefined
  /** What the buyer gets instead, if that is not what was asked for; an empty list for a refund. */
  exchange?: readonly Item[] | undefined
  restock?: WantedRefund['restock'] | 'all'
  /** What is given back of the shipping besides. */
  shipping?: WantedRefund['shipping']
  reason?: string | undefined
  byHand?: boolean
  /** How long an exchange that costs more waits for its payment. */
  holdMinutes: number
}

/** What a return has led to. */
export type SettledReturn = { returnId: number } & Changed

/**
 * Asks a buyer for goods that they send back, for a refund or in exchange for others.
 *
 * @throws AppError as expectReturn
 */
export function askForReturn(
  shop: ShopContext,
  orderId: number,
  { items, exchange = [] }: Pick<ReceivedGoods, 'items' | 'exchange'>,
  by: string
): ReturnRow {
  return write(shop.db, (tx) => {
    const order = getOrder(tx, orderId)
    const lines = items ?? []
    return expectReturn(tx, order, { lines, exchange, askedBy: 'operator', by }, shop.clock.now())
  })
}

/**
 * Records that goods came back, expected or not, and gives the buyer the money or the exchange for them: a credit note for what
 * came back, and a link or a refund for the difference (change-paid.ts). A return whose exchange was not paid for is refunded
 * when it is received again.
 *
 * @throws AppError as expectReturn and changePaid; as requestRefund, when the return is stored
 */
export async function settleReturn(
  shop: ShopContext,
  orderId: number,
  goods: ReceivedGoods,
  by: string
): Promise<SettledReturn> {
  return runWithRefunds(shop, by, (unit) => settle(unit, shop, orderId, goods))
}

/** What `settleReturn` would do, for the operator to confirm. Nothing is stored. @throws AppError as settleReturn */
export function planReturn(shop: ShopContext, orderId: number, goods: ReceivedGoods, by: string): SettledReturn {
  const now = shop.clock.now()
  return dryRun(shop.db, (tx) => settle({ tx, log: shop.log, by, now }, shop, orderId, goods))
}

function settle(unit: UnitOfWork, shop: ShopContext, orderId: number, goods: ReceivedGoods): SettledReturn {
  const { tx, by, now } = unit
  const order = getOrder(tx, orderId)
  if (order.paidAt === null)
    throw new AppError('CONFLICT', `Order ${orderId} has not been paid, so nothing of it can be given back.`)
  const row = openReturn(unit, order, goods)
  const back = goods.items ?? linesOfReturn(tx, row).map(({ line, quantity }) => ({ line, quantity }))
  const lines = toItems(tx, order, back)
  const details = detailsOf(tx, order)
  const { reason, byHand = false, holdMinutes, shipping } = goods
  // An exchange that was not paid for is not tried again by itself.
  const add = goods.exchange ?? (row.state === 'expected' ? row.exchange : [])
  const restock = goods.restock === 'all' ? back : goods.restock
  const change = { back, add, restock, shipping, reason, byHand, holdMinutes, freeShipping: true }
  const changed = changePaid(unit, shop, order, change)
  const additionId = changed.addition?.id ?? null
  const { id: returnId } = receiveReturn(tx, row, { lines, additionId, by }, now)
  if (additionId !== null)
    recordChange(tx, { before: order, order: getOrder(tx, orderId) }, { details, by, additionId }, now)
  if (areWithdrawalsDone(tx, orderId)) resolveWarnings(unit, 'withdrawal', orderId)
  return { returnId, ...changed }
}

/** The return that is received: the expected one, one whose exchange was not paid for, or a new one for goods that just came. */
function openReturn({ tx, by, now }: UnitOfWork, order: OrderRow, { items, exchange = [] }: ReceivedGoods): ReturnRow {
  const known = expectedReturnOf(tx, order.id) ?? returnsOf(tx, order.id).find((row) => isUndecided(tx, row))
  if (known !== undefined) return known
  if (items === undefined)
    throw new AppError('CONFLICT', `Order ${order.id} waits for no return. Name what came back with --item.`)
  return expectReturn(tx, order, { lines: items, exchange, askedBy: 'operator', by, isHere: true }, now)
}

/** Whether the goods of an exchange are there, and its payment was given up. */
function isUndecided(db: Db, { state, additionId }: ReturnRow): boolean {
  return state === 'received' && additionId !== null && getOrder(db, additionId).status === 'cancelled'
}
