import type { App } from '../app.ts'
import type { Db } from '../platform/db/database.ts'
import { formatMoney } from '../platform/money.ts'
import { payUrlOf } from '../shop/checkout/buyer-order.ts'
import { buyerStatuses, buyerStatusOf } from '../shop/checkout/buyer-status.ts'
import type { BuyerStatus } from '../shop/checkout/buyer-status.ts'
import { resultAtReturn } from '../shop/checkout/return-from-bank.ts'
import { couponsOf, getOrderByPublicToken, itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { siteUrl } from '../shop/payments/page-urls.ts'
import { setting } from '../shop/settings/settings.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

export const donePages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/checkout\/done\/([A-Za-z0-9_-]{1,100})$/,
    name: '/checkout/done/:token',
    handle: ({ app, param, now }: PageCall) => orderPage(app, getOrderByPublicToken(app.db, param), now, 200)
  },
  {
    method: 'GET',
    path: /^\/checkout\/return\/([A-Za-z0-9_-]{1,100})$/,
    name: '/checkout/return/:token',
    handle: comeBack
  }
]

/** The bank redirects the buyer here. The site gets the result that the gateway reports. */
async function comeBack({ app, param }: PageCall): Promise<PageReply> {
  const { id, publicToken, returnUrl } = getOrderByPublicToken(app.db, param)
  const result = await resultAtReturn(app, id)
  return { redirect: returnUrl === null ? `/checkout/done/${publicToken}` : siteUrl(app.db, { id }, returnUrl, result) }
}

/**
 * The page of an order: what was bought and its status. It shows no personal data, because people share such addresses.
 */
export function orderPage(app: App, order: OrderRow, now: number, status: number): PageReply {
  const buyerStatus = buyerStatusOf(app.db, order, now)
  const { title, tone, text } = buyerStatuses[buyerStatus]
  return {
    status,
    template: 'order',
    title,
    data: {
      tone,
      text,
      instructions: buyerStatus === 'awaiting_money' ? setting(app.db, 'payments.manualInstructions') : null,
      summary: summaryOf(app, order),
      again: buyerStatus === 'pending' ? `/checkout/done/${order.publicToken}` : null,
      pay: payUrlOf(app, order, buyerStatus),
      back: backUrl(app.db, order, buyerStatus)
    }
  }
}

/** The texts of an order's table. */
export function summaryOf(app: App, order: OrderRow): object {
  const money = (minor: number): string => formatMoney(minor, order.currency)
  const coupons = couponsOf(app.db, order.id).filter((coupon) => coupon.discountMinor > 0)
  return {
    id: order.id,
    lines: itemsOf(app.db, order.id).map((item) => ({
      name: item.name,
      quantity: item.quantity,
      amount: money(item.unitPriceMinor * item.quantity)
    })),
    discounts: coupons.map((coupon) => ({ label: `Coupon ${coupon.code}`, amount: money(-coupon.discountMinor) })),
    total: money(order.totalMinor),
    refunded: order.refundedMinor > 0 ? money(-order.refundedMinor) : null
  }
}

/** The site's own page to go back to, with the result in its query; null if the site gave none. */
export function backUrl(db: Db, order: OrderRow, buyerStatus: BuyerStatus): string | null {
  const { paid, released } = buyerStatuses[buyerStatus]
  const result = paid ? 'success' : released ? 'cancelled' : 'pending'
  const url = result === 'cancelled' ? (order.cancelUrl ?? order.returnUrl) : order.returnUrl
  return url === null ? null : siteUrl(db, order, url, result)
}
