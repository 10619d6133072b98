import { AppError } from '../../errors.ts'
import type { ShopContext } from '../context.ts'
import { getOrder } from '../orders/find.ts'
import { payUrl, statusUrl } from '../orders/view.ts'
import type { OrderRow } from '../orders/find.ts'
import type { OrderStatus } from '../orders/states.ts'
import { isAtTheBank } from '../payments/gateway-state.ts'
import { offerCheckoutPage } from '../payments/gateway-page.ts'
import { pageUrls } from '../payments/page-urls.ts'
import { payByToken } from '../payments/token-handoff.ts'
import type { CheckoutCaller, PlacedOrder } from './checkout.ts'
import type { CheckoutBody } from './input.ts'
import { countFailure } from '../limits/points.ts'
import { takesToken } from '../orders/strategies.ts'

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
