import { eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../errors.ts'
import type { Tx } from '../platform/db/database.ts'
import { writeWhenFree } from '../platform/db/busy.ts'
import { describeError } from '../platform/log.ts'
import { pageUrls } from '../shop/checkout/pay.ts'
import type { ShopContext } from '../shop/context.ts'
import { getOrder } from '../shop/orders/find.ts'
import { recordBuyerEmail } from '../shop/orders/record-buyer.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { orders } from '../shop/orders/schema.ts'
import type { Address } from '../shop/orders/schema.ts'
import { moveOrder } from '../shop/orders/transition.ts'
import { attemptsOf, createAttempt } from '../shop/payments/attempts.ts'
import { offerCheckoutPage, shortestPageMs } from '../shop/payments/gateway-page.ts'
import { isReady, readyGateway } from '../shop/payments/gateway.ts'
import { callOff } from '../shop/payments/look-up.ts'
import { settleAttempt } from '../shop/payments/settle.ts'
import type { AttemptRow } from '../shop/payments/rows.ts'
import { isPayable } from './order-page.ts'
import { openPageOf, standingOf } from './order-standing.ts'

export type PaymentMethod = 'card' | 'manual'

/** What the buyer filled in; what the order knows already is not asked and not taken. */
export type Choice = {
  method: PaymentMethod
  email: string | null
  firstName: string | null
  lastName: string | null
  /** Where to ship to, when it was asked. */
  address?: Address | undefined
}

/** The ways to pay that this shop offers on its own page. */
export function offeredMethods(shop: ShopContext): PaymentMethod[] {
  const card: PaymentMethod[] = isReady(shop.cards) ? ['card'] : []
  return shop.config.payments.includes('manual') ? [...card, 'manual'] : card
}

/**
 * Takes the buyer's choice. One transaction decides: of a double click one makes the attempt and the other finds it, and
 * an order that is paid, on hold or over stays as it is.
 *
 * @returns the gateway's page for the buyer to pay on; null when there is none to go to (any more)
 * @throws AppError VALIDATION_FAILED (`email`), TRANSITION_REFUSED when a failed order's stock has gone, CHECKOUT_FAILED
 */
export async function choosePayment(shop: ShopContext, orderId: number, choice: Choice): Promise<string | null> {
  const attempt = await writeWhenFree(shop.db, (tx) => decide(tx, shop, orderId, choice, shop.clock.now()))
  if (attempt === null) return null
  if (attempt.kind === 'checkout_session') return attempt.url ?? openPage(shop, attempt)
  await closeCardPages(shop, orderId)
  return null
}

function decide(tx: Tx, shop: ShopContext, orderId: number, choice: Choice, now: number): AttemptRow | null {
  const order = getOrder(tx, orderId)
  if (!isPayable(order, standingOf(tx, order, now))) return null
  recordBuyer(tx, order, choice, now)
  return choice.method === 'card' ? payByCard(tx, shop, order, now) : payByHand(tx, order, now)
}

function recordBuyer(tx: Tx, order: OrderRow, choice: Choice, now: number): void {
  if (order.email === null) {
    if (choice.email === null) throw validationFailed({ email: ['Please give an email address.'] })
    recordBuyerEmail(tx, order.id, choice.email, now)
  }
  const { firstName, lastName } = choice
  const given = { ...(firstName === null ? {} : { firstName }), ...(lastName === null ? {} : { lastName }) }
  const contact = { ...given, ...order.contact }
  const shippingAddress = choice.address === undefined ? order.shippingAddress : { ...given, ...choice.address }
  tx.orm.update(orders).set({ contact, shippingAddress, updatedAt: now }).where(eq(orders.id, order.id)).run()
}

function payByCard(tx: Tx, shop: ShopContext, order: OrderRow, now: number): AttemptRow {
  const { name, livemode } = readyGateway(shop)
  const open = openPageOf(tx, order.id)
  if (open?.gateway === name) return open
  const pending = moveOrder(tx, order.id, 'pending', { by: 'buyer', reason: 'pays again' }, now)
  // The hold lasts at least as long as the page, or it would end under the buyer's hands.
  const holdEndsAt = Math.max(pending.holdEndsAt ?? 0, now + shortestPageMs)
  tx.orm.update(orders).set({ holdEndsAt }).where(eq(orders.id, order.id)).run()
  return createAttempt(tx, { ...pending, holdEndsAt }, { gateway: name, kind: 'checkout_session', livemode }, now)
}

function payByHand(tx: Tx, order: OrderRow, now: number): AttemptRow {
  const attempt = createAttempt(tx, order, { gateway: 'manual', kind: 'manual', livemode: false }, now)
  moveOrder(tx, order.id, 'on-hold', { by: 'buyer', reason: 'pays by hand' }, now)
  return attempt
}

/** @throws AppError CHECKOUT_FAILED, in words for whoever looks at the page */
async function openPage(shop: ShopContext, attempt: AttemptRow): Promise<string> {
  try {
    return await offerCheckoutPage(shop, attempt, pageUrls(shop, getOrder(shop.db, attempt.orderId)))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CHECKOUT_FAILED') throw error
    const message = 'Card payments are not possible at the moment. Please try again in a moment, or pay another way.'
    throw new AppError('CHECKOUT_FAILED', message, {}, { status: error.status, cause: error })
  }
}

/** Whoever pays by hand must not be able to pay by card as well; what fails here is called off by the reconciler. */
async function closeCardPages(shop: ShopContext, orderId: number): Promise<void> {
  const open = attemptsOf(shop.db, orderId).filter((row) => row.outcome === null && row.kind === 'checkout_session')
  if (open.length === 0 || !isReady(shop.cards)) return
  for (const attempt of open) {
    try {
      const state = await callOff(await shop.cards.client(), attempt)
      if (state !== undefined) await settleAttempt(shop, attempt.id, state, 'checkout')
    } catch (error) {
      shop.log.warn('a payment page could not be closed', { orderId, error: describeError(error) })
    }
  }
}
