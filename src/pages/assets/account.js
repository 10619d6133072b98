import { addressForm, deleteForm, passwordForm, profileForm } from './account-forms.js'
import { day, h, money, showPage } from './dom.js'
import { emailForm } from './email-form.js'
import { service } from './service.js'
import './shell.js'
import { subscription } from './subscription.js'
import { toneOf } from './words.js'

async function make() {
  const [me, { downloads }, { subscriptions }, address, change] = await Promise.all([
    service.me(),
    service.downloads(),
    service.subscriptions(),
    service.address(),
    service.emailChange()
  ])
  const { user, roles, entitlements } = me
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
    subscriptionList(subscriptions, user),
    list('Downloads', downloads, download, 'You have no downloads.'),
    list('Donations', entitlements.donations.donations, donation, 'You have not donated yet.'),
    h('section', {}, h('h2', {}, 'Your profile'), profileForm(me)),
    h('section', {}, addressForm(address)),
    h('section', {}, h('h2', {}, 'Password'), passwordForm()),
    h('section', {}, h('h2', {}, 'Email'), emailForm(me, change)),
    h('section', {}, h('h2', {}, 'Leave the shop'), deleteForm(me))
  )
}

/** Orders of a guest appear once the email is verified. The service sends a link only if it is not. */
function subscriptionList(subscriptions, { email }) {
  const section = list('Subscriptions', subscriptions, subscription, 'You have no subscription.')
  const news = h('span', { role: 'status' })
  const send = async () => {
    await service.resendVerification(email).catch((error) => void (news.textContent = error.message))
    news.textContent ||= 'If your email is not verified yet, we have sent you a link. Open it, then come back.'
  }
  const button = h('button', { type: 'button', class: 'plain', onclick: send }, 'Verify my email')
  section.append(h('p', { class: 'hint' }, 'Did you order as a guest with this email? ', button, ' ', news))
  return section
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

void showPage(make)
