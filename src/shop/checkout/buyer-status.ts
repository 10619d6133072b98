import type { Db } from '../../platform/db/database.ts'
import { historyOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { orderStates } from '../orders/states.ts'
import type { OrderState, OrderStatus } from '../orders/states.ts'
import { takesToken } from '../orders/strategies.ts'
import { attemptsOf, openAttemptsOf } from '../payments/attempts.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { tryTakePoint } from '../limits/points.ts'
import { startDeadline, findGatewayOf } from '../payments/gateway.ts'
import { lookUp } from '../payments/gateway-state.ts'
import { settleAttempt } from '../payments/settle.ts'

type Waiting =
  /** The buyer has to transfer the money. */
  | 'awaiting_money'
  /** The bank has not decided yet. */
  | 'awaiting_bank'
  /** Not paid in time. */
  | 'expired'

/** The status that the buyer sees: the order's own, or a more specific one. */
export type BuyerStatus = OrderStatus | Waiting

/** The properties of each status, for pages and payments. */
export const buyerStatuses: Readonly<Record<BuyerStatus, OrderState>> = {
  ...orderStates,
  awaiting_money: { to: [], paid: false, released: false, tone: 'wait' },
  awaiting_bank: { to: [], paid: false, released: false, tone: 'wait' },
  expired: { to: [], paid: false, released: true, tone: 'bad' }
}

/** Stripe's statuses of a payment that the bank has not decided about. */
const waitingStatuses = new Set(['processing', 'requires_capture', 'complete'])

/** The status that the buyer of an order sees at `now`. */
export function buyerStatusOf(db: Db, order: OrderRow, now: number): BuyerStatus {
  const [newest] = attemptsOf(db, order.id)
  if (order.status === 'pending') return pendingStatusOf(order, newest, now)
  if (order.status === 'on-hold' && newest?.kind === 'manual' && order.paidAt === null) return 'awaiting_money'
  if (order.status === 'cancelled' && hasExpired(db, order, newest)) return 'expired'
  return order.status
}

/** Whether the buyer can still pay, as far as the status says: a payment starts from pending. */
export function canBePaid(status: BuyerStatus): boolean {
  return status === 'pending' || buyerStatuses[status].to.includes('pending')
}

/**
 * Whether the buyer can pay the order on the hosted page. With token_handoff the site takes the card, and a second
 * payment must not start beside one whose outcome is open.
 */
export function isPayable(order: OrderRow, status: BuyerStatus): boolean {
  return !takesToken(order.strategy) && canBePaid(status)
}

/** Whether the order's total can still change: no payment has started. */
export function canTakeCoupon(db: Db, order: OrderRow): boolean {
  return order.status === 'pending' && attemptsOf(db, order.id).every(({ outcome }) => outcome !== null)
}

function pendingStatusOf(order: OrderRow, newest: AttemptRow | undefined, now: number): BuyerStatus {
  if (isOpen(newest) && waitingStatuses.has(newest.gatewayStatus ?? '')) return 'awaiting_bank'
  // The job that ends holds may not have run yet.
  return order.holdEndsAt !== null && order.holdEndsAt <= now ? 'expired' : 'pending'
}

/** The time to pay ran out, as opposed to a cancellation, which closes the payment page before its end. */
function hasExpired(db: Db, order: OrderRow, newest: AttemptRow | undefined): boolean {
  if (order.paidAt !== null) return false
  const ranOut = newest?.outcome === 'expired' && (newest.settledAt ?? 0) >= (newest.expiresAt ?? 0)
  return ranOut || historyOf(db, order.id).at(-1)?.by === 'hold'
}

function isOpen(attempt: AttemptRow | undefined): attempt is AttemptRow {
  return attempt !== undefined && attempt.outcome === null
}

/** The open attempt whose payment page the gateway still offers. */
export function openPageOf(db: Db, orderId: number): AttemptRow | undefined {
  const [newest] = attemptsOf(db, orderId)
  return isOpen(newest) && newest.kind === 'checkout_session' ? newest : undefined
}

/** A buyer waits for the redirect. If the gateway is slower, the result is pending. */
const longestWaitMs = 8_000

/**
 * Asks the gateway for the payments of an order whose outcome is open, and stores its answer. The buyer who comes back may
 * be faster than the webhook, and the query of the return address proves nothing. A client that repeats its return is
 * not worth a call each time: past `checkout_ip`, and when the gateway does not answer in time, the order stays as the
 * shop knows it.
 */
export async function askGateway(shop: ShopContext, orderId: number, addressKey: string): Promise<void> {
  const open = openAttemptsOf(shop.db, orderId).filter(({ objectId }) => objectId !== null)
  if (open.length === 0 || !(await tryTakePoint(shop, { bucket: 'checkout_ip', key: addressKey }))) return
  const deadline = startDeadline(longestWaitMs)
  for (const attempt of open) {
    const gateway = findGatewayOf(shop, attempt)
    if (gateway === undefined) continue
    try {
      const stripe = await gateway.client()
      const state = await deadline.call((options) => lookUp(stripe, attempt, options))
      if (state !== undefined) await settleAttempt(shop, attempt.id, state, 'return')
    } catch (error) {
      shop.log.warn('the result of a payment could not be read', { orderId, error: describeError(error) })
    }
  }
}
