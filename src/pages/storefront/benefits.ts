import type { Affiliate, Download, Me, Membership, OwnSubscription, Referral } from '../../client/client.ts'
import { dayText } from './days.ts'
import { money } from './money.ts'
import type { Tone } from './order-states.ts'
import type { Site } from './site.ts'

type Status = (Membership | OwnSubscription | Affiliate | Referral)['status']

const tones: Readonly<Record<Status, Tone>> = {
  active: 'good',
  past_due: 'bad',
  cancelled: 'bad',
  expired: 'bad',
  pending: 'wait',
  unpaid: 'good',
  paid: 'good',
  inactive: 'wait',
  rejected: 'bad'
}

/** The word and the colour for the status of a membership, a subscription, an affiliate or a referral. */
export function statusOf(status: Status, { t }: Site): { label: string; tone: Tone } {
  return { label: t(`status.${status}`), tone: tones[status] }
}

const roles = ['member', 'pro', 'affiliate', 'admin'] as const

/** `ending` is the id of the subscription that the page asks about before it ends. */
type Facts = { me: Me; downloads: Download[]; subscriptions: OwnSubscription[]; ending: string | null }

/** What belongs to a customer: roles, memberships, subscriptions, downloads and donations. */
export function benefitsOf({ me, downloads, subscriptions, ending }: Facts, site: Site) {
  const { t } = site
  const { memberships, donations } = me.entitlements
  return {
    roles: me.roles.serviceRoles.map((role) => {
      const known = roles.find((each) => each === role)
      return known === undefined ? role : t(`role.${known}`)
    }),
    memberships: memberships.map((membership) => membershipView(membership, site)),
    subscriptions: subscriptions.map((each) => subscriptionView(each, ending === String(each.id), site)),
    downloads: downloads.map(({ name, url, expiresAt }) => ({
      name,
      href: pathOf(url),
      note: t('account.linkUntil', { day: dayText(expiresAt, site) })
    })),
    donations: donations.donations.map(({ amount, currency, campaign, createdAt }) => ({
      amount: money(amount, site, currency),
      campaign: campaign === null ? '' : t('account.donationFor', { campaign }),
      note: dayText(createdAt, site)
    }))
  }
}

/** Only the path, because the page may be open under another host name than the public URL. */
function pathOf(url: string): string {
  return new URL(url, 'http://this.invalid').pathname
}

function membershipView({ planName, status, expiresAt, isPro }: Membership, site: Site) {
  const { t } = site
  const day = expiresAt === null ? '' : dayText(expiresAt, site)
  const until =
    expiresAt === null ? t('account.forLife') : t(status === 'active' ? 'account.until' : 'account.endedOn', { day })
  return { name: planName, status: statusOf(status, site), isPro, note: until }
}

function subscriptionView(subscription: OwnSubscription, isEnding: boolean, site: Site) {
  const { t } = site
  const { id, name, status, interval, amount, currency, currentPeriodEnd, canCancel, manageUrl } = subscription
  const price = t(`subscription.${interval}`, { amount: money(amount, site, currency) })
  const access =
    status === 'past_due' ? t('subscription.now') : t('subscription.access', { day: dayText(currentPeriodEnd, site) })
  return {
    id,
    name,
    status: statusOf(status, site),
    note: `${price}, ${nextOf(subscription, site)}`,
    manage: manageUrl === null ? null : pathOf(manageUrl),
    canCancel,
    question: isEnding && canCancel ? `${t('subscription.confirm')} ${access} ${t('subscription.noCharge')}` : null
  }
}

function nextOf({ status, nextPaymentAt, currentPeriodEnd }: OwnSubscription, site: Site): string {
  const { t } = site
  if (nextPaymentAt !== null) return t('subscription.next', { day: dayText(nextPaymentAt, site) })
  if (status === 'past_due') return t('subscription.unpaid')
  const day = dayText(currentPeriodEnd, site)
  return t(status === 'active' ? 'subscription.endsOn' : 'subscription.endedOn', { day })
}
