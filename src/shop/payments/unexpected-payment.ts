import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { dueMinor, takeCredits } from '../orders/refunds/credits.ts'
import { getOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { takePaidTotal } from '../orders/reprice-order.ts'
import { createAttempt, findAttemptByToken, updateAttempt, attemptsOf } from './attempts.ts'
import { readGatewayError, readyGateway, findGatewayOf, gatewayOf } from './gateway.ts'
import { stateOfIntent, ownership, unlessMissing, lookUp } from './gateway-state.ts'
import type { GatewayState, Mismatch } from './gateway-state.ts'
import { applyGatewayState, mismatchOf } from './settle.ts'
import { runUnitOfWork, resolveWarning, warn, openWarnings } from './warnings.ts'
import type { UnitOfWork } from './warnings.ts'
import type { Db } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { AttemptRow } from './rows.ts'

/** A payment that this shop started for an order that its database lost in a restore. */
export type LostPayment = { state: GatewayState; token: string }

/** Warns of a payment whose order was lost: the buyer was charged, and only the operator knows what for. */
export function warnOfLostOrder(unit: UnitOfWork, objectId: string, orderId: string): void {
  const advice = objectId.startsWith('pi_')
    ? `Enter the order again ("shopstead orders create") and run "shopstead orders paid ID --payment ${objectId}" with its number, or return the money with "shopstead orders refund --payment ${objectId}".`
    : "Refund the payment in Stripe's dashboard, or record the order again."
  const message = `${objectId} was paid for an order ${orderId} of this shop that is not in its database: an earlier state of it was restored. Another order may have that number now. ${advice}`
  warn(unit, { orderId: null, kind: 'foreign_object', objectId, message })
}

/**
 * The payment of a lost order, from the gateway.
 *
 * @param intentId the PaymentIntent that a warning names
 * @throws AppError NOT_FOUND when the gateway does not know it; CONFLICT when it is not paid, when the shop knows the order
 *   that it pays, or when it is not a payment of this shop
 */
export async function getLostPayment(shop: ShopContext, intentId: string): Promise<LostPayment> {
  const stripe = await readyGateway(shop).client()
  const expand = ['payment_method']
  const intent = await ask(intentId, unlessMissing(stripe.paymentIntents.retrieve(intentId, { expand })))
  if (intent === undefined) throw new AppError('NOT_FOUND', `The gateway does not know the payment ${intentId}.`)
  const owner = ownership(shop, intent.metadata)
  if (owner === null) throw new AppError('CONFLICT', `${intentId} is not a payment of this shop.`)
  const known = findAttemptByToken(shop.db, owner.token)
  if (known !== undefined) throw new AppError('CONFLICT', `${intentId} is the payment of order ${known.orderId}.`)
  const state = stateOfIntent(intent)
  if (state.verdict !== 'paid') throw new AppError('CONFLICT', `${intentId} is not paid (${state.status}).`)
  return { state, token: owner.token }
}

/** What was paid and what the order costs, for the operator. */
export function describeLostPayment({ db }: ShopContext, orderId: number, { state }: LostPayment): string {
  const order = getOrder(db, orderId)
  const paid = formatMoney(state.amountMinor, state.currency)
  return `${state.objectId} paid ${paid}. The total of order ${orderId} is ${totalText(db, order)}.`
}

/** The total of an order, and what is due of it if another order pays a part. */
function totalText(db: Db, order: OrderRow): string {
  const { totalMinor, currency } = order
  const due = dueMinor(db, order)
  const total = formatMoney(totalMinor, currency)
  return due === totalMinor ? total : `${total}, of which ${formatMoney(due, currency)} is due`
}

/**
 * Records the payment of a lost order as the payment of an unpaid order, whose total becomes what was paid.
 *
 * @throws AppError CONFLICT for an order that is paid, and for another currency; as applyGatewayState
 */
export async function adoptPayment(
  shop: ShopContext,
  orderId: number,
  { state, token }: LostPayment,
  by: string
): Promise<void> {
  const { name, livemode } = readyGateway(shop)
  await runUnitOfWork(shop, by, (unit) => {
    const { tx, now } = unit
    const order = getOrder(tx, orderId)
    if (order.paidAt !== null) throw new AppError('CONFLICT', `Order ${orderId} is paid already.`)
    if (order.currency !== state.currency)
      throw new AppError(
        'CONFLICT',
        `${state.objectId} is in ${state.currency}, and order ${orderId} in ${order.currency}.`
      )
    const paidMinor = takeCredits(tx, orderId, now) + state.amountMinor
    const priced = order.totalMinor === paidMinor ? order : takePaidTotal(tx, order, paidMinor, now)
    const { id } = createAttempt(tx, priced, { gateway: name, kind: 'payment_intent', livemode }, now)
    // Refunds and disputes of the payment find the order by this token.
    updateAttempt(tx, id, { token, objectId: state.objectId }, now)
    applyGatewayState(unit, id, state)
    resolveWarning(unit, 'foreign_object', state.objectId)
  })
}

/**
 * Returns the payment of a lost order to its buyer, as a whole. Repeated, it is the same refund.
 *
 * @throws AppError CONFLICT when the gateway refuses; DEPENDENCY_UNAVAILABLE when it does not answer
 */
export async function refundLostPayment(shop: ShopContext, { state }: LostPayment, by: string): Promise<void> {
  const { objectId } = state
  const stripe: Stripe = await readyGateway(shop).client()
  const idempotencyKey = `refund-lost-${objectId}`
  await ask(objectId, stripe.refunds.create({ payment_intent: objectId }, { idempotencyKey }))
  await runUnitOfWork(shop, by, (unit) => resolveWarning(unit, 'foreign_object', objectId))
}

async function ask<T>(objectId: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    const { kind, temporary, error } = readGatewayError(cause)
    if (kind === 'unknown' || temporary)
      throw new AppError('DEPENDENCY_UNAVAILABLE', 'The gateway does not answer. Try again in a minute.', {}, { cause })
    const why = error.message || error.type
    throw new AppError('CONFLICT', `The gateway refused the request about ${objectId}: ${why}`, {}, { cause })
  }
}

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
    const state = await readState(shop, attempt)
    if (state?.verdict === 'paid')
      return { attempt, state, wrong: mismatchOf(shop.db, attempt, state, shop.clock.now()) }
  }
  return undefined
}

/** The state of an attempt; undefined when nothing is known of it at a gateway that this shop uses. */
async function readState(shop: ShopContext, attempt: AttemptRow): Promise<GatewayState | undefined> {
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
  const order = getOrder(db, attempt.orderId)
  const { id } = order
  const paid = formatMoney(state.amountMinor, state.currency)
  return `The gateway has a payment of ${paid} for order ${id}, whose total is ${totalText(db, order)}.`
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
      takePaidTotal(tx, order, takeCredits(tx, orderId, now) + state.amountMinor, now)
      updateAttempt(tx, attempt.id, { amountMinor: state.amountMinor, outcome: null }, now)
      resolveWarning(unit, 'mismatch', state.objectId)
    }
    applyGatewayState(unit, attempt.id, state)
  })
}
