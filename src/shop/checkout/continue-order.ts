import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { getOrder, wasReplaced } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { defaultStrategy, takesToken } from '../orders/strategies.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, createAttempt, updateAttempt } from '../payments/attempts.ts'
import { checkoutFailed, readGatewayError } from '../payments/gateway.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { findContinuedOrder } from '../orders/holds.ts'
import { buyerOf, saleOf } from './cart.ts'
import type { CartCaller } from './cart.ts'
import { linkOrder } from './idempotency.ts'
import type { Claim } from './idempotency.ts'
import type { CheckoutBody, CheckoutQuery } from './input.ts'
import { takeCheckoutPoint } from './limits.ts'
import { hmac } from '../../platform/crypto/secrets.ts'
import { payUrl, statusUrl } from '../orders/view.ts'
import type { OrderStatus } from '../orders/states.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { offerCheckoutPage } from '../payments/gateway-page.ts'
import { payByToken } from '../payments/token-handoff.ts'
import { countFailure } from '../limits/points.ts'

/** A second payment starts only if the first one failed within this time, so that the checkout still ends in time. */
const secondTryWithinMs = 5_000

/** An order and what its buyer gets to pay it. */
export type StartedPayment = {
  order: OrderRow
  result: RedirectResult | HandoffResult
  /** Whether another request made it, and this one waited for it. */
  isShared?: boolean
}

/**
 * The unpaid order that this buyer continues instead of placing a new one: that of an earlier request under the same
 * Idempotency-Key, else the one for the same cart. A payment by token has no page that shows the total, so it continues an
 * order only if the cart still costs the same.
 */
export function continuedOrder(
  shop: ShopContext,
  input: CheckoutInput,
  caller: ContinuingCaller,
  now: number
): number | undefined {
  const { continues } = caller
  const found = continues ?? findContinuedOrder(shop.db, caller.holder, cartKeyOf(shop, input), now)
  if (found === undefined || continues !== undefined) return found
  const { strategy, totalMinor, currency } = getOrder(shop.db, found)
  if (!takesToken(strategy)) return found
  const sale = saleOf(shop.db, input.body, buyerOf(shop, input.body, caller, now), now)
  return sale.totals.totalMinor === totalMinor && sale.currency === currency ? found : undefined
}

/**
 * Pays the order of an earlier request: under the same key, if that did not finish (its process died, or the gateway's
 * answer was lost), or for the same cart. An open attempt continues under its own keys, so that nothing is charged twice.
 * After a failed attempt, the order gets a new one.
 *
 * @returns undefined when that order can no longer be paid and nothing was charged; the caller may create a new order
 * @throws AppError RATE_LIMITED, CHECKOUT_FAILED
 */
export async function continueOrder(
  shop: ShopContext,
  orderId: number,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<StartedPayment | undefined> {
  await takeCheckoutPoint(shop, caller.addressKey, body.strategy ?? defaultStrategy)
  const claim = (await caller.takeKey?.()) ?? null
  const started = performance.now()
  const found = await findContinuation(shop, orderId, claim)
  if (found === undefined) return undefined
  try {
    return { order: found.order, result: await payPlaced(shop, found, body, caller) }
  } catch (error) {
    // The reconciler may have called off the same payment in the meantime. After a 502 nothing was charged.
    const mayRetry = error instanceof AppError && error.status === 502
    if (!mayRetry || performance.now() - started > secondTryWithinMs) throw error
    const reopened = await findContinuation(shop, orderId, claim)
    if (reopened === undefined || reopened.attempt?.id === found.attempt?.id) throw error
    return { order: reopened.order, result: await payPlaced(shop, reopened, body, caller) }
  }
}

/** The order and the attempt that pays it now. The key of the request leads to the order from now on. */
function findContinuation(shop: ShopContext, orderId: number, claim: Claim | null): Promise<PlacedOrder | undefined> {
  const now = shop.clock.now()
  return writeWhenFree(shop.db, (tx): PlacedOrder | undefined => {
    if (claim !== null) linkOrder(tx, claim, orderId)
    const order = getOrder(tx, orderId)
    const newest = attemptsOf(tx, orderId)[0]
    // Its buyer went on with a newer order, which a late repeat must not replace.
    if (wasReplaced(tx, order)) return { order, attempt: newest ?? null }
    const { how, attempt } = continuationOf(order, newest)
    if (how === 'over') return undefined
    if (how === 'unknown') throw checkoutFailed(readGatewayError(undefined), 'confirm_intent')
    if (how === 'new_attempt') return attemptAnew(tx, order, attempt, now)
    // The new time of change keeps the reconciler from working on the attempt at the same time.
    if (how === 'same_attempt') updateAttempt(tx, attempt.id, {}, now)
    return { order, attempt }
  })
}

type Continuation =
  /** It can no longer be paid, and nothing was charged. */
  | { how: 'over'; attempt: null }
  /** It was cancelled while the outcome of its payment was unknown. The reconciler finds it out. */
  | { how: 'unknown'; attempt: null }
  /** Its buyer chooses on the shop's page how to pay, or it costs nothing. */
  | { how: 'without_attempt'; attempt: null }
  /** `same_attempt`: the payment is open and goes on under its own keys. `new_attempt`: it failed. */
  | { how: 'paid' | 'same_attempt' | 'new_attempt'; attempt: AttemptRow }

/** How an order continues that is asked for again, by its state and its newest attempt. */
function continuationOf({ status, paidAt }: OrderRow, newest: AttemptRow | undefined): Continuation {
  if (newest === undefined || newest.kind === 'none')
    return { how: status === 'cancelled' && paidAt === null ? 'over' : 'without_attempt', attempt: null }
  if (paidAt !== null || newest.outcome === 'paid') return { how: 'paid', attempt: newest }
  if (newest.outcome !== null)
    return status === 'failed' ? { how: 'new_attempt', attempt: newest } : { how: 'over', attempt: null }
  return status === 'pending' ? { how: 'same_attempt', attempt: newest } : { how: 'unknown', attempt: null }
}

function attemptAnew(tx: Tx, order: OrderRow, last: AttemptRow, now: number): PlacedOrder | undefined {
  try {
    const reopened = moveOrder(tx, order.id, 'pending', { by: 'checkout', reason: 'the checkout was repeated' }, now)
    return { order: reopened, attempt: createAttempt(tx, reopened, last, now) }
  } catch (error) {
    // Its stock or coupon is no longer available. The validation of a new order reports which.
    if (error instanceof AppError && error.code === 'TRANSITION_REFUSED') return undefined
    throw error
  }
}

const secretFields: ReadonlySet<string> = new Set(['paymentToken', 'password'])

/**
 * Identifies what a checkout asks for, except its payment token: the same buyer who sends it again continues the same
 * unpaid order. It is a keyed hash, because a body contains addresses, which could be guessed from a plain one.
 */
export function cartKeyOf(
  { keys }: Pick<ShopContext, 'keys'>,
  { body, query }: { body: CheckoutBody; query: CheckoutQuery }
): string {
  const byItem = (item: CheckoutBody['items'][number]): string => `${item.productId}/${item.variationId ?? ''}`
  const items = body.items.toSorted((a, b) => byItem(a).localeCompare(byItem(b)))
  const text = JSON.stringify({ ...body, items, query }, (name, value: unknown) =>
    secretFields.has(name) ? undefined : value
  )
  return hmac(keys.nonce, `cart\0${text}`).toString('hex').slice(0, 32)
}

/** The parsed body and query of a checkout request. */
export type CheckoutInput = { body: CheckoutBody; query: CheckoutQuery }

/** The client of a checkout. */
export type CheckoutCaller = CartCaller & {
  addressKey: string
  /** The country of the client, as a trusted proxy named it; null if it is not known. */
  ipCountry?: string | null
  /** Stores the Idempotency-Key of the request, after every check that precedes the sale; null without a key. */
  takeKey: (() => Promise<Claim>) | null
}

/** A committed order and its payment attempt. The gateway does not know about it yet. */
export type PlacedOrder = { order: OrderRow; attempt: AttemptRow | null }

/** With the order that an earlier request under the same Idempotency-Key left unpaid. */
export type ContinuingCaller = CheckoutCaller & {
  continues: number | undefined
  /** The buyer, or the client address of a guest who has no checkout cookie yet: two clicks of a new guest have no cookie. */
  browser: string
}

/** The token of the order and the address of its page, for a buyer without an account. */
type OrderLink = { orderToken: string; statusUrl: string }
export type RedirectResult = { checkoutUrl: string; orderId: string } & OrderLink
export type HandoffResult = OrderLink & {
  orderId: number
  mode: 'test' | 'live'
  strategy: 'token_handoff'
  provider: 'stripe'
  paymentStatus: string
  status: OrderStatus
  paymentId?: string
  redirectUrl?: string
}

/**
 * Starts the payment of a placed order. A repeated call for the same order (the same key after a crash or a 504) asks the
 * gateway under the same keys, so nothing is charged twice.
 *
 * @throws AppError CHECKOUT_FAILED 402, 502 or 504
 */
export function payPlaced(
  shop: ShopContext,
  placed: PlacedOrder,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<RedirectResult | HandoffResult> {
  return takesToken(placed.order.strategy) ? handOff(shop, placed, body, caller) : redirect(shop, placed)
}

async function redirect(shop: ShopContext, { order, attempt }: PlacedOrder): Promise<RedirectResult> {
  const link = linkOf(shop, order)
  const common = { orderId: String(order.id), ...link }
  // The page of a payment that the bank is deciding about is over, and so is that of a replaced order.
  const isStarted = order.paidAt !== null || wasReplaced(shop.db, order) || (attempt !== null && isAtTheBank(attempt))
  if (isStarted) return { checkoutUrl: link.statusUrl, ...common }
  if (attempt === null) return { checkoutUrl: payUrl(shop, order), ...common }
  return { checkoutUrl: attempt.url ?? (await offerCheckoutPage(shop, attempt)), ...common }
}

function linkOf(shop: ShopContext, order: OrderRow): OrderLink {
  return { orderToken: order.publicToken, statusUrl: statusUrl(shop, order) }
}

async function handOff(
  shop: ShopContext,
  { order, attempt }: PlacedOrder,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<HandoffResult> {
  const handoff = { mode: modeOf(shop), strategy: 'token_handoff', provider: 'stripe' } as const
  const common = { orderId: order.id, ...linkOf(shop, order), ...handoff }
  if (attempt === null || order.paidAt !== null || attempt.outcome === 'paid') {
    const paymentStatus = attempt?.gatewayStatus ?? 'not_required'
    return { ...common, ...paymentIdOf(attempt?.objectId), paymentStatus, status: order.status }
  }
  if (wasReplaced(shop.db, order)) {
    const paymentStatus = attempt.gatewayStatus ?? 'canceled'
    return { ...common, ...paymentIdOf(attempt.objectId), paymentStatus, status: order.status }
  }
  const { paymentToken, returnUrl } = body
  if (paymentToken === undefined || returnUrl === undefined)
    throw new Error('token_handoff requires paymentToken and returnUrl')
  try {
    const state = await payByToken(shop, attempt, { paymentToken, returnUrl })
    const { status } = getOrder(shop.db, order.id)
    return {
      ...common,
      ...paymentIdOf(state.objectId),
      paymentStatus: state.status,
      status,
      ...(state.redirectUrl === null ? {} : { redirectUrl: state.redirectUrl })
    }
  } catch (error) {
    if (error instanceof AppError && error.status === 402) {
      await countFailure(shop, { bucket: 'checkout_decline', key: caller.addressKey })
    }
    throw error
  }
}

function paymentIdOf(id: string | null | undefined): { paymentId?: string } {
  return typeof id === 'string' ? { paymentId: id } : {}
}

function modeOf(shop: ShopContext): 'test' | 'live' {
  return shop.cards?.livemode === true ? 'live' : 'test'
}
