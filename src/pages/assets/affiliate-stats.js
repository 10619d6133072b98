import { h, minorMoney } from './dom.js'

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
    h('h2', {}, `The last ${days.length} days`),
    h(
      'dl',
      { class: 'sums four' },
      sum('Clicks', clicks),
      sum('Orders', orders),
      sum('Conversion', `${conversionPercent} %`),
      sum('Commission', ...amounts(commissions))
    ),
    h('figure', {}, chart, h('figcaption', { class: 'hint' }, about)),
    h('details', {}, h('summary', {}, 'Numbers by day'), table(days))
  )
}

const about =
  'Days are in UTC. An order counts on the day it was placed, when it is paid and accepted. Conversion is orders for each hundred clicks.'

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
  if (busy.length === 0) return h('p', { class: 'hint' }, 'There were no clicks and no orders.')
  const heads = ['Day', 'Clicks', 'Orders', 'Commission'].map((title, at) =>
    h('th', { scope: 'col', class: at > 0 ? 'amount' : null }, title)
  )
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Numbers by day' },
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

const utcDay = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
