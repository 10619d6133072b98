import { affiliateStats, fetchChart } from './affiliate-stats.js'
import { copyLink } from './copy-link.js'
import { day, h, message, minorMoney, showPage } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
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
    h('p', {}, 'Your affiliate account: ', state),
    status === 'active'
      ? [
          h('p', {}, 'You earn ', h('strong', {}, `${rate} %`), ' of each order that comes through your link.'),
          copyLink(link)
        ]
      : null,
    h('dl', { class: 'sums' }, ...sums)
  )
}

/** What it means, and what happens next. */
const notActive = {
  pending: [
    'Your application is being reviewed',
    'We send you an email with the decision. If we accept it, you find your link and your referrals here.'
  ],
  rejected: [
    'Your application was not accepted',
    'You do not have a link, and you do not earn from orders. If you have questions, please contact us.'
  ],
  inactive: [
    'Your account is not active',
    'Your link does not earn from new orders any more. You keep what you have earned. To become active again, please contact us.'
  ]
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
      return message(...(notActive[affiliate.status] ?? notActive.inactive), ['Back to the shop', '/'])
    if (error.code === 'AFFILIATE_TERMS_REQUIRED') return terms(error)
    throw error
  }
}

function table({ referrals, nextCursor }) {
  if (referrals.length === 0)
    return message('No referrals yet', 'Share your link. Orders that people place through it will appear here.', [
      'Back to the shop',
      '/'
    ])
  const body = h('tbody', {}, ...referrals.map(row))
  const more = h('button', { type: 'button', class: 'quiet' }, 'Show older referrals')
  let cursor = nextCursor
  more.hidden = cursor === null
  more.addEventListener('click', async () => {
    const older = await service.referrals({ limit: 20, cursor })
    cursor = older.nextCursor
    body.append(...older.referrals.map(row))
    more.hidden = cursor === null
  })
  const head = h(
    'tr',
    {},
    ...['Referral', 'Day', 'Status', 'Amount'].map((title, at) =>
      h('th', { scope: 'col', class: at === 3 ? 'amount' : null }, title)
    )
  )
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Referrals' },
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
    h('h2', {}, 'New terms'),
    h('p', {}, `Please accept the terms of ${version} to see your referrals.`),
    h('p', { class: 'actions' }, h('button', { type: 'button', onclick: accept }, 'I accept them'))
  )
}

function application() {
  const form = h(
    'form',
    { class: 'narrow', novalidate: true },
    h('p', {}, 'Send people to this shop and earn a share of what they buy.'),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'website' }, 'Your website (optional)'),
      h('input', { id: 'website', name: 'website', type: 'url', autocomplete: 'url' })
    ),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'message' }, 'How would you tell people of us? (optional)'),
      h('textarea', { id: 'message', name: 'message', rows: '4' })
    ),
    h(
      'label',
      { class: 'tick' },
      h('input', { type: 'checkbox', name: 'marketingOptIn' }),
      h('span', {}, 'Write to me about news for partners')
    ),
    h('button', { type: 'submit' }, 'Become an affiliate')
  )
  onSend(form, async ({ website, message: text, marketingOptIn }) => {
    await service.applyAsAffiliate({ website: website || null, message: text || null, marketingOptIn })
    await showPage(make)
  })
  return form
}

void showPage(make)
