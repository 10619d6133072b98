import { formatMoney } from '../../platform/money.ts'
import { findRenewed } from '../benefits/records.ts'
import type { ShopContext } from '../context.ts'
import type { MailData } from '../mail/queue.ts'
import { itemsOf } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { formatDay } from './email-times.ts'
import { getOrderWithEmail } from './order-emails.ts'

const dayMs = 24 * 60 * 60_000

/**
 * The notice of a failed try to charge a renewal, with a link to pay with another card: the gateway's page of the
 * invoice, or the account page if there is none.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function renewalFailedEmail(shop: ShopContext, data: MailData['renewal_failed']): Email {
  const { id } = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const amount = formatMoney(data.amountMinor, data.currency)
  const paidUntil = findRenewed(shop.db, id)?.currentPeriodEnd
  const graceMs = setting(shop.db, 'subscriptions.graceDays') * dayMs
  return {
    subject: `A payment for your subscription at ${name} did not go through`,
    opening: [
      `We could not charge ${amount} for your subscription to ${namesOf(shop, id)}.`,
      data.nextTryAt === null ? 'This was the last try.' : `We try again on ${formatDay(data.nextTryAt)}.`
    ],
    action: { label: 'Pay with another card', url: data.payUrl ?? `${shop.publicUrl()}/account` },
    closing: paidUntil === undefined ? [] : [`You keep your access until ${formatDay(paidUntil + graceMs)}.`],
    links: {}
  }
}

/**
 * The confirmation that a subscription ends with the paid period.
 *
 * @throws ObsoleteEmailError when the order does not exist, its buyer is erased, or the subscription renews again
 */
export function subscriptionCancelledEmail(shop: ShopContext, data: MailData['subscription_cancelled']): Email {
  const { id } = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const renewed = findRenewed(shop.db, id)
  if (renewed?.cancelAtPeriodEnd === false) throw new ObsoleteEmailError('the subscription renews again')
  const end = renewed === undefined ? '' : ` It ends on ${formatDay(renewed.currentPeriodEnd)}.`
  return {
    subject: `Your subscription at ${name} is cancelled`,
    opening: [
      `Your subscription to ${namesOf(shop, id)} is cancelled.${end}`,
      'You keep your access until then. You will not be charged again.'
    ],
    closing: [],
    links: {}
  }
}

/**
 * The notice that a subscription has ended.
 *
 * @throws ObsoleteEmailError when the order does not exist or its buyer is erased
 */
export function subscriptionEndedEmail(shop: ShopContext, data: MailData['subscription_ended'], now: number): Email {
  const { id } = getOrderWithEmail(shop, data.orderId)
  const name = setting(shop.db, 'shop.name')
  const paidUntil = findRenewed(shop.db, id)?.currentPeriodEnd ?? 0
  const access = paidUntil > now ? [`You keep your access until ${formatDay(paidUntil)}.`] : []
  return {
    subject: `Your subscription at ${name} has ended`,
    opening: [
      `Your subscription to ${namesOf(shop, id)} has ended.`,
      [...access, 'You will not be charged again.'].join(' ')
    ],
    closing: [],
    links: {}
  }
}

/** The products that renew; all products of an order without such a line. */
function namesOf({ db }: ShopContext, orderId: number): string {
  const items = itemsOf(db, orderId)
  const renewing = items.filter(({ grants }) => grants.some(({ kind }) => kind === 'subscription'))
  return (renewing.length > 0 ? renewing : items).map(({ name }) => name).join(', ')
}
