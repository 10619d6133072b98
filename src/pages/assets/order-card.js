import { day, h, money } from './dom.js'
import { orderStates } from '../../shop/orders/states.ts'

/** An order; with `withOrigin`, also its attribution. */
export function orderCard(order, { withOrigin = true } = {}) {
  const { id, status, currency, total, createdAt, lineItems, renewalOf } = order
  const { tone, label } = orderStates[status]
  return h(
    'article',
    { class: 'order', 'aria-labelledby': `order-${id}` },
    h('header', {}, h('h2', { id: `order-${id}` }, `Order ${id}`), h('span', { class: `state ${tone}` }, label)),
    h('p', { class: 'hint' }, day(createdAt), renewalOf === null ? null : `, renewal of order ${renewalOf}`),
    h(
      'table',
      { class: 'summary' },
      h('caption', { class: 'unseen' }, `What is in order ${id}`),
      h(
        'thead',
        {},
        h('tr', {}, h('th', { scope: 'col' }, 'Item'), h('th', { scope: 'col', class: 'amount' }, 'Price'))
      ),
      h(
        'tbody',
        {},
        ...lineItems.map(({ name, quantity, total: cost }) =>
          h(
            'tr',
            {},
            h('td', {}, name, quantity > 1 ? h('span', { class: 'quantity' }, ` × ${quantity}`) : null),
            h('td', { class: 'amount' }, money(cost, currency))
          )
        )
      ),
      h(
        'tfoot',
        {},
        h(
          'tr',
          { class: 'total' },
          h('th', { scope: 'row' }, 'Total'),
          h('td', { class: 'amount' }, money(total, currency))
        )
      )
    ),
    withOrigin ? h('details', {}, h('summary', {}, 'Where this order came from'), attribution(order)) : null
  )
}

function attribution(order) {
  const facts = [
    ['Source type', order.orderAttributionSourceType],
    ['Source', order.orderAttributionUtmSource],
    ['Medium', order.orderAttributionUtmMedium],
    ['Campaign', order.orderAttributionUtmCampaign],
    ['Content', order.orderAttributionUtmContent],
    ['Affiliate', order.affiliateRef],
    ['Affiliate campaign', order.affiliateCampaign],
    ['Referral', order.affiliateReferralId],
    [
      'Visit converted',
      order.affiliateVisitConverted === null ? null : order.affiliateVisitConverted ? 'yes' : 'not yet'
    ],
    ['utm_source', order.marketingUtmSource],
    ['utm_medium', order.marketingUtmMedium],
    ['utm_campaign', order.marketingUtmCampaign],
    ['utm_content', order.marketingUtmContent]
  ].filter(([, value]) => value !== null && value !== '')
  return h('dl', {}, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))]))
}
