import { orderStates } from '../../shop/orders/states.ts'
import { find, h, message, showPage } from './dom.js'
import { orderAgain } from './order-again.js'
import { orderCard } from './order-card.js'
import { orderDetails } from './order-details.js'
import { service } from './service.js'
import './shell.js'

const id = Number(location.pathname.split('/').at(-1))

async function make() {
  try {
    return show(await service.ownOrder(id))
  } catch (error) {
    if (error.code !== 'NOT_FOUND') throw error
    return message(
      'We cannot find this order',
      'You have no order with this number. It may belong to another account, or you may have ordered as a guest: then our email has the link to your order.',
      ['My orders', '/orders'],
      ['Back to the shop', '/']
    )
  }
}

function show(known) {
  const { order, payUrl } = known
  const { title, text, tone } = wordsFor(known)
  const again = orderAgain(order.lines)
  // As long as the order can be paid, a second one would be a mistake.
  const isOpen = payUrl !== null || order.status === 'pending'
  return h(
    'div',
    { class: 'order-page' },
    h('h2', { class: `tone ${tone}` }, title),
    h('p', {}, text),
    orderCard(order),
    orderDetails(order),
    h('p', { class: 'actions' }, ...actions(known), isOpen ? null : again.button),
    again.place,
    h('p', {}, h('a', { href: '/orders' }, 'All my orders'))
  )
}

function wordsFor({ order, canPay, canCancel }) {
  const { tone, title, text } = orderStates[order.status]
  if (order.status === 'pending' && !canCancel && !canPay)
    return {
      tone,
      title: 'Your bank has not confirmed the payment yet',
      text: 'The payment has started. You don’t need to do anything else: we send you an email with the result.'
    }
  if (order.status === 'on-hold' && canCancel)
    return {
      tone,
      title: 'Your order is waiting for your payment',
      text: 'We will write to you when your payment has arrived.'
    }
  return { tone, title, text }
}

function actions({ order, payUrl, canCancel }) {
  const { released } = orderStates[order.status]
  const own = `/checkout/done/${order.orderToken}`
  const isTransfer = order.status === 'on-hold' && canCancel
  return [
    payUrl === null ? null : h('a', { class: 'button', href: payUrl }, 'Pay now'),
    isTransfer ? h('a', { class: 'button', href: own }, 'How to pay') : null,
    canCancel && !released ? cancelButton(order.orderToken) : null
  ]
}

function cancelButton(token) {
  const button = h('button', { type: 'button', class: 'quiet' }, 'Cancel the order')
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    try {
      await service.cancelOrder(token)
      find('[data-page]').replaceChildren(await make())
      find('main').focus()
    } catch (error) {
      button.after(h('span', { class: 'error', role: 'alert' }, error.message))
      button.removeAttribute('aria-disabled')
    }
  })
  return button
}

void showPage(make)
