import { orderStates } from '../storefront/order-states.ts'
import { day, h, money, ownPicture, picture } from './dom.js'
import { taxRows } from './tax-rows.js'
import { t } from './texts.js'

/**
 * An order: its state, lines and sums. `href` is the address of the page of the order, if the viewer can open it.
 *
 * @param {import('../../client/api-types.ts').Order & {
 *   totals?: import('../../client/api-types.ts').BuyerOrder['totals'],
 *   taxes?: import('../../client/api-types.ts').BuyerOrder['taxes'],
 *   lines?: import('../../client/api-types.ts').OwnOrderLine[],
 *   images?: import('../../client/api-types.ts').BuyerOrder['images']
 * }} order
 * @param {{ href?: string | null }} [options]
 */
export function orderCard(order, { href = null } = {}) {
  const { id, status, createdAt, renewalOf } = order
  const { tone } = orderStates[status]
  const name = t('order.name', { id })
  return h(
    'article',
    { class: 'order', 'aria-labelledby': `order-${id}` },
    h(
      'header',
      {},
      h('h2', { id: `order-${id}` }, href === null ? name : h('a', { href }, name)),
      h('span', { class: `state ${tone}` }, t(`state.${status}.label`))
    ),
    h('p', { class: 'hint' }, day(createdAt), renewalOf === null ? null : `, ${t('order.renewal', { id: renewalOf })}`),
    summary(order)
  )
}

function summary(order) {
  const { id, currency, total, lineItems, lines = lineItems, images } = order
  return h(
    'table',
    { class: 'summary' },
    h('caption', { class: 'unseen' }, t('order.contents', { id })),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, t('order.item')),
        h('th', { scope: 'col', class: 'amount' }, t('order.price'))
      )
    ),
    h('tbody', {}, ...lines.map((line, index) => row(line, currency, images?.[index]))),
    h(
      'tfoot',
      {},
      ...sums(order).map(([label, amount]) => sum(label, amount, currency)),
      sum(t('sum.total'), total, currency, 'total'),
      ...includedTaxes(order).map(([label, amount]) => sum(label, amount, currency))
    )
  )
}

/**
 * A line with its price before the discount, if the order has that, and its picture, if the order has pictures.
 *
 * @param {{ name: string, quantity: number, total: number, unitPrice?: number, productSlug?: string | null }} line
 * @param {string} currency
 * @param {import('../../client/api-types.ts').Image | null} [image]
 */
function row(line, currency, image) {
  const { name, quantity, total, unitPrice = total / quantity, productSlug = null } = line
  const label = h('span', { dir: 'auto' }, name)
  return h(
    'tr',
    {},
    h(
      'td',
      {},
      image === undefined ? null : picture(ownPicture(image), name),
      productSlug === null ? label : h('a', { href: `/products/${productSlug}` }, label),
      quantity > 1 ? h('span', { class: 'quantity' }, ` × ${quantity}`) : null
    ),
    h('td', { class: 'amount' }, money(unitPrice * quantity, currency))
  )
}

/** The sums that lead to the total. Without prices before the discount, the lines contain their share of it. */
function sums(order) {
  const { totals, lines } = order
  if (totals === undefined) return []
  const { discount, shipping, taxIncluded } = totals
  return [
    lines !== undefined && discount > 0 ? [t('sum.discount'), -discount] : null,
    shipping > 0 ? [t('sum.shipping'), shipping] : null,
    ...(taxIncluded ? [] : taxRows(order.taxes ?? [], false))
  ].filter((entry) => entry !== null)
}

/** The taxes that the total contains, which follow it. */
function includedTaxes({ taxes = [], totals }) {
  return totals?.taxIncluded === true ? taxRows(taxes, true) : []
}

/** @param {string | null} [kind] */
function sum(label, amount, currency, kind = null) {
  return h(
    'tr',
    { class: kind },
    h('th', { scope: 'row' }, label),
    h('td', { class: 'amount' }, money(amount, currency))
  )
}
