import { isTooSmallForCard } from './below-minimum.ts'
import { AppError, validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Tx } from '../../platform/db/database.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import type { Address } from '../orders/address.ts'
import { extendHold } from '../orders/expire-holds.ts'
import { getOrder } from '../orders/find.ts'
import { forgetBuyerEmail, recordBuyerEmail, recordContact } from '../orders/record-buyer.ts'
import type { OrderRow } from '../orders/rows.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, createAttempt } from '../payments/attempts.ts'
import { offerCheckoutPage, shortestPageMs } from '../payments/gateway-page.ts'
import { isReady, readyGateway } from '../payments/gateway.ts'
import { callOff } from '../payments/look-up.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { settleAttempt } from '../payments/settle.ts'
import { buyerStatusOf, isPayable, openPageOf } from './buyer-status.ts'

type Method = {
  isOffered: (shop: ShopContext, order: OrderRow) => boolean
  start: (tx: Tx, shop: ShopContext, order: OrderRow, now: number) => AttemptRow
}

/** What the hosted page can offer; cards have a minimum charge. */
const paymentMethods = {
  card: {
    isOffered: (shop, order) => isReady(shop.cards) && !isTooSmallForCard(shop, order),
    start: payByCard
  },
  manual: { isOffered: ({ config }) => config.payments.includes('manual'), start: payByHand }
} as const satisfies Record<string, Method>

export type PaymentMethod = keyof typeof paymentMethods

/** What the buyer filled in on the hosted page. The order keeps what it already has. */
export type PaymentChoice = {
  method: PaymentMethod
  email: string | null
  firstName: string | null
  lastName: string | null
  /** Where to ship to, if the form asked for it. */
  address?: Address | undefined
}

/** The payment methods that the hosted page offers for an order. */
export function offeredMethods(shop: ShopContext, order: OrderRow): PaymentMethod[] {
  const names = Object.keys(paymentMethods) as PaymentMethod[]
  return names.filter((name) => paymentMethods[name].isOffered(shop, order))
}

/**
 * Starts the payment that the buyer chose on the hosted page. One transaction decides: of a double click, the first
 * creates the attempt and the second finds it. An order that is paid, on hold or over stays as it is.
 *
 * @returns the gateway's page to pay on; null if the buyer has nothing to pay there
 * @throws AppError VALIDATION_FAILED (`email`), TRANSITION_REFUSED when a failed order's stock is no longer available, CHECKOUT_FAILED
 */
export async function choosePayment(shop: ShopContext, orderId: number, choice: PaymentChoice): Promise<string | null> {
  const attempt = await writeWhenFree(shop.db, (tx) => decide(tx, shop, orderId, choice, shop.clock.now()))
  if (attempt === null) return null
  if (attempt.kind === 'checkout_session') return attempt.url ?? openPage(shop, attempt)
  await closeCardPages(shop, orderId)
  return null
}

function decide(tx: Tx, shop: ShopContext, orderId: number, choice: PaymentChoice, now: number): AttemptRow | null {
  const order = getOrder(tx, orderId)
  if (!isPayable(order, buyerStatusOf(tx, order, now))) return null
  recordBuyer(tx, order, choice, now)
  return paymentMethods[choice.method].start(tx, shop, order, now)
}

function recordBuyer(tx: Tx, order: OrderRow, choice: PaymentChoice, now: number): void {
  if (order.email === null) {
    if (choice.email === null) throw validationFailed({ email: ['Please enter an email address.'] })
    recordBuyerEmail(tx, order.id, choice.email, now)
  }
  const { firstName, lastName } = choice
  const buyerName = { ...(firstName === null ? {} : { firstName }), ...(lastName === null ? {} : { lastName }) }
  const contact = { ...buyerName, ...order.contact }
  const shippingAddress = choice.address === undefined ? order.shippingAddress : { ...buyerName, ...choice.address }
  recordContact(tx, order.id, { contact, shippingAddress }, now)
}

function payByCard(tx: Tx, shop: ShopContext, order: OrderRow, now: number): AttemptRow {
  const { name, livemode } = readyGateway(shop)
  const open = openPageOf(tx, order.id)
  if (open?.gateway === name) return open
  const pending = moveOrder(tx, order.id, 'pending', { by: 'buyer', reason: 'pays again' }, now)
  // The hold lasts at least as long as the page, so that it does not end while the buyer pays.
  const held = extendHold(tx, pending, now + shortestPageMs)
  return createAttempt(tx, held, { gateway: name, kind: 'checkout_session', livemode }, now)
}

function payByHand(tx: Tx, _shop: ShopContext, order: OrderRow, now: number): AttemptRow {
  const attempt = createAttempt(tx, order, { gateway: 'manual', kind: 'manual', livemode: false }, now)
  moveOrder(tx, order.id, 'on-hold', { by: 'buyer', reason: 'pays by hand' }, now)
  return attempt
}

/** @throws AppError CHECKOUT_FAILED with a message for the buyer, VALIDATION_FAILED (`email`) */
async function openPage(shop: ShopContext, attempt: AttemptRow): Promise<string> {
  try {
    return await offerCheckoutPage(shop, attempt)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'VALIDATION_FAILED') throw await askForAnotherEmail(shop, attempt.orderId)
    if (error.code !== 'CHECKOUT_FAILED') throw error
    const message =
      'Card payments are not available at the moment. Please try again in a minute, or choose another payment method.'
    throw new AppError('CHECKOUT_FAILED', message, {}, { status: error.status, cause: error })
  }
}

/** The gateway rejects the email. The page asks a guest for another one. */
async function askForAnotherEmail(shop: ShopContext, orderId: number): Promise<AppError> {
  if (getOrder(shop.db, orderId).userId !== null) {
    const message =
      'The email address of your account cannot be used for card payments. Please change it in your account, or choose another payment method.'
    return new AppError('CHECKOUT_FAILED', message, {}, { status: 422 })
  }
  await writeWhenFree(shop.db, (tx) => forgetBuyerEmail(tx, orderId, shop.clock.now()))
  return validationFailed({ email: ['Cannot be used for card payments. Please enter another address.'] })
}

/** Closes the order's card pages, so that it cannot be paid twice. If that fails, the reconciler closes them. */
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
