import { isShopError } from '../../client/client.ts'
import type { Affiliate, AffiliateBalance, AffiliateStats, Referral } from '../../client/client.ts'
import { statusOf } from './account-page.ts'
import { dayText, minorMoney, percent } from '../../platform/texts/languages.ts'
import { formView, outcomeOf } from './form-view.ts'
import type { Field, Outcome } from './form-view.ts'
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

/** Applies for an affiliate account, accepts the new terms, or makes a link. */
export async function changeReferrals(visit: Visit): Promise<Shown> {
  const { client } = visit
  const form = await visit.form()
  try {
    if (form.get('action') === 'link') return await referralsPage(visit, await madeLink(visit, form))
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

type Made = Outcome & { link?: string | null }

/** A link to a page of the shop, by what the affiliate typed. */
async function madeLink({ client }: Visit, form: URLSearchParams): Promise<Made> {
  const [to, campaign] = [form.get('to')?.trim(), form.get('campaign')?.trim()]
  const query = { ...(to ? { to } : {}), ...(campaign ? { campaign } : {}) }
  const { url } = await client.get('/affiliates/link', { query })
  return { typed: Object.fromEntries(form), link: url }
}

async function referralsPage(visit: Visit, { status = 200, link = null, ...outcome }: Made): Promise<ShownPage> {
  const { client, site } = visit
  const page = (data: object): ShownPage => ({
    status,
    template: 'referrals',
    title: site.t('myReferrals'),
    data: { isSignedIn: true, ...nothing, ...data }
  })
  try {
    const own = await client.get('/affiliates/me')
    const [parts, payouts] = await Promise.all([partsOf(visit, own.affiliate), payoutsOf(visit)])
    const isLink = outcome.typed?.['action'] === 'link'
    const form = own.link === null ? {} : { tool: { form: linkForm(site, isLink ? outcome : {}), link } }
    return page({ summary: summaryOf(own, site), error: isLink ? null : outcome.error, ...form, ...parts, payouts })
  } catch (error) {
    if (!isShopError(error, 'AFFILIATE_NOT_FOUND')) throw error
    return page({ apply: applicationForm(site, outcome) })
  }
}

const nothing = {
  apply: null,
  summary: null,
  tool: null,
  state: null,
  terms: null,
  stats: null,
  list: null,
  payouts: null,
  error: null
}

function linkForm({ t }: Site, outcome: Outcome) {
  const rows: Field[][] = [
    [{ name: 'to', label: t('affiliate.linkTo'), hint: t('affiliate.linkToHint') }],
    [{ name: 'campaign', label: t('affiliate.campaign'), hint: t('affiliate.campaignHint') }]
  ]
  return formView(
    { action: 'link', submit: t('affiliate.makeLink'), rows, to: '/referrals#link', isQuiet: true },
    outcome
  )
}

function applicationForm({ t }: Site, outcome: Outcome) {
  const rows: Field[][] = [
    [{ name: 'website', label: t('affiliate.website'), type: 'url', autocomplete: 'url' }],
    [{ name: 'message', label: t('affiliate.how'), type: 'long' }],
    [{ name: 'marketingOptIn', label: t('affiliate.news'), type: 'tick' }]
  ]
  return formView({ action: 'apply', submit: t('affiliate.apply'), rows }, outcome)
}

type Own = { affiliate: Affiliate; balance: AffiliateBalance; link: string | null; coupons: string[] }

function summaryOf({ affiliate: { status, rate }, balance, link, coupons }: Own, site: Site) {
  const amount = (minor: number): string => minorMoney(minor, site, balance.currency)
  const sums = [
    { label: statusOf('pending', site).label, values: [amount(balance.pendingMinor)] },
    { label: statusOf('unpaid', site).label, values: [amount(balance.unpaidMinor)] },
    { label: statusOf('paid', site).label, values: [amount(balance.paidMinor)] }
  ]
  return {
    status: statusOf(status, site),
    rate: site.t('affiliate.rate', { rate: percent(rate, site) }),
    coupons: coupons.join(', '),
    link,
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
    rows: referrals.map(({ id, amountMinor, currency, status, createdAtUtc, reason, note }) => ({
      id,
      createdAt: createdAtUtc,
      day: dayText(createdAtUtc, site),
      status: statusOf(status, site),
      why: [reason === undefined ? '' : site.t(`affiliate.reason.${reason}`), note ?? ''].filter((text) => text !== ''),
      amount: minorMoney(amountMinor, site, currency)
    })),
    newest: cursor === null ? null : '/referrals#list',
    older: nextCursor === null ? null : `/referrals?cursor=${encodeURIComponent(nextCursor)}#list`
  }
}

/** The payouts of the page, also while the account is not active. */
async function payoutsOf({ client, site, query }: Visit) {
  const cursor = query.get('payouts')
  const { payouts, nextCursor } = await client.get('/affiliates/payouts', {
    query: { limit: 10, ...(cursor === null ? {} : { cursor }) }
  })
  if (payouts.length === 0) return null
  return {
    rows: payouts.map(({ id, amountMinor, currency, state, reference, createdAtUtc, statement }) => ({
      id,
      createdAt: createdAtUtc,
      day: dayText(createdAtUtc, site),
      status: { label: site.t(`affiliate.payout.${state}`), tone: payoutTones[state] },
      reference: reference ?? '',
      amount: minorMoney(amountMinor, site, currency),
      statement
    })),
    newest: cursor === null ? null : '/referrals#payouts',
    older: nextCursor === null ? null : `/referrals?payouts=${encodeURIComponent(nextCursor)}#payouts`
  }
}

const payoutTones = { paid: 'good', failed: 'bad' } as const

type Day = AffiliateStats['days'][number]
/** A row of bars, one for each day. `top` and `height` are those of the highest bar. */
type Row = { name: 'clicks' | 'orders'; top: number; height: number }

const width = 320
const height = 190
const rows: readonly Row[] = [
  { name: 'clicks', top: 20, height: 80 },
  { name: 'orders', top: 128, height: 34 }
]

/** The clicks and orders of an affiliate day by day as bars, in SVG. The colours come from the page's style. */
export function chartOf(stats: AffiliateStats, site: Site): string {
  const { from, to, days } = stats
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="chart-title chart-text">
<title id="chart-title">${site.t('chart.title')}</title>
<desc id="chart-text">${describe(stats, site)}</desc>
${rows.map((row) => bars(row, days, site)).join('\n')}
<text x="0" y="${height - 6}">${dayText(from, site, 'short')}</text>
<text x="${width}" y="${height - 6}" text-anchor="end">${dayText(to, site, 'short')}</text>
</svg>
`
}

function bars({ name, top, height: highest }: Row, days: readonly Day[], { t }: Site): string {
  const most = Math.max(0, ...days.map((day) => day[name]))
  const bottom = top + highest
  const step = width / days.length
  const path = days
    .map((day, index) => {
      if (day[name] === 0) return ''
      // One order beside a thousand must still be seen.
      const tall = Math.max(2, (day[name] / most) * highest)
      const bar = step * 0.75
      return `M${round(index * step)} ${bottom}v${round(-tall)}h${round(bar)}v${round(tall)}z`
    })
    .join('')
  return `<text x="0" y="${top - 7}">${t(`affiliate.${name}`)}</text>
<text x="${width}" y="${top - 7}" text-anchor="end">${most === 0 ? t('chart.none') : t('chart.most', { count: most })}</text>
<path class="${name}" d="${path}"/>
<path class="axis" d="M0 ${bottom}h${width}"/>`
}

const round = (number: number): number => Math.round(number * 100) / 100

function describe({ from, to, days, totals }: AffiliateStats, site: Site): string {
  const { t } = site
  const best = days.reduce<Day | null>((most, day) => (day.clicks > (most?.clicks ?? 0) ? day : most), null)
  const sums = {
    from: dayText(from, site),
    to: dayText(to, site),
    clicks: t('chart.clicks', { count: totals.clicks }),
    orders: t('chart.orders', { count: totals.orders })
  }
  const peak = best === null ? '' : ` ${t('chart.peak', { count: best.clicks, day: dayText(best.day, site) })}`
  return `${t('chart.text', sums)}${peak}`
}
