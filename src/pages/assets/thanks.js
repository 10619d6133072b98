import { orderStates } from '../../shop/orders/states.ts'
import { writeCart } from './cart-store.js'
import { h, message, showPage } from './dom.js'
import { orderCard } from './order-card.js'
import { service } from './service.js'
import { session } from './shell.js'

const query = new URLSearchParams(location.search)
const orderId = Number(query.get('orderId') ?? sessionStorage.getItem('shopstead.order'))
/** The result in the address: the shop's own, or Stripe's redirect_status after the bank's page. */
const result = query.get('result') ?? (query.get('redirect_status') === 'succeeded' ? 'success' : 'cancelled')

/** The address proves nothing: a customer's order is looked up, and a guest sees the result in the address. */
async function make() {
  const known = await session
  if (known?.userLoggedIn) {
    const { orders } = await service.orders({ perPage: 100 })
    const order = orders.find(({ id }) => id === orderId)
    if (order !== undefined) return orderStatus(order)
  }
  if (result === 'success') {
    writeCart([])
    return message('Thank you for your order', `Order ${orderId} is paid. The receipt is on its way to your email.`, [
      'Back to the shop',
      '/'
    ])
  }
  if (result === 'pending') {
    writeCart([])
    return message(
      'Your order is waiting',
      `Order ${orderId} is not paid yet. We write to you as soon as the payment arrives.`,
      ['Back to the shop', '/']
    )
  }
  return message('The payment did not go through', 'You have not been charged. Your cart is unchanged.', [
    'Back to the cart',
    '/cart'
  ])
}

function orderStatus(order) {
  const { released, tone, title, text } = orderStates[order.status]
  if (!released) writeCart([])
  const next = released ? { href: '/cart', label: 'Back to the cart' } : { href: '/orders', label: 'My orders' }
  return h(
    'div',
    {},
    h('h2', { class: `tone ${tone}` }, title),
    h('p', {}, text),
    orderCard(order),
    h('p', { class: 'actions' }, h('a', { class: 'button', href: next.href }, next.label))
  )
}

void showPage(make)
