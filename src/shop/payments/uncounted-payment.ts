import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { takePaidTotal } from '../orders/reprice-order.ts'
import { attemptsOf, updateAttempt } from './attempts.ts'
import { mismatch } from './gateway-state.ts'
import type { GatewayState, Mismatch } from './gateway-state.ts'
import { findGatewayOf, gatewayOf } from './gateway.ts'
import { lookUp } from './look-up.ts'
import type { AttemptRow } from './rows.ts'
import { applyGatewayState } from './settle.ts'
import { runUnitOfWork } from './unit-of-work.ts'
import { openWarnings, resolveWarning } from './warnings.ts'

/** A payment that arrived at the gateway and does not count for its order; `wrong` is undefined when it could count. */
export type UncountedPayment = { attempt: AttemptRow; state: GatewayState; wrong: Mismatch | undefined }

/** Attempts that an open warning says do not match their order. */
export function mismatchedAttempts(db: Db, orderId: number): AttemptRow[] {
  const warned = new Set(openWarnings(db).flatMap(({ kind, objectId }) => (kind === 'mismatch' ? [objectId] : [])))
  return attemptsOf(db, orderId).filter(
    ({ outcome, objectId }) => outcome !== 'paid' && objectId !== null && warned.has(objectId)
  )
}

/**
 * Asks the gateway for a payment of an unpaid order that arrived without counting for it, such as one of another amount.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when the gateway does not answer, or a warning is about a payment at a gateway
 *   that cannot be asked from here
 */
export async function findUncountedPayment(shop: ShopContext, orderId: number): Promise<UncountedPayment | undefined> {
  if (getOrder(shop.db, orderId).paidAt !== null) return undefined
  const mismatched = mismatchedAttempts(shop.db, orderId)
  for (const { gateway } of mismatched) gatewayOf(shop, { orderId, gateway })
  const isMismatched = ({ id }: AttemptRow): boolean => mismatched.some((attempt) => attempt.id === id)
  const attempts = attemptsOf(shop.db, orderId).filter((row) => row.outcome === null || isMismatched(row))
  for (const attempt of attempts) {
    const state = await ask(shop, attempt)
    if (state?.verdict === 'paid') return { attempt, state, wrong: mismatch(attempt, state) }
  }
  return undefined
}

/** The state of an attempt; undefined when nothing is known of it at a gateway that this shop uses. */
async function ask(shop: ShopContext, attempt: AttemptRow): Promise<GatewayState | undefined> {
  const gateway = findGatewayOf(shop, attempt)
  if (gateway === undefined) return undefined
  try {
    return await lookUp(await gateway.client(), attempt)
  } catch (error) {
    shop.log.warn('the gateway did not answer about a payment', {
      orderId: attempt.orderId,
      error: describeError(error)
    })
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      `The payment gateway does not answer, so it is not known whether order ${attempt.orderId} was paid there. Try again in a minute.`
    )
  }
}

/** What was paid and what the order comes to, for the operator. */
export function describePayment({ db }: Pick<ShopContext, 'db'>, { attempt, state }: UncountedPayment): string {
  const { id, totalMinor, currency } = getOrder(db, attempt.orderId)
  const paid = formatMoney(state.amountMinor, state.currency)
  return `The gateway has a payment of ${paid} for order ${id}, whose total is ${formatMoney(totalMinor, currency)}.`
}

/**
 * Records a payment that the gateway has as the payment of its order. One of another amount changes the total of the
 * order to what was really paid.
 *
 * @throws AppError CONFLICT for a payment in another currency and for a payment of another order; as applyGatewayState
 */
export async function acceptPayment(shop: ShopContext, payment: UncountedPayment, by: string): Promise<void> {
  const { attempt, state, wrong } = payment
  const { orderId } = attempt
  if (wrong !== undefined && wrong.kind !== 'amount')
    throw new AppError(
      'CONFLICT',
      `${state.objectId} cannot pay order ${orderId}: ${wrong.reason}. ${
        wrong.kind === 'currency'
          ? `Return it with "shopstead orders refund ${orderId}".`
          : "Look at it in the gateway's dashboard."
      }`
    )
  await runUnitOfWork(shop, by, (unit) => {
    const { tx, now } = unit
    const order = getOrder(tx, orderId)
    if (wrong !== undefined && order.paidAt === null) {
      takePaidTotal(tx, order, state.amountMinor, now)
      updateAttempt(tx, attempt.id, { amountMinor: state.amountMinor, outcome: null }, now)
      resolveWarning(unit, 'mismatch', state.objectId)
    }
    applyGatewayState(unit, attempt.id, state)
  })
}
