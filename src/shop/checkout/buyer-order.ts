import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { lineImage } from '../catalog/public/image.ts'
import type { ShopContext } from '../context.ts'
import { getOrderByPublicToken, itemsOf, findOrder } from '../orders/find.ts'
import { documentsOf } from '../invoices/find.ts'
import { documentUrl, getOrderView, maskedEmail, invoiceUrl, payUrl, listOrders, invoiceUrls } from '../orders/view.ts'
import { taxesOfOrder, toTaxes } from '../orders/totals.ts'
import type { OrderRow } from '../orders/find.ts'
import { mailBuyer, waitsForAccount } from '../orders/order-mails.ts'
import { findSubscriptionOrder, invoiceProof } from '../orders/order-links.ts'
import { emailKey } from '../../platform/text.ts'
import { takeRecoveryPoints } from '../limits/points.ts'
import { isPaidStatus, mayMove } from '../orders/states.ts'
import type { Page } from '../orders/view.ts'
import { cancelUnpaidOrder } from '../payments/end-hold.ts'
import { startDeadline, findGatewayOf } from '../payments/gateway.ts'
import { listRefunds } from '../orders/refunds/refund-lines.ts'
import { listShipments } from '../shipments/find.ts'
import { listReturns } from '../shipments/returns.ts'
import { askGateway, buyerStatusOf, isPayable, openPageOf } from './buyer-status.ts'
import type { BuyerStatus } from './buyer-status.ts'
import { mayChange, notTheBuyer } from './order-visitor.ts'
import type { Visitor } from './order-visitor.ts'
import { takePagePoint } from './limits.ts'
import type { BuyerOrder, GuestOrder, GuestSubscription, OwnOrder, OwnOrders } from './shapes.ts'
import { rawStatement, writeWhenFree } from '../../platform/db/database.ts'
import { addressPath, waitsForAddress } from '../orders/address.ts'
import type { Address } from '../orders/address.ts'
import { recordContact } from '../orders/buyer.ts'
import { toMajor } from '../../platform/money.ts'
import { isWithdrawable } from '../declarations/period.ts'
import { followsEuLaw } from '../settings/law.ts'
import { isModuleOn } from '../settings/settings.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { boughtCards } from '../gift-cards/sold.ts'
import type { BoughtCard } from '../gift-cards/sold.ts'
import { listGuestDownloads } from '../benefits/download-links.ts'
import { givesAccess } from '../benefits/give.ts'
import { findRenewed } from '../benefits/records.ts'
import type { GatewaySubscriptionRow } from '../benefits/rows.ts'
import { findPayingAttempt } from '../payments/attempts.ts'
import { endWithPeriod } from '../payments/buyer-subscription.ts'

/** A buyer waits for the answer. If the gateway is slower, the order stays. */
const longestWaitMs = 8_000

/**
 * The order of a token and what its buyer can do with it. While its payment is undecided, the gateway is asked first.
 *
 * @throws AppError NOT_FOUND
 */
export async function readBuyerOrder(shop: ShopContext, orderToken: string, now: number): Promise<GuestOrder> {
  await askGateway(shop, getOrderByPublicToken(shop.db, orderToken).id)
  return getBuyerOrder(shop, orderToken, now)
}

/** The order of a token as the shop knows it. @throws AppError NOT_FOUND */
export function getBuyerOrder(shop: ShopContext, orderToken: string, now: number): GuestOrder {
  const order = getOrderByPublicToken(shop.db, orderToken)
  return {
    ...toBuyerOrder(shop, order, now),
    subscription: guestSubscriptionOf(shop, order),
    ...accessOf(shop, order, now)
  }
}

/** How the buyer of an order gets the files, memberships and courses that it gave. */
export function accessOf(
  { db, keys }: ShopContext,
  order: OrderRow,
  now: number
): Pick<GuestOrder, 'downloads' | 'accountAccess'> {
  const isGiven = order.userId !== null && isPaidStatus(order.status) && givesAccess(itemsOf(db, order.id))
  return {
    downloads: listGuestDownloads(db, keys, order.id, now),
    accountAccess: waitsForAccount(db, order) ? 'waiting' : isGiven ? 'given' : null
  }
}

/** The gift cards that an order sold to its buyer. */
export function cardsBoughtBy(db: Db, { id: orderId, email, giftRecipient }: OrderRow, now: number): BoughtCard[] {
  return boughtCards(db, { orderId, email, recipient: giftRecipient }, now)
}

/** An order as everyone with its link sees it, and what its buyer can do with it. */
export function toBuyerOrder(shop: ShopContext, order: OrderRow, now: number): BuyerOrder {
  const view = getOrderView(shop.db, order.id)
  const status = buyerStatusOf(shop.db, order, now)
  const payUrl = payUrlOf(shop, order, status, now)
  return {
    order: {
      ...view,
      email: order.email === null ? null : maskedEmail(order.email),
      taxes: toTaxes(taxesOfOrder(shop.db, order.id), order.currency),
      shippingMethod: order.shippingMethod,
      shipments: listShipments(shop.db, order.id),
      refunds: listRefunds(shop.db, order),
      deliveryConsentAt: toIsoOrNull(order.deliveryConsentAt),
      returns: listReturns(shop.db, order.id),
      invoiceUrl: invoiceUrl(shop, order),
      documents: documentsFor(shop, order, null),
      images: itemsOf(shop.db, order.id).map((item) => lineImage(shop.db, item, shop.publicUrl()))
    },
    canPay: payUrl !== null,
    payUrl,
    canCancel: canCancel(order, status),
    addressUrl: waitsForAddress(order) ? `${shop.publicUrl()}${addressPath(order)}` : null,
    withdrawUrl: withdrawUrlOf(shop, order, now),
    giftCards: cardsBoughtBy(shop.db, order, now)
  }
}

/**
 * Stores where to ship a paid order that has no address yet. Its prices are those of the shop's country, so it is shipped
 * there. An order that has an address stays as it is.
 *
 * @throws AppError NOT_FOUND; NOT_AUTHENTICATED for a visitor who is not the buyer
 */
export async function giveAddress(
  shop: ShopContext,
  orderToken: string,
  { firstName, lastName, ...address }: Omit<Address, 'firstName'> & { firstName: string | null; lastName: string },
  visitor: Visitor
): Promise<void> {
  await writeWhenFree(shop.db, (tx) => {
    const order = getOrderByPublicToken(tx, orderToken)
    if (!waitsForAddress(order)) return
    const now = shop.clock.now()
    if (!mayChange({ db: tx, keys: shop.keys }, order, visitor, now)) throw notTheBuyer()
    const names = { ...(firstName === null ? {} : { firstName }), lastName }
    const contact = { ...order.contact, ...names }
    recordContact(tx, order.id, { contact, shippingAddress: { ...names, ...address } }, now)
  })
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
  status: BuyerStatus,
  now: number
): string | null {
  if (!isPayable(shop.db, order, status, now)) return null
  return openPageOf(shop.db, order.id)?.url ?? payUrl(shop, order)
}

/** Where the buyer of an order withdraws from the contract; null when the period is over, and outside of EU law. */
export function withdrawUrlOf(
  { db, publicUrl }: Pick<ShopContext, 'publicUrl'> & { db: Db },
  order: OrderRow,
  now: number
): string | null {
  if (!followsEuLaw(db) || !isWithdrawable(db, order, now)) return null
  return `${publicUrl()}/withdraw?order=${order.publicToken}`
}

/** Whether the buyer can cancel an order: it is not paid, and the bank is not deciding about its payment. */
export function canCancel({ status, paidAt }: OrderRow, buyerStatus: BuyerStatus): boolean {
  return paidAt === null && buyerStatus !== 'awaiting_bank' && mayMove(status, 'cancelled', false)
}

function notCancellable(): AppError {
  const message = 'The order is paid, or its payment is being decided, so it cannot be cancelled. Read it again.'
  return new AppError('CONFLICT', message)
}

type OwnLine = OwnOrder['order']['lines'][number]
type StoredLine = Omit<OwnLine, 'unitPrice' | 'total'> & { unitPriceMinor: number; totalMinor: number }

const linesOf = rawStatement<[number], StoredLine>(
  `SELECT i.product_id AS productId, i.variation_id AS variationId, i.type, i.name, i.quantity,
          coalesce(i.sku, p.sku) AS sku,
          CASE WHEN p.published THEN p.slug END AS productSlug,
          i.unit_price_minor AS unitPriceMinor, i.total_minor AS totalMinor
     FROM order_items i JOIN products p ON p.id = i.product_id
    WHERE i.order_id = +? ORDER BY i.id`
)

/** One page of a customer's orders, newest first. */
export function listOwnOrders(shop: ShopContext, userId: number, page: Page): OwnOrders {
  const { orders, pagination } = listOrders(shop.db, userId, page)
  const urls = invoiceUrls(
    shop,
    orders.map(({ id }) => id),
    (order) => invoiceProof(shop.keys, order)
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

/** The invoice and the credit notes of an order. `proof` shows the buyer's name and address on them. */
function documentsFor(shop: ShopContext, order: OrderRow, proof: string | null): BuyerOrder['order']['documents'] {
  return documentsOf(shop.db, order.id).map((row) => ({
    kind: row.kind,
    number: row.number,
    url: documentUrl(shop, order, row, { proof })
  }))
}

/** An order as its customer sees it, and what they can do with it. */
export function toOwnOrder(shop: ShopContext, order: OrderRow, now: number): OwnOrder {
  const { order: shown, ...options } = toBuyerOrder(shop, order, now)
  return {
    order: {
      ...shown,
      email: order.email,
      orderToken: order.publicToken,
      invoiceUrl: invoiceUrl(shop, order, invoiceProof(shop.keys, order)),
      documents: documentsFor(shop, order, invoiceProof(shop.keys, order)),
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
 * The subscription that the gateway renews for an order, or for the first order of a renewal. Subscriptions that were
 * bought in one checkout are billed together, so there is at most one. Null without one, and for the order of an account:
 * its holder has it in the list of their subscriptions.
 */
export function guestSubscriptionOf(shop: ShopContext, order: OrderRow): GuestSubscription | null {
  const row = findGuestRow(shop.db, order)
  if (row === undefined) return null
  const { currentPeriodEnd, cancelAtPeriodEnd, orderId } = row
  const renews = willRenew(row)
  const attempt = renews ? findPayingAttempt(shop.db, orderId) : undefined
  return {
    currentPeriodEnd: toIso(currentPeriodEnd),
    cancelAtPeriodEnd,
    nextPaymentAt: renews ? toIso(currentPeriodEnd) : null,
    canCancel: attempt !== undefined && findGatewayOf(shop, attempt) !== undefined
  }
}

/**
 * Sends the link that ends the subscription of a guest's order, or of a renewal, to the email of the order. The token of
 * the order is not enough to end it, because buyers share the link. A subscription that has ended, or will, sends nothing.
 *
 * @throws AppError NOT_FOUND; CONFLICT for an order that has no such subscription; RATE_LIMITED (recovery_ip,
 *   recovery_email)
 */
export async function sendSubscriptionLink(
  shop: ShopContext,
  orderToken: string,
  { addressKey, now }: { addressKey: string; now: number }
): Promise<void> {
  const order = getOrderByPublicToken(shop.db, orderToken)
  const row = findGuestRow(shop.db, order)
  if (row === undefined || order.email === null)
    throw new AppError('CONFLICT', 'This order has no subscription, or its subscription belongs to an account.')
  if (!willRenew(row)) return
  await takeRecoveryPoints(shop, addressKey, emailKey(order.email))
  await writeWhenFree(shop.db, (tx) =>
    mailBuyer(tx, order, { template: 'end_subscription', data: { orderId: order.id } }, now)
  )
}

/** The order whose subscription a link of an email ends. @throws AppError TOKEN_INVALID */
export function getSubscriptionOrder(
  { db, keys }: Pick<ShopContext, 'db' | 'keys'>,
  link: string,
  now: number
): OrderRow {
  const order = findSubscriptionOrder(db, keys, link, now)
  if (order === undefined) throw new AppError('TOKEN_INVALID', 'This link is wrong or has expired.')
  return order
}

/**
 * Ends the subscription of a guest's order with the period that is paid. The link of an email to the buyer is the proof.
 * Repeated, it changes nothing.
 *
 * @throws AppError TOKEN_INVALID; CONFLICT for an order that has no such subscription; RATE_LIMITED (checkout_ip);
 *   DEPENDENCY_UNAVAILABLE when the gateway did not confirm: nothing is stored then
 */
export async function endGuestSubscription(
  shop: ShopContext,
  link: string,
  { addressKey, now }: { addressKey: string; now: number }
): Promise<void> {
  const row = findGuestRow(shop.db, getSubscriptionOrder(shop, link, now))
  if (row === undefined) throw new AppError('CONFLICT', 'This order has no subscription.')
  if (!willRenew(row)) return
  await takePagePoint(shop, addressKey)
  await endWithPeriod(shop, row, 'buyer')
}

function findGuestRow(db: Db, { id, renewalOf, userId }: OrderRow): GatewaySubscriptionRow | undefined {
  return userId === null ? findRenewed(db, renewalOf ?? id) : undefined
}

function willRenew({ endedAt, cancelAtPeriodEnd }: GatewaySubscriptionRow): boolean {
  return endedAt === null && !cancelAtPeriodEnd
}
