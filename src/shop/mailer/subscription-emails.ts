import { findRenewed } from '../benefits/records.ts'
import type { ShopContext } from '../context.ts'
import type { MailData } from '../mail/queue.ts'
import { subscriptionLink } from '../orders/order-links.ts'
import { itemsOf } from '../orders/find.ts'
import { endSubscriptionUrl } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { wordsOf } from '../settings/language.ts'
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
  const { t, money, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const amount = money(data.amountMinor, data.currency)
  const paidUntil = findRenewed(shop.db, id)?.currentPeriodEnd
  const graceMs = setting(shop.db, 'subscriptions.graceDays') * dayMs
  return {
    subject: t('mail.renewalFailed.subject', { shop: name }),
    opening: [
      t('mail.renewalFailed.text', { amount, names: namesOf(shop, id) }),
      data.nextTryAt === null
        ? t('mail.renewalFailed.last')
        : t('mail.renewalFailed.next', { day: day(data.nextTryAt) })
    ],
    action: { label: t('mail.renewalFailed.button'), url: data.payUrl ?? `${shop.publicUrl()}/account` },
    closing: paidUntil === undefined ? [] : [t('mail.subscription.access', { day: day(paidUntil + graceMs) })],
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
  const { t, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const renewed = findRenewed(shop.db, id)
  if (renewed?.cancelAtPeriodEnd === false) throw new ObsoleteEmailError('the subscription renews again')
  const end = renewed === undefined ? [] : [t('mail.cancelled.ends', { day: day(renewed.currentPeriodEnd) })]
  return {
    subject: t('mail.cancelled.subject', { shop: name }),
    opening: [[t('mail.cancelled.text', { names: namesOf(shop, id) }), ...end].join(' '), t('mail.cancelled.access')],
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
  const { t, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const paidUntil = findRenewed(shop.db, id)?.currentPeriodEnd ?? 0
  const access = paidUntil > now ? [t('mail.subscription.access', { day: day(paidUntil) })] : []
  return {
    subject: t('mail.ended.subject', { shop: name }),
    opening: [
      t('mail.ended.text', { names: namesOf(shop, id) }),
      [...access, t('mail.subscription.noCharge')].join(' ')
    ],
    closing: [],
    links: {}
  }
}

/**
 * The link that ends the subscription of a guest's order.
 *
 * @throws ObsoleteEmailError when the order does not exist, its buyer is erased, or its subscription is in an account
 */
export function endSubscriptionEmail(shop: ShopContext, data: MailData['end_subscription'], now: number): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  if (order.userId !== null) throw new ObsoleteEmailError('the subscription belongs to an account')
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const token = subscriptionLink(shop.keys, order, now)
  return {
    subject: t('mail.end.subject', { shop: name, order: order.id }),
    opening: [t('mail.end.text', { names: namesOf(shop, order.id) }), t('mail.end.open')],
    action: { label: t('mail.end.button'), url: endSubscriptionUrl(shop, token) },
    closing: [t('mail.link30Days')],
    budget: 'counted',
    links: {}
  }
}

/** The products that renew; all products of an order without such a line. */
function namesOf({ db }: ShopContext, orderId: number): string {
  const items = itemsOf(db, orderId)
  const renewing = items.filter(({ grants }) => grants.some(({ kind }) => kind === 'subscription'))
  return (renewing.length > 0 ? renewing : items).map(({ name }) => name).join(', ')
}
