import { affiliateStats, fetchChart } from './affiliate-stats.js'
import { copyLink } from './copy-link.js'
import { day, h, message, minorMoney, percent, showPage } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
import { t, withNodes } from './texts.js'
import { labelOf, toneOf } from './words.js'

async function make() {
  try {
    const { affiliate, balance } = await service.affiliate()
    return h('div', {}, affiliateSummary(affiliate, balance), await rows(affiliate))
  } catch (error) {
    if (error.code !== 'AFFILIATE_NOT_FOUND') throw error
    return application()
  }
}

function affiliateSummary({ code, status, rate }, { currency, pendingMinor, unpaidMinor, paidMinor }) {
  const link = `${location.origin}/?ref=${code}`
  const sum = (label, amount) => h('div', {}, h('dt', {}, label), h('dd', {}, minorMoney(amount, currency)))
  const state = h('span', { class: `state ${toneOf(status)}` }, labelOf(status))
  const sums = [
    sum(labelOf('pending'), pendingMinor),
    sum(labelOf('unpaid'), unpaidMinor),
    sum(labelOf('paid'), paidMinor)
  ]
  return h(
    'section',
    { class: 'standing' },
    h('p', {}, t('affiliate.account'), ' ', state),
    status === 'active'
      ? [h('p', {}, withNodes('affiliate.rate', { rate: h('strong', {}, percent(rate)) })), copyLink(link)]
      : null,
    h('dl', { class: 'sums' }, ...sums)
  )
}

/** What it means, and what happens next. */
const notActive = {
  pending: [t('affiliate.pending'), t('affiliate.pendingText')],
  rejected: [t('affiliate.rejected'), t('affiliate.rejectedText')],
  inactive: [t('affiliate.inactive'), t('affiliate.inactiveText')]
}

async function rows(affiliate) {
  try {
    const [referrals, stats, chart] = await Promise.all([
      service.referrals({ limit: 20 }),
      service.affiliateStats({ days: 90 }),
      fetchChart()
    ])
    return h('div', {}, affiliateStats(stats, chart), table(referrals))
  } catch (error) {
    if (error.code === 'AFFILIATE_NOT_ACTIVE')
      return message(...(notActive[affiliate.status] ?? notActive.inactive), [t('link.shop'), '/'])
    if (error.code === 'AFFILIATE_TERMS_REQUIRED') return terms(error)
    throw error
  }
}

function table({ referrals, nextCursor }) {
  if (referrals.length === 0) return message(t('affiliate.none'), t('affiliate.noneText'), [t('link.shop'), '/'])
  const body = h('tbody', {}, ...referrals.map(row))
  const more = h('button', { type: 'button', class: 'quiet' }, t('affiliate.older'))
  let cursor = nextCursor
  more.hidden = cursor === null
  more.addEventListener('click', async () => {
    const older = await service.referrals({ limit: 20, cursor })
    cursor = older.nextCursor
    body.append(...older.referrals.map(row))
    more.hidden = cursor === null
  })
  const titles = [t('affiliate.referral'), t('affiliate.day'), t('affiliate.status'), t('affiliate.amount')]
  const head = h(
    'tr',
    {},
    ...titles.map((title, at) => h('th', { scope: 'col', class: at === 3 ? 'amount' : null }, title))
  )
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('affiliate.table') },
      h('table', { class: 'rows' }, h('thead', {}, head), body)
    ),
    h('p', { class: 'actions' }, more)
  )
}

function row({ id, amountMinor, currency, status, createdAtUtc }) {
  return h(
    'tr',
    {},
    h('td', {}, String(id)),
    h('td', {}, day(createdAtUtc)),
    h('td', {}, h('span', { class: `state ${toneOf(status)}` }, labelOf(status))),
    h('td', { class: 'amount' }, minorMoney(amountMinor, currency))
  )
}

function terms(error) {
  const version = error.details.requiredVersion
  const accept = async () => {
    await service.acceptTerms(version)
    await showPage(make)
  }
  return h(
    'div',
    { class: 'empty' },
    h('h2', {}, t('affiliate.newTerms')),
    h('p', {}, t('affiliate.termsText', { version })),
    h('p', { class: 'actions' }, h('button', { type: 'button', onclick: accept }, t('affiliate.acceptTerms')))
  )
}

function application() {
  const form = h(
    'form',
    { class: 'narrow', novalidate: true },
    h('p', {}, t('affiliate.invite')),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'website' }, t('affiliate.website')),
      h('input', { id: 'website', name: 'website', type: 'url', autocomplete: 'url' })
    ),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'message' }, t('affiliate.how')),
      h('textarea', { id: 'message', name: 'message', rows: '4' })
    ),
    h(
      'label',
      { class: 'tick' },
      h('input', { type: 'checkbox', name: 'marketingOptIn' }),
      h('span', {}, t('affiliate.news'))
    ),
    h('button', { type: 'submit' }, t('affiliate.apply'))
  )
  onSend(form, async ({ website, message: text, marketingOptIn }) => {
    await service.applyAsAffiliate({ website: website || null, message: text || null, marketingOptIn })
    await showPage(make)
  })
  return form
}

void showPage(make)
