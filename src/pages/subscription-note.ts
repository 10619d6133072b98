import type { App } from '../app.ts'
import { findRenewed } from '../shop/benefits/records.ts'
import { guestSubscriptionOf } from '../shop/checkout/buyer-order.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { dayFormat } from './day-format.ts'
import { isOpen as hasStorefront } from './storefront-settings.ts'

/** What an order's page says about its subscription, and the link to end it. */
export type SubscriptionNote = { text: string; link: { label: string; url: string } | null }

/**
 * What the page of an order says about the subscription that the gateway renews for it; null without one. A guest ends it
 * from here, a customer in their account.
 */
export function subscriptionNote(app: App, order: OrderRow, now: number): SubscriptionNote | null {
  if (order.userId !== null) return accountNote(app, order)
  const subscription = guestSubscriptionOf(app, order)
  if (subscription === null) return null
  const { currentPeriodEnd, nextPaymentAt, canCancel } = subscription
  const end = Date.parse(currentPeriodEnd)
  const day = dayFormat.format(end)
  if (nextPaymentAt === null) {
    const text = end > now ? `Your subscription ends on ${day}.` : `Your subscription ended on ${day}.`
    return { text: `${text} You will not be charged again.`, link: null }
  }
  const text = end > now ? `Your subscription renews on ${day}.` : 'Your subscription is waiting for a payment.'
  if (!canCancel) return { text, link: null }
  return {
    text: `${text} You can end it at any time.`,
    link: { label: 'End the subscription', url: `/checkout/subscription/${order.publicToken}` }
  }
}

function accountNote(app: App, { id, renewalOf }: OrderRow): SubscriptionNote | null {
  const row = findRenewed(app.db, renewalOf ?? id)
  if (row === undefined || row.endedAt !== null) return null
  const link = hasStorefront(app) ? { label: 'My account', url: '/account' } : null
  return { text: 'You can end your subscription at any time in your account.', link }
}
