import { orderStates } from '../storefront/order-states.ts'
import { find, h, message, showPage } from './dom.js'
import { orderAgain } from './order-again.js'
import { orderCard } from './order-card.js'
import { orderDetails } from './order-details.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

const id = Number(location.pathname.split('/').at(-1))

async function make() {
  try {
    return show(await service.ownOrder(id))
  } catch (error) {
    if (error.code !== 'NOT_FOUND') throw error
    return message(t('order.notFound'), t('order.notFoundText'), [t('link.orders'), '/orders'], [t('link.shop'), '/'])
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
    h('p', {}, h('a', { href: '/orders' }, t('order.all')))
  )
}

/** @param {{ order: import('../../client/api-types.ts').OwnOrder, canPay: boolean, canCancel: boolean }} known */
function wordsFor({ order, canPay, canCancel }) {
  const { tone } = orderStates[order.status]
  if (order.status === 'pending' && !canCancel && !canPay)
    return {
      tone,
      title: t('order.atBank'),
      text: t('order.atBankByEmail')
    }
  if (order.status === 'on-hold' && canCancel)
    return {
      tone,
      title: t('order.transfer'),
      text: t('order.transferText')
    }
  return { tone, title: t(`state.${order.status}.title`), text: t(`state.${order.status}.text`) }
}

function actions({ order, payUrl, canCancel }) {
  const { over } = orderStates[order.status]
  const own = `/checkout/done/${order.orderToken}`
  const isTransfer = order.status === 'on-hold' && canCancel
  return [
    payUrl === null ? null : h('a', { class: 'button', href: payUrl }, t('order.payNow')),
    isTransfer ? h('a', { class: 'button', href: own }, t('order.howToPay')) : null,
    canCancel && !over ? cancelButton(order.orderToken) : null
  ]
}

function cancelButton(token) {
  const button = h('button', { type: 'button', class: 'quiet' }, t('order.cancel'))
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
