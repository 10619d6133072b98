import { orderStates } from '../../shop/orders/states.ts'
import { writeCart } from './cart-store.js'
import { find, h, message, showPage } from './dom.js'
import { orderCard } from './order-card.js'
import { forgetPlaced, isPlaced, readToken } from './order-token.js'
import { service } from './service.js'
import { session } from './shell.js'

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
    return message(
      'We cannot show this order',
      'The address of this page has no order. You find the link to your order in our email.',
      ['My orders', '/orders'],
      ['Back to the shop', '/']
    )
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
  const receipt = orderStates[order.status].paid && order.email !== null ? ` The receipt goes to ${order.email}.` : ''
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
  return order.status === 'pending' ? !canPay && !canCancel : !orderStates[order.status].released
}

/** @param {Known} known */
function wordsFor({ order, canCancel }) {
  const state = orderStates[order.status]
  if (order.status === 'pending' && !canCancel)
    return {
      tone: state.tone,
      title: 'Your bank has not confirmed the payment yet',
      text: 'The payment has started. You don’t need to do anything else: this page shows the result, and we send you an email.'
    }
  if (order.status === 'on-hold' && canCancel)
    return {
      tone: state.tone,
      title: 'Your order is waiting for your payment',
      text: 'We will write to you when your payment has arrived.'
    }
  return state
}

/** @param {Known} known */
function actions(known) {
  const { order, payUrl, canCancel } = known
  const { released } = orderStates[order.status]
  const link = (href, label, look) => h('a', { class: `button ${look}`, href }, label)
  const own = `/checkout/done/${token}`
  return [
    payUrl === null ? null : link(payUrl, 'Pay now', ''),
    order.status === 'on-hold' && canCancel ? link(own, 'How to pay', '') : null,
    isUndecided(known) ? link(location.href, 'Check again', 'quiet') : null,
    canCancel && !released ? cancelButton() : null,
    released ? link('/cart', 'Back to the cart', payUrl === null ? '' : 'quiet') : myOrders(),
    isUndecided(known) ? null : link(own, 'Page of the order', 'quiet')
  ]
}

/** A guest has no list of orders. */
function myOrders() {
  const place = h('a', { class: 'button quiet', href: '/' }, 'Back to the shop')
  void session.then((known) => {
    if (known?.userLoggedIn === true) place.replaceWith(h('a', { class: 'button', href: '/orders' }, 'My orders'))
  })
  return place
}

function cancelButton() {
  const button = h('button', { type: 'button', class: 'quiet' }, 'Cancel the order')
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
