import { day, h, money, showPage } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
import { subscription } from './subscription.js'
import { toneOf } from './words.js'

async function make() {
  const [me, { downloads }, { subscriptions }] = await Promise.all([
    service.me(),
    service.downloads(),
    service.subscriptions()
  ])
  const { user, roles, entitlements, profile, consent } = me
  return h(
    'div',
    { class: 'panels' },
    h(
      'section',
      {},
      h('h2', {}, `Hello, ${user.displayName}`),
      h('p', { class: 'hint' }, user.email),
      h('p', {}, ...roles.serviceRoles.map((role) => h('span', { class: 'state good' }, role))),
      logOut()
    ),
    list('Memberships', entitlements.memberships, membership, 'You have no membership.'),
    list('Subscriptions', subscriptions, subscription, 'You have no subscription.'),
    list('Downloads', downloads, download, 'You have no downloads.'),
    list('Donations', entitlements.donations.donations, donation, 'You have not donated yet.'),
    h('section', {}, h('h2', {}, 'Your profile'), profileForm(user, profile, consent))
  )
}

function list(title, items, toItem, none) {
  return h(
    'section',
    {},
    h('h2', {}, title),
    items.length === 0
      ? h('p', { class: 'hint' }, none)
      : h('ul', { class: 'plain-list' }, ...items.map((item) => h('li', {}, ...toItem(item))))
  )
}

function membership({ planName, status, expiresAt, isPro }) {
  const until = expiresAt === null ? ['for life'] : [status === 'active' ? 'until ' : 'ended ', day(expiresAt)]
  return [
    h('strong', {}, planName),
    ' ',
    h('span', { class: `state ${toneOf(status)}` }, status),
    isPro ? h('span', { class: 'state good' }, 'pro') : null,
    h('div', { class: 'hint' }, ...until)
  ]
}

function download({ name, url, expiresAt }) {
  return [
    h('a', { href: new URL(url, location.href).pathname, download: true }, name),
    h('div', { class: 'hint' }, 'link valid until ', day(expiresAt))
  ]
}

function donation({ amount, currency, campaign, createdAt }) {
  return [
    h('strong', {}, money(amount, currency)),
    campaign === null ? '' : ` for ${campaign}`,
    h('div', { class: 'hint' }, day(createdAt))
  ]
}

function logOut() {
  return h(
    'p',
    {},
    h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => service.logout().then(() => location.assign('/')) },
      'Log out'
    )
  )
}

function profileForm(user, profile, consent) {
  const field = (name, label, value, autocomplete) =>
    h(
      'div',
      { class: 'field' },
      h('label', { for: name }, label),
      h('input', { id: name, name, value: value ?? '', autocomplete })
    )
  const form = h(
    'form',
    { novalidate: true },
    field('displayName', 'Display name', user.displayName, 'name'),
    h(
      'div',
      { class: 'pair' },
      field('firstName', 'First name', profile.firstName, 'given-name'),
      field('lastName', 'Last name', profile.lastName, 'family-name')
    ),
    h(
      'label',
      { class: 'tick' },
      h('input', { type: 'checkbox', name: 'marketingOptIn', checked: consent.marketingOptIn }),
      h('span', {}, 'Email me occasionally about new products')
    ),
    h('button', { type: 'submit', class: 'quiet' }, 'Save'),
    h('p', { role: 'status', class: 'added' })
  )
  onSend(form, async ({ displayName, firstName, lastName, marketingOptIn }) => {
    await service.updateMe({ displayName, firstName: firstName || null, lastName: lastName || null, marketingOptIn })
    form.querySelector('[role=status]').textContent = 'Saved.'
  })
  return form
}

void showPage(make)
