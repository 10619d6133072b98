import { setTimeout as sleep } from 'node:timers/promises'
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
import { onceFor } from '../../platform/once-for.ts'
import { currentHoliday } from '../settings/holiday.ts'
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
 * payment must not start beside one whose outcome is open. No payment starts in a holiday of the shop.
 */
export function isPayable(db: Db, order: OrderRow, status: BuyerStatus, now: number): boolean {
  return !takesToken(order.strategy) && canBePaid(status) && currentHoliday(db, now) === null
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

/** A buyer waits for the answer. If the gateway is slower, the result is pending. */
const longestWaitMs = 8_000
/** The gateway is asked about one order at most this often. */
const pauseMs = 1_000
/** How many orders the gateway is asked about at a time, so that many clients cannot use up its own limit. */
const mostQuestions = 8

/** A question about an order; `next` is the one that the calls of the pause share. */
type Question = { earliest: number; next?: Promise<void> }
type Questions = { running: number; byOrder: Map<number, Question> }
const questionsOf = onceFor<Db, Questions>(() => ({ running: 0, byOrder: new Map() }))

/**
 * Asks the gateway for the payments of an order whose outcome is open, and stores its answer. The buyer who comes back may
 * be faster than the webhook, and the query of the return address proves nothing. Calls for one order share a question
 * that begins after them, at most one each second. When the gateway does not answer in time, the order stays as the shop
 * knows it.
 */
export async function askGateway(shop: ShopContext, orderId: number): Promise<void> {
  if (undecidedOf(shop.db, orderId).length === 0) return
  const { byOrder } = questionsOf(shop.db)
  const question = byOrder.get(orderId) ?? { earliest: 0 }
  byOrder.set(orderId, question)
  question.next ??= askLater(shop, orderId, question)
  await question.next
}

async function askLater(shop: ShopContext, orderId: number, question: Question): Promise<void> {
  const questions = questionsOf(shop.db)
  // It waits in any case, so that the caller has stored this question before it begins.
  await sleep(Math.max(0, question.earliest - performance.now()))
  delete question.next
  if (questions.running >= mostQuestions) return
  questions.running += 1
  try {
    await settleUndecided(shop, orderId)
  } finally {
    questions.running -= 1
    question.earliest = performance.now() + pauseMs
    const forget = (): void => {
      if (question.next === undefined && questions.byOrder.get(orderId) === question) questions.byOrder.delete(orderId)
    }
    setTimeout(forget, pauseMs).unref()
  }
}

function undecidedOf(db: Db, orderId: number): AttemptRow[] {
  return openAttemptsOf(db, orderId).filter(({ objectId }) => objectId !== null)
}

async function settleUndecided(shop: ShopContext, orderId: number): Promise<void> {
  const deadline = startDeadline(longestWaitMs)
  for (const attempt of undecidedOf(shop.db, orderId)) {
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
