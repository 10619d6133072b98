import { h, minorMoney, percent } from './dom.js'
import { t } from './texts.js'

/**
 * What the affiliate's links led to in the last days: sums, a chart, and the numbers of each day.
 *
 * @param {import('../../client/api-types.ts').AffiliateStats} stats
 * @param {Element | null} chart
 */
export function affiliateStats({ days, totals }, chart) {
  const { clicks, orders, conversionPercent, commissions } = totals
  return h(
    'section',
    { class: 'standing' },
    h('h2', {}, t('affiliate.lastDays', { count: days.length })),
    h(
      'dl',
      { class: 'sums four' },
      sum(t('affiliate.clicks'), clicks),
      sum(t('affiliate.orders'), orders),
      sum(t('affiliate.conversion'), percent(conversionPercent)),
      sum(t('affiliate.commission'), ...amounts(commissions))
    ),
    h('figure', {}, chart, h('figcaption', { class: 'hint' }, t('affiliate.about'))),
    h('details', {}, h('summary', {}, t('affiliate.byDay')), table(days))
  )
}

/** The chart that the server draws; null if it does not answer, because the numbers are below it. */
export async function fetchChart() {
  try {
    const response = await fetch('/referrals/chart.svg')
    if (!response.ok) return null
    const parsed = new DOMParser().parseFromString(await response.text(), 'image/svg+xml')
    return document.importNode(parsed.documentElement, true)
  } catch {
    return null
  }
}

function sum(label, ...values) {
  return h('div', {}, h('dt', {}, label), ...values.map((value) => h('dd', {}, String(value))))
}

function amounts(commissions) {
  return commissions.length === 0
    ? ['–']
    : commissions.map(({ amountMinor, currency }) => minorMoney(amountMinor, currency))
}

function table(days) {
  const busy = days.filter(({ clicks, orders }) => clicks + orders > 0).toReversed()
  if (busy.length === 0) return h('p', { class: 'hint' }, t('affiliate.quiet'))
  const titles = [t('affiliate.day'), t('affiliate.clicks'), t('affiliate.orders'), t('affiliate.commission')]
  const heads = titles.map((title, at) => h('th', { scope: 'col', class: at > 0 ? 'amount' : null }, title))
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('affiliate.byDay') },
    h('table', { class: 'rows' }, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...busy.map(row)))
  )
}

function row({ day, clicks, orders, commissions }) {
  const cells = [clicks, orders, amounts(commissions).join(', ')]
  return h(
    'tr',
    {},
    h('td', {}, h('time', { datetime: day }, utcDay.format(new Date(day)))),
    ...cells.map((cell) => h('td', { class: 'amount' }, String(cell)))
  )
}

const utcDay = new Intl.DateTimeFormat(document.body.dataset.locale, { dateStyle: 'medium', timeZone: 'UTC' })
