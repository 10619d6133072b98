import { addressForm, deleteForm, passwordForm, profileForm } from './account-forms.js'
import { day, h, money, showPage } from './dom.js'
import { emailForm } from './email-form.js'
import { service } from './service.js'
import './shell.js'
import { subscription } from './subscription.js'
import { t, withNodes } from './texts.js'
import { labelOf, roleOf, toneOf } from './words.js'

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
      h('h2', {}, t('hello', { name: user.displayName })),
      h('p', { class: 'hint' }, user.email),
      h('p', {}, ...roles.serviceRoles.map((role) => h('span', { class: 'state good' }, roleOf(role)))),
      logOut()
    ),
    list(t('account.memberships'), entitlements.memberships, membership, t('account.noMemberships')),
    subscriptionList(subscriptions, user),
    list(t('account.downloads'), downloads, download, t('account.noDownloads')),
    list(t('account.donations'), entitlements.donations.donations, donation, t('account.noDonations')),
    h('section', {}, h('h2', {}, t('yourProfile')), profileForm(me)),
    h('section', {}, addressForm(address)),
    h('section', {}, h('h2', {}, t('password')), passwordForm()),
    h('section', {}, h('h2', {}, t('email')), emailForm(me, change)),
    h('section', {}, h('h2', {}, t('account.leave')), deleteForm(me))
  )
}

/** Orders of a guest appear once the email is verified. The service sends a link only if it is not. */
function subscriptionList(subscriptions, { email }) {
  const section = list(t('account.subscriptions'), subscriptions, subscription, t('account.noSubscriptions'))
  const news = h('span', { role: 'status' })
  const send = async () => {
    await service.resendVerification(email).catch((error) => void (news.textContent = error.message))
    news.textContent ||= t('account.verifySent')
  }
  const button = h('button', { type: 'button', class: 'plain', onclick: send }, t('account.verify'))
  section.append(h('p', { class: 'hint' }, t('account.guestBefore'), ' ', button, ' ', news))
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
  const isActive = status === 'active'
  const until =
    expiresAt === null
      ? t('account.forLife')
      : withNodes(isActive ? 'account.until' : 'account.endedOn', { day: day(expiresAt) })
  return [
    h('strong', {}, planName),
    ' ',
    h('span', { class: `state ${toneOf(status)}` }, labelOf(status)),
    isPro ? h('span', { class: 'state good' }, t('account.pro')) : null,
    h('div', { class: 'hint' }, until)
  ]
}

function download({ name, url, expiresAt }) {
  return [
    h('a', { href: new URL(url, location.href).pathname, download: true }, name),
    h('div', { class: 'hint' }, withNodes('account.linkUntil', { day: day(expiresAt) }))
  ]
}

function donation({ amount, currency, campaign, createdAt }) {
  return [
    h('strong', {}, money(amount, currency)),
    campaign === null ? '' : ` ${t('account.donationFor', { campaign })}`,
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
      t('logOut')
    )
  )
}

void showPage(make)
