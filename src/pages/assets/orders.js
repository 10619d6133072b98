import { h, message, showPage } from './dom.js'
import { orderCard } from './order-card.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

const card = (order) => orderCard(order, { href: `/orders/${order.id}` })

async function make(page = 1) {
  const { orders, pagination } = await service.orders({ page, perPage: 10 })
  if (pagination.total === 0) return message(t('orders.none'), t('orders.noneText'), [t('link.browse'), '/'])
  const list = h('div', { class: 'orders' }, ...orders.map(card))
  const more = h('button', { type: 'button', class: 'quiet' }, t('orders.older'))
  let last = page
  more.addEventListener('click', async () => {
    const older = await service.orders({ page: ++last, perPage: 10 })
    const cards = older.orders.map(card)
    list.append(...cards)
    more.hidden = last >= older.pagination.totalPages
    cards[0]?.querySelector('a')?.focus()
  })
  more.hidden = pagination.totalPages <= page
  return h('div', {}, list, h('p', { class: 'actions' }, more))
}

void showPage(make)
