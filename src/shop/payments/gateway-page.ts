import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Pictured } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { getOrder, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { getAttempt, takeUpAttempt, unanswered, updateAttempt } from './attempts.ts'
import { startDeadline } from './deadline.ts'
import type { Deadline } from './deadline.ts'
import { checkoutFailed, emailRefused, isRunningAlready, readGatewayError } from './gateway-failure.ts'
import { readyGateway } from './gateway.ts'
import { stateOfSession } from './gateway-state.ts'
import { callOff } from './look-up.ts'
import { metadataOf } from './metadata.ts'
import { addedTaxes } from './page-taxes.ts'
import type { AddedTaxes } from './page-taxes.ts'
import { pageUrls } from './page-urls.ts'
import type { AttemptRow } from './rows.ts'
import { failAttempt, settleAttempt } from './settle.ts'
import { methodConfiguration, paymentDetails } from './buyer-details.ts'
import { keyFor, payAsCustomer } from './gateway-customer.ts'
import { gatewayEmail } from './gateway-email.ts'
import { shippingLines, shippingOptions } from './gateway-shipping.ts'
import { subscriptionInterval } from './subscription-interval.ts'

/** Stripe accepts 30 minutes to 24 hours; one minute of margin covers a slow call. */
export const shortestPageMs = 31 * 60_000
const longestPageMs = 24 * 60 * 60_000 - 60_000
/** How long one click waits for the page that another click is opening. */
const pageWaitMs = 5_000

/**
 * The address of the gateway's payment page for an attempt; creates the page if there is none yet. A refused page fails
 * the order; a page that may exist is left to the reconciler. Concurrent calls get the same page.
 *
 * @throws AppError CHECKOUT_FAILED: 502 refused, 504 unknown; VALIDATION_FAILED (`customer.email`)
 */
export async function offerCheckoutPage(shop: ShopContext, attempt: AttemptRow): Promise<string> {
  try {
    const { url } = await openCheckoutPage(shop, await takeUpAttempt(shop, attempt.id))
    if (url === null) throw new Error('the gateway returned a page without an address')
    return url
  } catch (error) {
    const url = await pageOfAnother(shop, attempt.id, error)
    if (url !== null) return url
    throw await pageFailure(shop, attempt, error)
  }
}

/** The page that a concurrent call is creating, such as the first click of a double click; null if it does not appear. */
async function pageOfAnother(shop: ShopContext, attemptId: number, error: unknown): Promise<string | null> {
  const until = isRunningAlready(error) ? performance.now() + pageWaitMs : 0
  for (;;) {
    const { url, outcome } = getAttempt(shop.db, attemptId)
    if (url !== null && outcome === null) return url
    if (outcome !== null || performance.now() >= until) return null
    await sleep(100)
  }
}

/**
 * Opens the gateway's own payment page for an attempt and remembers it. Calling it again for the same attempt asks with
 * the same key and so finds the same page.
 *
 * @throws whatever stripe-node or the deadline throws; see readGatewayError
 */
export async function openCheckoutPage(
  shop: ShopContext,
  attempt: AttemptRow,
  deadline: Deadline = startDeadline()
): Promise<AttemptRow> {
  const stripe = await readyGateway(shop).client()
  const order = getOrder(shop.db, attempt.orderId)
  const { successUrl, cancelUrl } = pageUrls(shop, order)
  const { overMinor, ...bought } = purchase(shop, order, attempt)
  const discounts = await adHocCoupon(
    stripe,
    { order, amountMinor: order.discountMinor + overMinor },
    attempt,
    deadline
  )
  const params: Stripe.Checkout.SessionCreateParams = {
    ...bought,
    ...(discounts === undefined ? {} : { discounts }),
    ...methodConfiguration(shop),
    // An amount in another currency than the order's could not be compared with it.
    adaptive_pricing: { enabled: false },
    client_reference_id: String(order.id),
    metadata: metadataOf(shop, attempt),
    expires_at: Math.floor(pageEnd(attempt) / 1000),
    success_url: successUrl,
    cancel_url: cancelUrl
  }
  const session = await payAsCustomer(shop, order, { stripe, deadline }, (customer) =>
    deadline.call(({ timeout }) =>
      stripe.checkout.sessions.create(
        { ...params, ...payerOf(order, customer) },
        { idempotencyKey: keyFor(attempt.createKey, customer), timeout }
      )
    )
  )
  const { attempt: opened, verdict } = await settleAttempt(shop, attempt.id, stateOfSession(session), 'checkout')
  if (verdict === 'open' && !isWanted(shop, opened)) {
    // The buyer has not seen this page, and must not pay on it beside the other payment.
    const ended = await deadline.call((options) => callOff(stripe, opened, options))
    if (ended !== undefined) await settleAttempt(shop, opened.id, ended, 'checkout')
    throw new Error('the payment was given up while its page was opened')
  }
  return opened
}

/** The account's customer, or the email of a guest; Stripe's page asks a guest without an email. */
function payerOf(
  { email }: OrderRow,
  customer: string | null
): Pick<Stripe.Checkout.SessionCreateParams, 'customer' | 'customer_email'> {
  if (customer !== null) return { customer }
  return email === null ? {} : { customer_email: gatewayEmail(email) }
}

function isWanted({ db }: ShopContext, { orderId, outcome }: AttemptRow): boolean {
  return outcome === null && getOrder(db, orderId).status === 'pending'
}

/** The end of the hold, within Stripe's limits. Counted from the attempt, so that a repeated call sends the same. */
function pageEnd({ expiresAt, createdAt }: AttemptRow): number {
  return Math.min(Math.max(expiresAt ?? 0, createdAt + shortestPageMs), createdAt + longestPageMs)
}

type Purchase = Pick<
  Stripe.Checkout.SessionCreateParams,
  'mode' | 'line_items' | 'shipping_options' | 'payment_intent_data' | 'subscription_data'
> &
  Pick<AddedTaxes, 'overMinor'>

/** The line items, as a one-time payment or, with a subscription among them, as a subscription. */
function purchase(shop: ShopContext, order: OrderRow, attempt: AttemptRow): Purchase {
  const items = itemsOf(shop.db, order.id)
  const interval = subscriptionInterval(items)
  const toLine = (product_data: ProductData, unit_amount: number, quantity: number, isRecurring: boolean) => ({
    quantity,
    price_data: {
      currency: order.currency.toLowerCase(),
      unit_amount,
      product_data,
      ...(isRecurring && interval !== null ? { recurring: { interval } } : {})
    }
  })
  const { taxes, overMinor } = addedTaxes(shop.db, order, items)
  const lines = [
    ...items.map((item) => {
      const { name, productId, variationId, unitPriceMinor, quantity } = item
      const product = { name, ...imageFor(shop, { productId, variationId }) }
      return toLine(product, unitPriceMinor, quantity, subscriptionInterval([item]) !== null)
    }),
    ...taxes.map(({ name, amountMinor, isRecurring }) => toLine({ name }, amountMinor, 1, isRecurring))
  ]
  const data = { metadata: metadataOf(shop, attempt), description: `Order ${order.id}` }
  return interval === null
    ? {
        mode: 'payment',
        line_items: lines,
        ...shippingOptions(order),
        payment_intent_data: { ...data, ...paymentDetails(shop, order) },
        overMinor
      }
    : {
        mode: 'subscription',
        line_items: [...lines, ...shippingLines(order, items)],
        subscription_data: data,
        overMinor
      }
}

type ProductData = { name: string; images?: string[] }

/** The picture of a line item on Stripe's page. Stripe fetches it, so the shop must be reached by https. */
function imageFor({ db, publicUrl }: ShopContext, line: Pictured): { images?: string[] } {
  const image = publicUrl().startsWith('https:') ? lineImage(db, line, publicUrl()) : null
  return image === null ? {} : { images: [image.url] }
}

/** The order's discount as a coupon at Stripe that can be used once. */
async function adHocCoupon(
  stripe: Stripe,
  { order, amountMinor }: { order: OrderRow; amountMinor: number },
  attempt: AttemptRow,
  deadline: Deadline
): Promise<{ coupon: string }[] | undefined> {
  if (amountMinor === 0) return undefined
  const coupon = await deadline.call(({ timeout }) =>
    stripe.coupons.create(
      {
        ...(attempt.discountCouponId === null ? {} : { id: attempt.discountCouponId }),
        amount_off: amountMinor,
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

async function pageFailure(shop: ShopContext, attempt: AttemptRow, error: unknown): Promise<Error> {
  if (isStorageError(error) && error instanceof Error) return error
  const failure = readGatewayError(error)
  const kind = failure.answered && !isRunningAlready(error) ? 'broken' : 'unknown'
  const now = shop.clock.now()
  await writeWhenFree(shop.db, (tx) => {
    // A concurrent call has created the page, or the buyer chose another payment method.
    const { objectId, outcome } = getAttempt(tx, attempt.id)
    if (objectId !== null || outcome !== null) return
    if (kind === 'broken') failAttempt(tx, attempt.id, 'the payment page was refused', now)
    else updateAttempt(tx, attempt.id, { gatewayStatus: unanswered }, now)
  })
  const { code, type, param } = failure.error
  shop.log.warn('a payment page could not be opened', { orderId: attempt.orderId, kind, code: code ?? type, param })
  return emailRefused(failure) ?? checkoutFailed({ ...failure, kind }, 'create_intent')
}
