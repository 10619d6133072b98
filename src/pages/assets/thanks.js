import { orderStates } from '../storefront/order-states.ts'
import { writeCart } from './cart-store.js'
import { find, h, message, showPage } from './dom.js'
import { orderCard } from './order-card.js'
import { forgetPlaced, isPlaced, readToken } from './order-token.js'
import { service } from './service.js'
import { session } from './shell.js'
import { t } from './texts.js'

/**
 * @typedef {import('../../client/api-types.ts').BuyerOrder} BuyerOrder
 * @typedef {{ order: BuyerOrder, canPay: boolean, payUrl: string | null, canCancel: boolean }} Known
 */

/** Seconds between two looks at an undecided order. A bank debit takes days, so the page stops asking after a while. */
const pauses = [2, 3, 5, 8, 13, 20, 30, 30, 30, 60, 60, 60, 60, 60, 60]

const token = readToken()

/** Only the shop knows the state of an order. The query of the address proves nothing, so its `result` is not read. */
async function make() {
  if (token === null)
    return message(t('order.unknown'), t('order.unknownText'), [t('link.orders'), '/orders'], [t('link.shop'), '/'])
  const known = await service.order(token)
  void follow(known)
  return show(known)
}

/** @param {Known} known */
function isUndecided({ order }) {
  return order.status === 'pending'
}

/**
 * Shows a change of an undecided order as soon as the shop knows it.
 *
 * @param {Known} known
 */
async function follow(known) {
  let last = known
  for (const seconds of pauses) {
    if (!isUndecided(last)) return
    await seen(seconds)
    const next = await service.order(token).catch(() => last)
    if (stateOf(next) !== stateOf(last)) find('[data-page]').replaceChildren(show(next))
    last = next
  }
}

/** Waits, and then until the page is visible. */
async function seen(seconds) {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

/** @param {Known} known */
function stateOf({ order, canPay, canCancel }) {
  return `${order.status} ${canPay} ${canCancel}`
}

/** @param {Known} known */
function show(known) {
  const { order } = known
  const { title, text, tone } = wordsFor(known)
  // A later visit must not empty the next cart.
  if (isPlaced(token) && isTaken(known)) {
    writeCart([])
    forgetPlaced()
  }
  const receipt =
    orderStates[order.status].paid && order.email !== null ? ` ${t('order.receipt', { email: order.email })}` : ''
  return h(
    'div',
    {},
    h('h2', { class: `tone ${tone}` }, title),
    h('p', {}, `${text}${receipt}`),
    orderCard(order),
    h('p', { class: 'actions' }, ...actions(known))
  )
}

/**
 * The buyer does not need the cart any more: the order is paid, or waits for the bank or a transfer.
 *
 * @param {Known} known
 */
function isTaken({ order, canPay, canCancel }) {
  return order.status === 'pending' ? !canPay && !canCancel : !orderStates[order.status].over
}

/** @param {Known} known */
function wordsFor({ order, canCancel }) {
  const { tone } = orderStates[order.status]
  if (order.status === 'pending' && !canCancel)
    return {
      tone,
      title: t('order.atBank'),
      text: t('order.atBankHere')
    }
  if (order.status === 'on-hold' && canCancel)
    return {
      tone,
      title: t('order.transfer'),
      text: t('order.transferText')
    }
  return { tone, title: t(`state.${order.status}.title`), text: t(`state.${order.status}.text`) }
}

/** @param {Known} known */
function actions(known) {
  const { order, payUrl, canCancel } = known
  const { over } = orderStates[order.status]
  const link = (href, label, look) => h('a', { class: `button ${look}`, href }, label)
  const own = `/checkout/done/${token}`
  return [
    payUrl === null ? null : link(payUrl, t('order.payNow'), ''),
    order.status === 'on-hold' && canCancel ? link(own, t('order.howToPay'), '') : null,
    isUndecided(known) ? link(location.href, t('order.checkAgain'), 'quiet') : null,
    canCancel && !over ? cancelButton() : null,
    over ? link('/cart', t('order.backToCart'), payUrl === null ? '' : 'quiet') : myOrders(),
    isUndecided(known) ? null : link(own, t('order.page'), 'quiet')
  ]
}

/** A guest has no list of orders. */
function myOrders() {
  const place = h('a', { class: 'button quiet', href: '/' }, t('link.shop'))
  void session.then((known) => {
    if (known?.userLoggedIn === true) place.replaceWith(h('a', { class: 'button', href: '/orders' }, t('link.orders')))
  })
  return place
}

function cancelButton() {
  const button = h('button', { type: 'button', class: 'quiet' }, t('order.cancel'))
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    try {
      find('[data-page]').replaceChildren(show(await service.cancelOrder(token)))
      find('main').focus()
    } catch (error) {
      button.after(h('span', { class: 'error', role: 'alert' }, error.message))
      button.removeAttribute('aria-disabled')
    }
  })
  return button
}

void showPage(make)
