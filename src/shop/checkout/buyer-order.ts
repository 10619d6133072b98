import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { getOrderByPublicToken, itemsOf, historyOf, findOrder } from '../orders/find.ts'
import { findOrderView, maskedEmail, toTotals, invoiceUrl, payUrl, listOrders, invoiceUrls } from '../orders/view.ts'
import { taxesOfOrder, toTaxes } from '../orders/totals.ts'
import type { TaxView } from '../orders/totals.ts'
import type { OrderRow } from '../orders/find.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { mayMove, orderStates } from '../orders/states.ts'
import type { OrderTotals, OrderView, Page } from '../orders/view.ts'
import { cancelUnpaidOrder } from '../payments/end-hold.ts'
import { buyerWaitMs, startDeadline, findGatewayOf } from '../payments/gateway.ts'
import { listShipments } from '../shipments/find.ts'
import type { ShipmentView } from '../shipments/find.ts'
import { takePagePoint } from './checkout-limits.ts'
import { guestSubscriptionOf } from './guest-subscription.ts'
import type { GuestSubscription } from './guest-subscription.ts'
import type { OrderState, OrderStatus } from '../orders/states.ts'
import { takesToken } from '../orders/strategies.ts'
import { attemptsOf, openAttemptsOf } from '../payments/attempts.ts'
import type { AttemptRow } from '../payments/rows.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { toMajor } from '../../platform/money.ts'
import type { ProductType } from '../catalog/product-types.ts'
import type { Address } from '../orders/address.ts'
import { isModuleOn } from '../settings/settings.ts'
import { describeError } from '../../platform/log.ts'
import { tryTakePoint } from '../limits/points.ts'
import { lookUp } from '../payments/gateway-state.ts'
import { settleAttempt } from '../payments/settle.ts'

/** An order as everyone with its link sees it: no name and no address, and a masked email. */
export type BuyerOrder = {
  order: OrderView & {
    email: string | null
    totals: OrderTotals
    /** One for each rate; `totals.tax` is their sum. */
    taxes: TaxView[]
    shippingMethod: ChosenMethod | null
    shipments: ShipmentView[]
    invoiceUrl: string | null
    /** The picture of each line item, in their order. */
    images: (Image | null)[]
  }
  canPay: boolean
  /** Where the buyer pays; null if `canPay` is false. */
  payUrl: string | null
  canCancel: boolean
}

/** The order of a token and what its buyer can do with it. @throws AppError NOT_FOUND */
export function getBuyerOrder(
  shop: ShopContext,
  orderToken: string,
  now: number
): BuyerOrder & { subscription: GuestSubscription | null } {
  const order = getOrderByPublicToken(shop.db, orderToken)
  return { ...toBuyerOrder(shop, order, now), subscription: guestSubscriptionOf(shop, order) }
}

/** An order as everyone with its link sees it, and what its buyer can do with it. */
export function toBuyerOrder(shop: ShopContext, order: OrderRow, now: number): BuyerOrder {
  const view = findOrderView(shop.db, order.id)
  if (view === undefined) throw new Error(`order ${order.id} has no public form`)
  const status = buyerStatusOf(shop.db, order, now)
  const payUrl = payUrlOf(shop, order, status)
  return {
    order: {
      ...view,
      email: order.email === null ? null : maskedEmail(order.email),
      totals: toTotals(order),
      taxes: toTaxes(taxesOfOrder(shop.db, order.id), order.currency),
      shippingMethod: order.shippingMethod,
      shipments: listShipments(shop.db, order.id),
      invoiceUrl: invoiceUrl(shop, order),
      images: itemsOf(shop.db, order.id).map((item) => lineImage(shop.db, item, shop.publicUrl()))
    },
    canPay: payUrl !== null,
    payUrl,
    canCancel: canCancel(order, status)
  }
}

/**
 * Cancels an unpaid order for its buyer: its payment page is closed at the gateway first, then its stock and coupons are
 * released. An order that is cancelled already stays as it is.
 *
 * @throws AppError NOT_FOUND; CONFLICT when the order is paid, or its payment waits for the bank; RATE_LIMITED
 *   (checkout_ip); DEPENDENCY_UNAVAILABLE when the gateway does not answer
 */
export async function cancelByBuyer(
  shop: ShopContext,
  orderToken: string,
  { now, addressKey }: { now: number; addressKey: string }
): Promise<void> {
  const order = getOrderByPublicToken(shop.db, orderToken)
  if (order.status === 'cancelled') return
  if (!canCancel(order, buyerStatusOf(shop.db, order, now))) throw notCancellable()
  await takePagePoint(shop, addressKey)
  try {
    await cancelUnpaidOrder(shop, order.id, 'buyer', startDeadline(buyerWaitMs))
  } catch (error) {
    const isTooLate = error instanceof AppError && (error.code === 'TRANSITION_REFUSED' || error.code === 'CONFLICT')
    if (isTooLate) throw notCancellable()
    throw error
  }
}

/** The page on which an order can be paid: its open page at the gateway, or the shop's own; null if it cannot be paid. */
export function payUrlOf(
  shop: Pick<ShopContext, 'publicUrl'> & { db: Db },
  order: OrderRow,
  status: BuyerStatus
): string | null {
  if (!isPayable(order, status)) return null
  return openPageOf(shop.db, order.id)?.url ?? payUrl(shop, order)
}

/** Whether the buyer can cancel an order: it is not paid, and the bank is not deciding about its payment. */
export function canCancel({ status, paidAt }: OrderRow, buyerStatus: BuyerStatus): boolean {
  return paidAt === null && buyerStatus !== 'awaiting_bank' && mayMove(status, 'cancelled', false)
}

function notCancellable(): AppError {
  const message = 'The order is paid, or its payment is being decided, so it cannot be cancelled. Read it again.'
  return new AppError('CONFLICT', message)
}

type Waiting =
  /** The buyer has to transfer the money. */
  | 'awaiting_money'
  /** The bank has not decided yet. */
  | 'awaiting_bank'
  /** Not paid in time. */
  | 'expired'

/** The status that the buyer sees: the order's own, or a more specific one. */
export type BuyerStatus = OrderStatus | Waiting

/** The properties of each status, for pages and payments. */
export const buyerStatuses: Readonly<Record<BuyerStatus, Omit<OrderState, 'label'>>> = {
  ...orderStates,
  awaiting_money: {
    to: [],
    paid: false,
    released: false,
    tone: 'wait',
    title: 'Your order is waiting for your payment',
    text: 'We will write to you when your payment has arrived.'
  },
  awaiting_bank: {
    to: [],
    paid: false,
    released: false,
    tone: 'wait',
    title: 'Your bank has not confirmed the payment yet',
    text: 'The payment has started and your bank has not confirmed it yet. You don’t need to do anything else.'
  },
  expired: {
    to: [],
    paid: false,
    released: true,
    tone: 'bad',
    title: 'This order has expired',
    text: 'It was not paid in time, so its items are available to other buyers again. You are welcome to order again.'
  }
}

/** Stripe's statuses of a payment that the bank has not decided about. */
const waitingStatuses = new Set(['processing', 'requires_capture', 'complete'])

/** The status that the buyer of an order sees at `now`. */
export function buyerStatusOf(db: Db, order: OrderRow, now: number): BuyerStatus {
  const [newest] = attemptsOf(db, order.id)
  if (order.status === 'pending') return pendingStatusOf(order, newest, now)
  if (order.status === 'on-hold' && newest?.kind === 'manual' && order.paidAt === null) return 'awaiting_money'
  if (order.status === 'cancelled' && hasExpired(db, order, newest)) return 'expired'
  return order.status
}

/** Whether the buyer can still pay, as far as the status says: a payment starts from pending. */
export function canBePaid(status: BuyerStatus): boolean {
  return status === 'pending' || buyerStatuses[status].to.includes('pending')
}

/**
 * Whether the buyer can pay the order on the hosted page. With token_handoff the site takes the card, and a second
 * payment must not start beside one whose outcome is open.
 */
export function isPayable(order: OrderRow, status: BuyerStatus): boolean {
  return !takesToken(order.strategy) && canBePaid(status)
}

/** Whether the order's total can still change: no payment has started. */
export function canTakeCoupon(db: Db, order: OrderRow): boolean {
  return order.status === 'pending' && attemptsOf(db, order.id).every(({ outcome }) => outcome !== null)
}

function pendingStatusOf(order: OrderRow, newest: AttemptRow | undefined, now: number): BuyerStatus {
  if (isOpen(newest) && waitingStatuses.has(newest.gatewayStatus ?? '')) return 'awaiting_bank'
  // The job that ends holds may not have run yet.
  return order.holdEndsAt !== null && order.holdEndsAt <= now ? 'expired' : 'pending'
}

/** The time to pay ran out, as opposed to a cancellation, which closes the payment page before its end. */
function hasExpired(db: Db, order: OrderRow, newest: AttemptRow | undefined): boolean {
  if (order.paidAt !== null) return false
  const ranOut = newest?.outcome === 'expired' && (newest.settledAt ?? 0) >= (newest.expiresAt ?? 0)
  return ranOut || historyOf(db, order.id).at(-1)?.by === 'hold'
}

function isOpen(attempt: AttemptRow | undefined): attempt is AttemptRow {
  return attempt !== undefined && attempt.outcome === null
}

/** The open attempt whose payment page the gateway still offers. */
export function openPageOf(db: Db, orderId: number): AttemptRow | undefined {
  const [newest] = attemptsOf(db, orderId)
  return isOpen(newest) && newest.kind === 'checkout_session' ? newest : undefined
}

/** A line with its product, so that a site can link the product and order it again. */
type OwnLine = {
  productId: number
  variationId: number | null
  /** Null if the product is not published any more. */
  productSlug: string | null
  sku: string | null
  type: ProductType
  name: string
  quantity: number
  /** Before discounts. */
  unitPrice: number
  total: number
}

/** An order as its customer sees it. */
export type OwnOrder = Omit<BuyerOrder, 'order'> & {
  order: BuyerOrder['order'] & {
    orderToken: string
    lines: OwnLine[]
    billingAddress: Address | null
    shippingAddress: Address | null
  }
}

type Listed = ReturnType<typeof listOrders>
/** A page of a customer's orders, each with the address of its invoice. */
export type OwnOrders = Omit<Listed, 'orders'> & { orders: (OrderView & { invoiceUrl: string | null })[] }

type StoredLine = Omit<OwnLine, 'unitPrice' | 'total'> & { unitPriceMinor: number; totalMinor: number }

const linesOf = rawStatement<[number], StoredLine>(
  `SELECT i.product_id AS productId, i.variation_id AS variationId, i.type, i.name, i.quantity,
          coalesce(i.sku, p.sku) AS sku,
          CASE WHEN p.published THEN p.slug END AS productSlug,
          i.unit_price_minor AS unitPriceMinor, i.total_minor AS totalMinor
     FROM order_items i JOIN products p ON p.id = i.product_id
    WHERE i.order_id = ? ORDER BY i.id`
)

/** One page of a customer's orders, newest first. */
export function listOwnOrders(shop: ShopContext, userId: number, page: Page): OwnOrders {
  const { orders, pagination } = listOrders(shop.db, userId, page)
  const urls = invoiceUrls(
    shop,
    orders.map(({ id }) => id)
  )
  return { orders: orders.map((order) => ({ ...order, invoiceUrl: urls.get(order.id) ?? null })), pagination }
}

/**
 * An order of a logged-in customer and what they can do with it.
 *
 * @throws AppError NOT_FOUND, also for an order of another person and while the module commerce is off
 */
export function getOwnOrder(shop: ShopContext, userId: number, orderId: number, now: number): OwnOrder {
  const order = isModuleOn(shop.db, 'commerce') ? findOrder(shop.db, orderId) : undefined
  if (order?.userId !== userId) throw new AppError('NOT_FOUND', 'You have no order with this number.')
  return toOwnOrder(shop, order, now)
}

/** An order as its customer sees it, and what they can do with it. */
export function toOwnOrder(shop: ShopContext, order: OrderRow, now: number): OwnOrder {
  const { order: shown, ...options } = toBuyerOrder(shop, order, now)
  return {
    order: {
      ...shown,
      email: order.email,
      orderToken: order.publicToken,
      lines: toLines(shop.db, order),
      billingAddress: order.billingAddress,
      shippingAddress: order.shippingAddress
    },
    ...options
  }
}

function toLines(db: Db, { id, currency }: OrderRow): OwnLine[] {
  return linesOf(db)
    .all(id)
    .map(({ unitPriceMinor, totalMinor, ...line }) => ({
      ...line,
      unitPrice: toMajor(unitPriceMinor, currency),
      total: toMajor(totalMinor, currency)
    }))
}

/**
 * Asks the gateway for the payments of an order whose outcome is open, and stores its answer. The buyer who comes back may
 * be faster than the webhook, and the query of the return address proves nothing. A client that repeats its return is
 * not worth a call each time: past `checkout_ip`, and when the gateway does not answer in time, the order stays as the
 * shop knows it.
 */
export async function askGateway(shop: ShopContext, orderId: number, addressKey: string): Promise<void> {
  const open = openAttemptsOf(shop.db, orderId).filter(({ objectId }) => objectId !== null)
  if (open.length === 0 || !(await tryTakePoint(shop, { bucket: 'checkout_ip', key: addressKey }))) return
  const deadline = startDeadline(buyerWaitMs)
  for (const attempt of open) {
    const gateway = findGatewayOf(shop, attempt)
    if (gateway === undefined) continue
    try {
      const stripe = await gateway.client()
      const state = await deadline.call((options) => lookUp(stripe, attempt, options))
      if (state !== undefined) await settleAttempt(shop, attempt.id, state, 'return')
    } catch (error) {
      shop.log.warn('the result of a payment could not be read', { orderId, error: describeError(error) })
    }
  }
}
