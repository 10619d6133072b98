import { isShopError } from '../../client/client.ts'
import type { Affiliate, AffiliateBalance, AffiliateStats, Referral } from '../../client/client.ts'
import { chartOf } from './affiliate-chart.ts'
import { statusOf } from './benefits.ts'
import { dayText } from './days.ts'
import { formView, outcomeOf } from './form-view.ts'
import type { Field, Outcome } from './form-view.ts'
import { minorMoney, percent } from './money.ts'
import type { Shown, ShownPage, Site, Visit } from './site.ts'

/** The affiliate account of a customer: its link, numbers and referrals, or the form to apply for one. */
export async function showReferrals(visit: Visit): Promise<Shown> {
  try {
    return await referralsPage(visit, {})
  } catch (error) {
    // The cursor of the address is not one.
    if (isShopError(error, 'VALIDATION_FAILED')) return { redirect: '/referrals' }
    throw error
  }
}

/** Applies for an affiliate account, or accepts the new terms. */
export async function changeReferrals(visit: Visit): Promise<Shown> {
  const { client } = visit
  const form = await visit.form()
  try {
    if (form.get('action') === 'terms') await client.post('/affiliates/terms', { version: form.get('version') ?? '' })
    else
      await client.post('/affiliates/apply', {
        website: form.get('website') || null,
        message: form.get('message') || null,
        marketingOptIn: form.has('marketingOptIn')
      })
    return { redirect: '/referrals' }
  } catch (error) {
    return referralsPage(visit, outcomeOf(error, form))
  }
}

async function referralsPage(visit: Visit, { status = 200, ...outcome }: Outcome): Promise<ShownPage> {
  const { client, site } = visit
  const page = (data: object): ShownPage => ({
    status,
    template: 'referrals',
    title: site.t('myReferrals'),
    data: { isSignedIn: true, apply: null, summary: null, state: null, terms: null, stats: null, list: null, ...data }
  })
  try {
    const { affiliate, balance } = await client.get('/affiliates/me')
    return page({ summary: summaryOf(affiliate, balance, site), ...outcome, ...(await partsOf(visit, affiliate)) })
  } catch (error) {
    if (!isShopError(error, 'AFFILIATE_NOT_FOUND')) throw error
    return page({ apply: applicationForm(site, outcome) })
  }
}

function applicationForm({ t }: Site, outcome: Outcome) {
  const rows: Field[][] = [
    [{ name: 'website', label: t('affiliate.website'), type: 'url', autocomplete: 'url' }],
    [{ name: 'message', label: t('affiliate.how'), type: 'long' }],
    [{ name: 'marketingOptIn', label: t('affiliate.news'), type: 'tick' }]
  ]
  return formView({ action: 'apply', submit: t('affiliate.apply'), rows }, outcome)
}

function summaryOf({ code, status, rate }: Affiliate, balance: AffiliateBalance, site: Site) {
  const amount = (minor: number): string => minorMoney(minor, site, balance.currency)
  const sums = [
    { label: statusOf('pending', site).label, values: [amount(balance.pendingMinor)] },
    { label: statusOf('unpaid', site).label, values: [amount(balance.unpaidMinor)] },
    { label: statusOf('paid', site).label, values: [amount(balance.paidMinor)] }
  ]
  const isActive = status === 'active'
  return {
    status: statusOf(status, site),
    rate: isActive ? site.t('affiliate.rate', { rate: percent(rate, site) }) : null,
    link: isActive ? `${site.publicUrl}/?ref=${code}` : null,
    sums
  }
}

/** The numbers and referrals of an affiliate; otherwise what their state means, or the terms to accept first. */
async function partsOf({ client, site, query }: Visit, { status }: Affiliate): Promise<object> {
  const { t } = site
  const cursor = query.get('cursor')
  try {
    const [referrals, stats] = await Promise.all([
      client.get('/affiliates/referrals', { query: { limit: 20, ...(cursor === null ? {} : { cursor }) } }),
      client.get('/affiliates/stats', { query: { days: 90 } })
    ])
    return { stats: statsOf(stats, site), list: listOf(referrals, cursor, site) }
  } catch (error) {
    if (isShopError(error, 'AFFILIATE_TERMS_REQUIRED')) {
      const version = error.details.requiredVersion
      return { terms: { version, text: t('affiliate.termsText', { version }) } }
    }
    if (!isShopError(error, 'AFFILIATE_NOT_ACTIVE')) throw error
    const state = status === 'active' ? 'inactive' : status
    return { state: { title: t(`affiliate.${state}`), text: t(`affiliate.${state}Text`) } }
  }
}

function statsOf(stats: AffiliateStats, site: Site) {
  const { t } = site
  const { days, totals } = stats
  const busy = days.filter(({ clicks, orders }) => clicks + orders > 0).toReversed()
  return {
    title: t('affiliate.lastDays', { count: days.length }),
    sums: [
      { label: t('affiliate.clicks'), values: [totals.clicks] },
      { label: t('affiliate.orders'), values: [totals.orders] },
      { label: t('affiliate.conversion'), values: [percent(totals.conversionPercent, site)] },
      { label: t('affiliate.commission'), values: amountsOf(totals.commissions, site) }
    ],
    chart: chartOf(stats, site),
    days: busy.map(({ day, clicks, orders, commissions }) => ({
      day,
      text: dayText(day, site, 'medium'),
      cells: [clicks, orders, amountsOf(commissions, site).join(', ')]
    }))
  }
}

function amountsOf(commissions: AffiliateStats['totals']['commissions'], site: Site): string[] {
  if (commissions.length === 0) return ['–']
  return commissions.map(({ amountMinor, currency }) => minorMoney(amountMinor, site, currency))
}

type Page = { referrals: Referral[]; nextCursor: string | null }

function listOf({ referrals, nextCursor }: Page, cursor: string | null, site: Site) {
  return {
    rows: referrals.map(({ id, amountMinor, currency, status, createdAtUtc }) => ({
      id,
      createdAt: createdAtUtc,
      day: dayText(createdAtUtc, site),
      status: statusOf(status, site),
      amount: minorMoney(amountMinor, site, currency)
    })),
    newest: cursor === null ? null : '/referrals#list',
    older: nextCursor === null ? null : `/referrals?cursor=${encodeURIComponent(nextCursor)}#list`
  }
}
