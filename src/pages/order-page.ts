import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { formatMoney } from '../platform/money.ts'
import { withResult } from '../shop/checkout/return-url.ts'
import { couponsOf, findOrderByPublicToken, itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { setting } from '../shop/settings/settings.ts'
import { canBePaid, openPageOf, standingOf, standings } from './order-standing.ts'
import type { Standing } from './order-standing.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

export const donePages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/checkout\/done\/([A-Za-z0-9_-]{1,100})$/,
    name: '/checkout/done/:token',
    handle: ({ app, param, now }: PageCall) => orderPage(app, getOrderByToken(app, param), now, 200)
  }
]

/** @throws AppError NOT_FOUND */
export function getOrderByToken(app: App, publicToken: string): OrderRow {
  const order = findOrderByPublicToken(app.db, publicToken)
  if (order === undefined) throw new AppError('NOT_FOUND', 'There is no order at this address.')
  return order
}

/**
 * An order as whoever has its address may see it: what was bought and how it stands, and nothing of the person, since
 * such addresses are passed on.
 */
export function orderPage(app: App, order: OrderRow, now: number, status: number): PageReply {
  const standing = standingOf(app.db, order, now)
  const { title, tone, text } = standings[standing]
  return {
    status,
    template: 'order',
    title,
    data: {
      tone,
      text,
      instructions: standing === 'awaiting_money' ? setting(app.db, 'payments.manualInstructions') : null,
      summary: summaryOf(app, order),
      again: standing === 'pending' ? `/checkout/done/${order.publicToken}` : null,
      pay: payUrl(app, order, standing),
      back: backUrl(order, standing)
    }
  }
}

/** What an order's table shows, in words. */
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

/** Where an order that can still be paid is paid: the gateway's page that is open for it, or our own. */
function payUrl(app: App, order: OrderRow, standing: Standing): string | null {
  if (!isPayable(order, standing)) return null
  return openPageOf(app.db, order.id)?.url ?? `/checkout/${order.publicToken}`
}

/** With token_handoff the site takes the card, and a second payment beside one whose outcome is open must not be. */
export function isPayable(order: OrderRow, standing: Standing): boolean {
  return order.strategy === 'redirect_to_store' && canBePaid(standing)
}

/** The site's own page to go back to, told how it went; null where the site gave none. */
export function backUrl(order: OrderRow, standing: Standing): string | null {
  const { paid, released } = standings[standing]
  const result = paid ? 'success' : released ? 'cancelled' : 'pending'
  const url = result === 'cancelled' ? (order.cancelUrl ?? order.returnUrl) : order.returnUrl
  return url === null ? null : withResult(url, order.id, result)
}
