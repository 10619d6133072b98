import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { formatMoney } from '../platform/money.ts'
import { withResult } from '../shop/checkout/return-url.ts'
import { couponsOf, findOrderByPublicToken, itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { setting } from '../shop/settings/settings.ts'
import { openPageOf, standingOf } from './order-standing.ts'
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

type Words = { title: string; tone: 'good' | 'wait' | 'bad'; paragraphs: string[] }

const words: Readonly<Record<Standing, Words>> = {
  paid: { title: 'Thank you for your order', tone: 'good', paragraphs: ['Your payment has arrived.'] },
  awaiting_money: { title: 'Your order is waiting for your payment', tone: 'wait', paragraphs: [] },
  awaiting_bank: {
    title: 'Your bank is still at work',
    tone: 'wait',
    paragraphs: [
      'The payment has been started and your bank has not confirmed it yet. There is nothing more to do for you.'
    ]
  },
  in_question: {
    title: 'We are looking into your order',
    tone: 'wait',
    paragraphs: ['Something about its payment has to be settled first. We will write to you.']
  },
  unpaid: {
    title: 'Your order is not paid yet',
    tone: 'wait',
    paragraphs: ['If you have just paid, it can take a moment until we hear of it.']
  },
  declined: {
    title: 'The payment did not go through',
    tone: 'bad',
    paragraphs: ['Nothing was charged. Please try again with another card or another way to pay.']
  },
  expired: {
    title: 'This order has expired',
    tone: 'bad',
    paragraphs: ['It was not paid in time, so its items went back on the shelf. You are welcome to order again.']
  },
  cancelled: { title: 'This order was cancelled', tone: 'bad', paragraphs: [] },
  refunded: {
    title: 'This order was refunded',
    tone: 'good',
    paragraphs: ['The money goes back the way you paid. Banks can take a few days until it shows.']
  }
}

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
  const { title, tone, paragraphs } = words[standing]
  return {
    status,
    template: 'order',
    title,
    data: {
      tone,
      paragraphs,
      instructions: standing === 'awaiting_money' ? setting(app.db, 'payments.manualInstructions') : null,
      summary: summaryOf(app, order),
      again: standing === 'unpaid' ? `/checkout/done/${order.publicToken}` : null,
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
  return order.strategy === 'redirect_to_store' && (standing === 'unpaid' || standing === 'declined')
}

const results: Readonly<Record<Standing, 'success' | 'pending' | 'cancelled'>> = {
  paid: 'success',
  awaiting_money: 'pending',
  awaiting_bank: 'pending',
  in_question: 'pending',
  unpaid: 'pending',
  declined: 'cancelled',
  expired: 'cancelled',
  cancelled: 'cancelled',
  refunded: 'cancelled'
}

/** The site's own page to go back to, told how it went; null where the site gave none. */
export function backUrl(order: OrderRow, standing: Standing): string | null {
  const result = results[standing]
  const url = result === 'cancelled' ? (order.cancelUrl ?? order.returnUrl) : order.returnUrl
  return url === null ? null : withResult(url, order.id, result)
}
