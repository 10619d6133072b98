import { AppError } from '../../errors.ts'
import { writeWhenFree, rawStatement } from '../../platform/db/database.ts'
import type { Tx, Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { overdueOrders } from '../orders/holds.ts'
import { dueMinor } from '../orders/refunds/credits.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { moveOrder } from '../orders/transition.ts'
import { createAttempt, getAttempt, openAttemptsOf, updateAttempt, endTransfers, endLateTransfers } from './attempts.ts'
import { startDeadline, isUnavailable, findGatewayOf, gatewayOf } from './gateway.ts'
import type { Deadline } from './gateway.ts'
import { isAtTheBank, callOff } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { settleAttempt } from './settle.ts'
import { sqlList } from '../../platform/db/columns.ts'
import { unpaidStatuses } from '../orders/states.ts'

/**
 * Ends expired holds, and orders whose transfer did not arrive in time. Returns how many. A hold that cannot be ended now
 * is tried again in the next round.
 */
export async function endHolds(shop: ShopContext): Promise<{ ended: number; failed: number }> {
  const report = { ended: 0, failed: 0 }
  for (const orderId of overdueOrders(shop.db, shop.clock.now())) {
    try {
      await endHold(shop, orderId)
      if (getOrder(shop.db, orderId).status !== 'pending') report.ended += 1
    } catch (error) {
      report.failed += 1
      shop.log.warn('a hold could not be ended', { orderId, error: describeError(error) })
      if (isUnavailable(error)) break
    }
  }
  report.ended += await endLateTransfers(shop)
  return report
}

/**
 * Ends the hold of an order that was not paid in time: first its payments are called off at the gateway, then its stock
 * and coupons are released. An order whose payment waits for the bank, or that starts another attempt in the meantime, is left.
 */
export async function endHold(shop: ShopContext, orderId: number): Promise<void> {
  const open = openAttemptsOf(shop.db, orderId)
  if (open.some((attempt) => mayBePaidUnseen(shop, attempt))) return
  for (const attempt of open) {
    if (!(await closeAttempt(shop, attempt, 'hold'))) return
  }
  await writeWhenFree(shop.db, (tx) => {
    const isOver = getOrder(tx, orderId).status === 'pending' && openAttemptsOf(tx, orderId).length === 0
    if (isOver) moveOrder(tx, orderId, 'cancelled', { by: 'hold', reason: 'it was not paid in time' }, shop.clock.now())
  })
}

/**
 * Whether a payment may still arrive although the gateway cannot be asked: the key is missing, or the shop no longer uses
 * the gateway and the payment was waiting for the bank.
 */
function mayBePaidUnseen(shop: ShopContext, attempt: AttemptRow): boolean {
  if (attempt.objectId === null || findGatewayOf(shop, attempt) !== undefined) return false
  return shop.cards?.name === attempt.gateway || isAtTheBank(attempt)
}

/**
 * Cancels an order for an operator, also a paid one.
 *
 * @throws AppError as cancelUnpaidOrder for an order that was not paid when the command began
 */
export async function cancelOrder(shop: ShopContext, orderId: number, by: string): Promise<void> {
  if (getOrder(shop.db, orderId).paidAt === null) return cancelUnpaidOrder(shop, orderId, by)
  await writeWhenFree(shop.db, (tx) => moveToCancelled(tx, orderId, by, shop.clock.now()))
}

/**
 * Cancels an order that is not paid. Open payments are first called off at the gateway, so that the buyer is not charged
 * for a cancelled order.
 *
 * @throws AppError TRANSITION_REFUSED when it is paid, also if it was paid in the meantime, or cannot be cancelled,
 *   CONFLICT while its payment waits for the bank, DEPENDENCY_UNAVAILABLE when the gateway does not answer or cannot be
 *   asked from here
 */
export async function cancelUnpaidOrder(
  shop: ShopContext,
  orderId: number,
  by: string,
  deadline: Deadline = startDeadline()
): Promise<void> {
  let isCancelled = false
  while (!isCancelled) {
    // A buyer who chose a bank transfer may still have a payment page open that could not be closed then.
    await callOffPayments(shop, orderId, by, deadline)
    isCancelled = await writeWhenFree(shop.db, (tx) => {
      // The buyer may have paid meanwhile, or started another payment in another tab.
      assertUnpaid(getOrder(tx, orderId))
      if (openAttemptsOf(tx, orderId).length > 0) return false
      moveToCancelled(tx, orderId, by, shop.clock.now())
      return true
    })
  }
}

/**
 * Changes an order that is not paid, after its payment pages are closed at the gateway: they show the order as it was. It
 * keeps its state and its hold meanwhile. A transfer that it waits for is then of the new total.
 *
 * @throws AppError CONFLICT when it was paid in the meantime or its payment waits for the bank; DEPENDENCY_UNAVAILABLE when
 *   the gateway does not answer; and what `change` throws
 */
export async function changeUnpaid<T>(
  shop: ShopContext,
  orderId: number,
  by: string,
  change: (tx: Tx, order: OrderRow, now: number) => T extends PromiseLike<unknown> ? never : T
): Promise<T> {
  const deadline = startDeadline()
  for (;;) {
    const pages = await writeWhenFree(shop.db, (tx) => supersedePages(tx, orderId, shop.clock.now()))
    await callOffPayments(shop, orderId, by, deadline, pages)
    const changed = await writeWhenFree(shop.db, (tx) => {
      const order = getOrder(tx, orderId)
      if (order.paidAt !== null)
        throw new AppError('CONFLICT', `Order ${orderId} was paid in the meantime. Look at it and try again.`)
      // The buyer may have started another payment meanwhile.
      if (pagesOf(tx, orderId).length > 0) return undefined
      const now = shop.clock.now()
      const result = change(tx, order, now)
      const amountMinor = dueMinor(tx, getOrder(tx, orderId))
      for (const { id } of openAttemptsOf(tx, orderId)) updateAttempt(tx, id, { amountMinor }, now)
      return { result }
    })
    if (changed !== undefined) return changed.result
  }
}

function pagesOf(db: Db, orderId: number): AttemptRow[] {
  return openAttemptsOf(db, orderId).filter(({ kind }) => kind !== 'manual')
}

/** Stores an attempt after the open pages of an order, so that the end of a page does not end the order. */
function supersedePages(tx: Tx, orderId: number, now: number): AttemptRow[] {
  const pages = pagesOf(tx, orderId)
  if (pages.length === 0) return []
  const { id } = createAttempt(tx, getOrder(tx, orderId), { gateway: 'none', kind: 'none', livemode: false }, now)
  updateAttempt(tx, id, { outcome: 'abandoned', settledAt: now }, now)
  return pages
}

/** Cancels an order, and ends the bank transfers that it waits for. */
export function moveToCancelled(tx: Tx, orderId: number, by: string, now: number): void {
  moveOrder(tx, orderId, 'cancelled', { by, reason: 'cancelled' }, now)
  endTransfers(tx, orderId, 'abandoned', now)
}

/**
 * Calls off the open payments of an order at the gateway.
 *
 * @throws AppError CONFLICT while a payment waits for the bank; DEPENDENCY_UNAVAILABLE
 */
export async function callOffPayments(
  shop: ShopContext,
  orderId: number,
  by: string,
  deadline: Deadline,
  open: readonly AttemptRow[] = openAttemptsOf(shop.db, orderId)
): Promise<void> {
  for (const attempt of open) if (attempt.objectId !== null) gatewayOf(shop, attempt)
  for (const attempt of open) {
    const isOver = await closeAttempt(shop, attempt, by, deadline).catch((cause: unknown) => {
      throw new AppError(
        'DEPENDENCY_UNAVAILABLE',
        'The payment gateway does not answer. Try again in a minute.',
        {},
        { cause }
      )
    })
    if (!isOver)
      throw new AppError(
        'CONFLICT',
        `The payment of order ${orderId} is waiting for the bank, so the order cannot be changed or cancelled now.`
      )
  }
}

/** A paid order can also be on hold, for example because its coupon is used up. */
function assertUnpaid({ id, status, paidAt }: OrderRow): void {
  if (paidAt === null) return
  const message = `Order ${id} was paid in the meantime. Refund it instead.`
  throw new AppError('TRANSITION_REFUSED', message, { from: status, to: 'cancelled' })
}

/** Calls an attempt off; true once it has a final outcome. */
async function closeAttempt(
  shop: ShopContext,
  attempt: AttemptRow,
  by: string,
  deadline: Deadline = startDeadline()
): Promise<boolean> {
  // A gateway that the shop no longer uses cannot be asked. If the payment arrives after all, it is a late payment.
  const gateway = attempt.objectId === null ? undefined : findGatewayOf(shop, attempt)
  const stripe = await gateway?.client()
  const state = stripe && (await deadline.call((options) => callOff(stripe, attempt, options)))
  if (state === undefined) await abandon(shop, attempt)
  else await settleAttempt(shop, attempt.id, state, by)
  const known = getAttempt(shop.db, attempt.id)
  const isNamedNow = attempt.objectId === null && known.objectId !== null && known.outcome === null
  return isNamedNow ? closeAttempt(shop, known, by, deadline) : known.outcome !== null
}

/** A checkout may have stored the object's id since the attempt was read: the gateway must be asked about it then. */
async function abandon(shop: ShopContext, { id, objectId }: AttemptRow): Promise<void> {
  const now = shop.clock.now()
  await writeWhenFree(shop.db, (tx) => {
    const known = getAttempt(tx, id)
    if (known.outcome !== null || known.objectId !== objectId) return
    updateAttempt(tx, id, { outcome: 'abandoned', settledAt: now }, now)
  })
}

/** Which unpaid orders to cancel. `emailDomain` is the part after the @, in lower case. */
export type UnpaidFilter = { placedBefore: number; emailDomain: string | null }

/** The orders that were cancelled, and those that could not be, with the reason. */
export type CancelReport = { cancelled: number[]; failed: { orderId: number; message: string }[] }

const held = sqlList(unpaidStatuses)

const unpaid = rawStatement<{ placedBefore: number; emailDomain: string | null }, { id: number }>(`
  SELECT id FROM orders
  WHERE status IN (${held}) AND paid_at IS NULL AND created_at <= @placedBefore
    AND (@emailDomain IS NULL OR substr(email_key, instr(email_key, '@') + 1) = @emailDomain)
  ORDER BY id`)

/** The ids of the orders that hold stock or coupons and were never paid, the oldest first. */
export function findUnpaidOrders(db: Db, filter: UnpaidFilter): number[] {
  return unpaid(db)
    .all(filter)
    .map(({ id }) => id)
}

/**
 * Cancels orders as an operator does with each of them: their payments are called off at the gateway first. An order that
 * was paid in the meantime, or whose payment waits for the bank, is reported and stays.
 */
export async function cancelUnpaidOrders(
  shop: ShopContext,
  orderIds: readonly number[],
  by: string,
  onStep: (done: number) => void
): Promise<CancelReport> {
  const report: CancelReport = { cancelled: [], failed: [] }
  for (const [index, orderId] of orderIds.entries()) {
    onStep(index)
    try {
      await cancelUnpaidOrder(shop, orderId, by)
      report.cancelled.push(orderId)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      report.failed.push({ orderId, message: error.message })
    }
  }
  return report
}
