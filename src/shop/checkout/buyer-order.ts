import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { Image } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { getOrderByPublicToken, itemsOf } from '../orders/find.ts'
import { findOrderView, maskedEmail, toTotals, invoiceUrl, payUrl } from '../orders/view.ts'
import { taxesOfOrder, toTaxes } from '../orders/totals.ts'
import type { TaxView } from '../orders/totals.ts'
import type { OrderRow } from '../orders/find.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import { mayMove } from '../orders/states.ts'
import type { OrderTotals, OrderView } from '../orders/view.ts'
import { cancelUnpaidOrder } from '../payments/end-hold.ts'
import { startDeadline } from '../payments/deadline.ts'
import { listShipments } from '../shipments/find.ts'
import type { ShipmentView } from '../shipments/find.ts'
import { buyerStatusOf, isPayable, openPageOf } from './buyer-status.ts'
import type { BuyerStatus } from './buyer-status.ts'
import { takePagePoint } from './checkout-limits.ts'
import { guestSubscriptionOf } from './guest-subscription.ts'
import type { GuestSubscription } from './guest-subscription.ts'

/** A buyer waits for the answer. If the gateway is slower, the order stays. */
const longestWaitMs = 8_000

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
    await cancelUnpaidOrder(shop, order.id, 'buyer', startDeadline(longestWaitMs))
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
