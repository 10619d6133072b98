import { AppError } from '../../errors.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { takesToken, defaultStrategy } from '../orders/strategies.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { inBuyersTurn, runCardCheckout, takeCheckoutPoint } from './checkout-limits.ts'
import { placeOrder } from './checkout.ts'
import type { CheckoutCaller, CheckoutInput, PlacedOrder } from './checkout.ts'
import { cartKeyOf, findContinued, releaseOldestOrders } from './earlier-orders.ts'
import { emailOf, saleOf } from './sale.ts'
import { payUrl, statusUrl } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import type { OrderStatus } from '../orders/states.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { offerCheckoutPage, pageUrls } from '../payments/gateway-page.ts'
import { payByToken } from '../payments/token-handoff.ts'
import type { CheckoutBody } from './input.ts'
import { countFailure } from '../limits/points.ts'
import type { Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { moveOrder } from '../orders/transition.ts'
import { attemptsOf, createAttempt, updateAttempt } from '../payments/attempts.ts'
import { checkoutFailed, readGatewayError } from '../payments/gateway.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { linkOrder } from './idempotency.ts'
import type { Claim } from './idempotency.ts'

/**
 * Places an order and starts its payment. An order that an earlier request under the same idempotency key left unpaid
 * (`resumes`), or that the same buyer placed for the same cart, is paid instead of a new one, unless it can no longer be
 * paid. The buyer's oldest unpaid orders beyond the limit are cancelled.
 *
 * @throws AppError as `placeOrder`, `payPlaced` and `payAgain`
 */
export function createSession(
  shop: ShopContext,
  input: CheckoutInput,
  caller: CheckoutCaller & { resumes: number | undefined },
  now: number
): Promise<Resumed> {
  const { body } = input
  const { buyer } = caller.holder
  const checkOut = async (): Promise<Resumed> => {
    const earlier = caller.resumes ?? findSameSale(shop, input, caller, now)
    const resumed = earlier === undefined ? undefined : await payAgain(shop, earlier, body, caller)
    if (resumed !== undefined) return resumed
    const placed = await placeOrder(shop, input, caller, now)
    const result = await payPlaced(shop, placed, body, caller)
    await releaseOldestOrders(shop, buyer)
    return { order: placed.order, result }
  }
  return runCardCheckout(shop, caller.addressKey, body.strategy, () => inBuyersTurn(buyer, checkOut))
}

/**
 * The buyer's unpaid order for the same cart; undefined if a new one is needed. A payment by token has no page that shows
 * the total, so it continues an order only if the cart still costs the same.
 */
function findSameSale(
  shop: ShopContext,
  input: CheckoutInput,
  { user, holder }: CheckoutCaller,
  now: number
): number | undefined {
  const found = findContinued(shop.db, holder, cartKeyOf(shop, input), now)
  if (found === undefined) return undefined
  const { strategy, totalMinor, currency } = getOrder(shop.db, found)
  if (!takesToken(strategy)) return found
  const buyer = { userId: user?.id ?? null, email: emailOf(input.body, user), holder }
  const sale = saleOf(shop.db, input.body, buyer, now)
  return sale.totals.totalMinor === totalMinor && sale.currency === currency ? found : undefined
}

/**
 * Checks that the shop sells at the moment, and to this client.
 *
 * @throws AppError CHECKOUT_DISABLED, NOT_AUTHENTICATED for a guest when only customers may buy
 */
export function assertCheckoutOpen({ db }: Pick<ShopContext, 'db'>, user: UserRow | null): void {
  if (!setting(db, 'checkout.enabled') || !isModuleOn(db, 'commerce')) {
    throw new AppError('CHECKOUT_DISABLED', 'Nothing can be bought at the moment.')
  }
  if (user === null && !setting(db, 'checkout.guest')) {
    throw new AppError('NOT_AUTHENTICATED', 'Please log in before you buy.')
  }
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
  // The page of a payment that the bank is deciding about is over.
  const isStarted = order.paidAt !== null || (attempt !== null && isAtTheBank(attempt))
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
    return { ...common, paymentStatus: attempt?.gatewayStatus ?? 'not_required', status: order.status }
  }
  const { paymentToken } = body
  if (paymentToken === undefined || order.returnUrl === null)
    throw new Error('token_handoff requires paymentToken and returnUrl')
  // The bank sends the buyer to the shop first, which asks the gateway for the result before it redirects to the site.
  const { successUrl: returnUrl } = pageUrls(shop, order)
  try {
    const state = await payByToken(shop, attempt, { paymentToken, returnUrl })
    const { status } = getOrder(shop.db, order.id)
    return {
      ...common,
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

function modeOf(shop: ShopContext): 'test' | 'live' {
  return shop.cards?.livemode === true ? 'live' : 'test'
}

/** A second payment starts only if the first one failed within this time, so that the checkout still ends in time. */
const secondTryWithinMs = 5_000

export type Resumed = { order: OrderRow; result: RedirectResult | HandoffResult }

/**
 * Pays the order of an earlier request: under the same key, if that did not finish (its process died, or the gateway's
 * answer was lost), or for the same cart. An open attempt continues under its own keys, so that nothing is charged twice.
 * After a failed attempt, the order gets a new one.
 *
 * @returns undefined when that order can no longer be paid and nothing was charged; the caller may create a new order
 * @throws AppError RATE_LIMITED, CHECKOUT_FAILED
 */
export async function payAgain(
  shop: ShopContext,
  orderId: number,
  body: CheckoutBody,
  caller: CheckoutCaller
): Promise<Resumed | undefined> {
  await takeCheckoutPoint(shop, caller.addressKey, body.strategy ?? defaultStrategy)
  const claim = (await caller.takeKey?.()) ?? null
  const started = performance.now()
  const found = await findUnpaid(shop, orderId, claim)
  if (found === undefined) return undefined
  try {
    return { order: found.order, result: await payPlaced(shop, found, body, caller) }
  } catch (error) {
    // The reconciler may have called off the same payment in the meantime. After a 502 nothing was charged.
    const mayRetry = error instanceof AppError && error.status === 502
    if (!mayRetry || performance.now() - started > secondTryWithinMs) throw error
    const reopened = await findUnpaid(shop, orderId, claim)
    if (reopened === undefined || reopened.attempt?.id === found.attempt?.id) throw error
    return { order: reopened.order, result: await payPlaced(shop, reopened, body, caller) }
  }
}

/** The order and the attempt that pays it now. The key of the request leads to the order from now on. */
function findUnpaid(shop: ShopContext, orderId: number, claim: Claim | null): Promise<PlacedOrder | undefined> {
  const now = shop.clock.now()
  return writeWhenFree(shop.db, (tx): PlacedOrder | undefined => {
    if (claim !== null) linkOrder(tx, claim, orderId)
    const order = getOrder(tx, orderId)
    const [newest] = attemptsOf(tx, orderId)
    if (newest === undefined || newest.kind === 'none') {
      const isGivenUp = order.status === 'cancelled' && order.paidAt === null
      return isGivenUp ? undefined : { order, attempt: null }
    }
    if (order.paidAt !== null || newest.outcome === 'paid') return { order, attempt: newest }
    if (newest.outcome !== null) return order.status === 'failed' ? attemptAnew(tx, order, newest, now) : undefined
    // The order was cancelled while the outcome of its payment was unknown. The reconciler finds it out.
    if (order.status !== 'pending') throw stillUnknown()
    // The new time of change keeps the reconciler from working on the attempt at the same time.
    updateAttempt(tx, newest.id, {}, now)
    return { order, attempt: newest }
  })
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

function stillUnknown(): AppError {
  return checkoutFailed(readGatewayError(undefined), 'confirm_intent')
}
