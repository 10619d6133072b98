import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/rows.ts'
import { startDeadline } from './deadline.ts'
import type { Deadline } from './deadline.ts'
import { readyGateway } from './gateway.ts'
import { stateOfSession } from './gateway-state.ts'
import type { AttemptRow } from './rows.ts'
import { settleAttempt } from './settle.ts'

/** Stripe takes 30 minutes to 24 hours; a minute more keeps a hold of exactly 30 above the floor when the call is slow. */
const shortestPageMs = 31 * 60_000
const longestPageMs = 24 * 60 * 60_000 - 60_000

/** Where the gateway's page sends the buyer; both are GETs and prove nothing. */
export type PageUrls = { successUrl: string; cancelUrl: string }

/**
 * Opens the gateway's own payment page for an attempt and remembers it. Calling it again for the same attempt asks with
 * the same key and so finds the same page.
 *
 * @throws whatever stripe-node or the deadline throws; see readGatewayError
 */
export async function openCheckoutPage(
  shop: ShopContext,
  attempt: AttemptRow,
  urls: PageUrls,
  deadline: Deadline = startDeadline()
): Promise<AttemptRow> {
  const stripe = await readyGateway(shop).client()
  const order = getOrder(shop.db, attempt.orderId)
  const discounts = await adHocCoupon(stripe, order, attempt, deadline)
  const session = await deadline.call(({ timeout }) =>
    stripe.checkout.sessions.create(
      {
        mode: 'payment',
        line_items: lineItems(shop, order),
        ...(discounts === undefined ? {} : { discounts }),
        ...(order.email === null ? {} : { customer_email: order.email }),
        client_reference_id: String(order.id),
        metadata: metadataOf(attempt),
        payment_intent_data: { metadata: metadataOf(attempt), description: `Order ${order.id}` },
        expires_at: Math.floor(pageEnd(order) / 1000),
        success_url: urls.successUrl,
        cancel_url: urls.cancelUrl
      },
      { idempotencyKey: attempt.createKey, timeout }
    )
  )
  return settleAttempt(shop, attempt.id, stateOfSession(session), 'checkout').attempt
}

export function metadataOf(attempt: AttemptRow): { order_id: string; attempt: string } {
  return { order_id: String(attempt.orderId), attempt: attempt.token }
}

/** In step with the hold, within what Stripe takes. Counted from the order, so that a repeat asks for the same. */
function pageEnd(order: OrderRow): number {
  const wanted = order.holdEndsAt ?? order.createdAt + shortestPageMs
  return Math.min(Math.max(wanted, order.createdAt + shortestPageMs), order.createdAt + longestPageMs)
}

function lineItems(shop: ShopContext, order: OrderRow): Stripe.Checkout.SessionCreateParams.LineItem[] {
  return itemsOf(shop.db, order.id).map((item) => ({
    quantity: item.quantity,
    price_data: {
      currency: order.currency.toLowerCase(),
      unit_amount: item.unitPriceMinor,
      product_data: { name: item.name }
    }
  }))
}

/** The order's whole discount as one coupon that can be used once. */
async function adHocCoupon(
  stripe: Stripe,
  order: OrderRow,
  attempt: AttemptRow,
  deadline: Deadline
): Promise<{ coupon: string }[] | undefined> {
  if (order.discountMinor === 0) return undefined
  const coupon = await deadline.call(({ timeout }) =>
    stripe.coupons.create(
      {
        amount_off: order.discountMinor,
        currency: order.currency.toLowerCase(),
        duration: 'once',
        max_redemptions: 1,
        name: 'Discount'
      },
      { idempotencyKey: `${attempt.createKey}-coupon`, timeout }
    )
  )
  return [{ coupon: coupon.id }]
}
