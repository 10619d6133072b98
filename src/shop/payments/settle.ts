import type { Db, Tx } from '../../platform/db/database.ts'
import { linkSubscription } from '../benefits/subscriptions.ts'
import type { ShopContext } from '../context.ts'
import { formatMoney } from '../../platform/money.ts'
import { dueMinor, reclaimableMinor } from '../orders/refunds/credits.ts'
import { getOrder } from '../orders/find.ts'
import { moveOrder, payOrder } from '../orders/transition.ts'
import { couponsOverLimit, describeOverLimit } from '../orders/coupon-uses.ts'
import { mailWaitingForBank } from '../orders/order-mails.ts'
import { recordBuyerEmail, recordCard } from '../orders/buyer.ts'
import type { OrderRow } from '../orders/find.ts'
import { isPaidStatus } from '../orders/states.ts'
import { attemptsOf, getAttempt, updateAttempt, endTransfers } from './attempts.ts'
import { runUnitOfWork, warn, warnOfVatId } from './warnings.ts'
import type { UnitOfWork } from './warnings.ts'
import { isAtTheBank, mismatch } from './gateway-state.ts'
import type { GatewayState, Mismatch } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { keysOf } from '../../platform/typed.ts'

/** An attempt after the gateway's state has been applied to it. */
export type Settled = { attempt: AttemptRow; verdict: GatewayState['verdict'] | 'mismatch' }

/**
 * Applies the gateway's state of an attempt to the order, in the caller's transaction. The checkout, webhooks, the
 * reconciler and the command line all settle payments here; applying the same state again changes nothing.
 *
 * An object that does not match its attempt leaves the order unchanged and a warning for the operator.
 */
export function applyGatewayState(unit: UnitOfWork, attemptId: number, state: GatewayState): Settled {
  const { tx } = unit
  const attempt = getAttempt(tx, attemptId)
  const wrong = mismatchOf(tx, attempt, state, unit.now)
  if (wrong !== undefined) {
    const why = `${state.objectId} does not count as the payment of order ${attempt.orderId}: ${wrong.reason}.`
    const message = [why, ...advice[wrong.kind](attempt.orderId)].join(' ')
    warn(unit, { orderId: attempt.orderId, kind: 'mismatch', objectId: state.objectId, message })
    return { attempt, verdict: 'mismatch' }
  }
  // A state other than paid was read before the payment arrived.
  if (attempt.outcome === 'paid') return { attempt, verdict: 'paid' }
  remember(unit, attempt, state)
  effects[state.verdict](unit, attempt, state)
  return { attempt: getAttempt(tx, attemptId), verdict: state.verdict }
}

/** Why a state does not match its attempt, or what is due of the order; undefined if it does. */
export function mismatchOf(db: Db, attempt: AttemptRow, state: GatewayState, now: number): Mismatch | undefined {
  return mismatch(attempt, state) ?? otherDue(db, attempt, state, now)
}

/**
 * Less or more is due than was paid: the order that promised a credit was refunded, the change is over, or a gift card of an
 * order that was given up has paid another one.
 */
function otherDue(
  db: Db,
  { orderId, outcome, amountMinor, currency }: AttemptRow,
  { verdict }: GatewayState,
  now: number
): Mismatch | undefined {
  if (verdict !== 'paid' || outcome === 'paid') return undefined
  const order = getOrder(db, orderId)
  if (order.paidAt !== null) return undefined
  const due = dueMinor(db, order) - reclaimableMinor(db, orderId, now)
  if (due === amountMinor) return undefined
  const [paid, left] = [formatMoney(amountMinor, currency), formatMoney(due, currency)]
  return { kind: 'amount', reason: `its amount is ${paid}, and ${left} are due` }
}

/** What the operator can do about a payment that does not match. */
const advice: Readonly<Record<Mismatch['kind'], (orderId: number) => string[]>> = {
  amount: (id) => [
    `If it was paid, "shopstead orders paid ${id}" accepts this amount, and "shopstead orders refund ${id}" returns it.`
  ],
  currency: (id) => [`If it was paid, "shopstead orders refund ${id}" returns it.`],
  foreign: () => []
}

/** The same as applyGatewayState, in a transaction of its own. */
export function settleAttempt(shop: ShopContext, attemptId: number, state: GatewayState, by: string): Promise<Settled> {
  return runUnitOfWork(shop, by, (unit) => applyGatewayState(unit, attemptId, state))
}

/** Ends an attempt that is known to have failed, and fails its order unless a newer attempt is open. */
export function failAttempt(tx: Tx, attemptId: number, reason: string, now: number, by = 'checkout'): void {
  endAttempt(tx, getAttempt(tx, attemptId), { outcome: 'failed', to: 'failed', by, reason }, now)
}

function remember({ tx, now }: UnitOfWork, attempt: AttemptRow, state: GatewayState): void {
  const change = {
    gatewayStatus: state.status,
    objectId: attempt.objectId ?? state.objectId,
    paymentIntentId: state.paymentIntentId ?? attempt.paymentIntentId,
    url: state.url ?? attempt.url
  }
  const changed = keysOf(change).some((name) => attempt[name] !== change[name])
  if (changed) updateAttempt(tx, attempt.id, change, now)
}

function takePayment(unit: UnitOfWork, attempt: AttemptRow, state: GatewayState): void {
  const { tx, by, now } = unit
  updateAttempt(tx, attempt.id, { outcome: 'paid', settledAt: now }, now)
  const usedUp = checkEmail(unit, attempt, state.email)
  const order = getOrder(tx, attempt.orderId)
  if (order.paidAt !== null || order.status === 'refunded') {
    const surplus = state.paymentIntentId ?? state.objectId
    const advice = `refund ${surplus} in the gateway's dashboard, because \`orders refund\` would refund the first payment`
    const message = `Order ${order.id} was paid twice; the second payment is ${state.objectId}. To return it, ${advice}.`
    warn(unit, { orderId: order.id, kind: 'paid_twice', objectId: state.objectId, message })
    return
  }
  recordCard(tx, order.id, state.card)
  const late = order.status === 'cancelled'
  if (usedUp.length > 0) holdForCoupons(unit, order, state, usedUp)
  const paid = payOrder(tx, order.id, { by, reason: `paid: ${state.objectId}`, latePayment: late }, now)
  warnOfVatId(unit, paid)
  // The buyer had chosen a bank transfer, but then paid on the gateway's page.
  endTransfers(tx, order.id, 'abandoned', now)
  if (!isPaidStatus(paid.status) && usedUp.length === 0) {
    const message = `Order ${order.id} was paid after its stock or coupon was released. Complete it or refund it.`
    warn(unit, { orderId: order.id, kind: 'late_payment', objectId: state.objectId, message })
  }
  if (state.subscription === null) return
  const { id: gatewayId, periodEnd: currentPeriodEnd } = state.subscription
  linkSubscription(tx, { orderId: order.id, gatewayId, currentPeriodEnd }, now)
}

const nothing = (): void => undefined

/** Stores an email that only the payment contains; returns the codes that other orders with the order's email have used up. */
function checkEmail({ tx, now }: UnitOfWork, { orderId }: AttemptRow, paymentEmail: string | null): string[] {
  const { email } = paymentEmail === null ? getOrder(tx, orderId) : recordBuyerEmail(tx, orderId, paymentEmail, now)
  return email === null ? [] : couponsOverLimit(tx, orderId, email)
}

/** The buyer has paid the discounted price, so an operator decides: complete the order, or refund it. */
function holdForCoupons(
  unit: UnitOfWork,
  { id }: OrderRow,
  { objectId }: GatewayState,
  codes: readonly string[]
): void {
  const used = describeOverLimit(codes) ?? ''
  moveOrder(unit.tx, id, 'on-hold', { by: unit.by, reason: `paid: ${objectId}; ${used}`, latePayment: true }, unit.now)
  const message = `Order ${id} was paid at a discount, but ${used} as often as one customer may. Complete it or refund it.`
  warn(unit, { orderId: id, kind: 'coupon_limit', objectId, message })
}

/** A declined card fails the order; an expired payment page cancels it. */
const effects: Readonly<
  Record<GatewayState['verdict'], (unit: UnitOfWork, attempt: AttemptRow, state: GatewayState) => void>
> = {
  paid: takePayment,
  failed({ tx, by, now }, attempt, { status }) {
    failAttempt(tx, attempt.id, `the payment failed: ${status}`, now, by)
  },
  expired({ tx, by, now }, attempt) {
    endAttempt(tx, attempt, { outcome: 'expired', to: 'cancelled', by, reason: 'the payment page expired' }, now)
  },
  open: nothing,
  waiting({ tx, now }, attempt) {
    // The attempt as it was before: the buyer gets one email, however often the bank's delay is reported.
    if (!isAtTheBank(attempt)) mailWaitingForBank(tx, getOrder(tx, attempt.orderId), now)
  },
  action: nothing
}

type Ending = { outcome: 'failed' | 'expired'; to: 'failed' | 'cancelled'; by: string; reason: string }

/** An order with a newer attempt stays as it is. */
function endAttempt(tx: Tx, attempt: AttemptRow, { outcome, to, ...move }: Ending, now: number): void {
  if (attempt.outcome !== null) return
  updateAttempt(tx, attempt.id, { outcome, settledAt: now }, now)
  const { id, status } = getOrder(tx, attempt.orderId)
  const superseded = attemptsOf(tx, id)[0]?.id !== attempt.id
  if (status === 'pending' && !superseded) moveOrder(tx, id, to, move, now)
}
