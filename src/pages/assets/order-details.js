import { day, h } from './dom.js'
import { t } from './texts.js'

/**
 * Where the order goes, what was shipped of it, and its invoice; nothing for what it does not have.
 *
 * @param {import('../../client/api-types.ts').OwnOrder} order
 */
export function orderDetails(order) {
  const { email, shipments, shippingAddress, billingAddress, invoiceUrl } = order
  const parts = [
    shipments.length === 0 ? null : section(t('order.shipped'), h('ul', {}, ...shipments.map(shipment))),
    shippingAddress === null ? null : section(t('order.shippingAddress'), address(shippingAddress)),
    billingAddress === null ? null : section(t('order.billingAddress'), address(billingAddress)),
    email === null ? null : section(t('order.email'), h('p', {}, email)),
    invoiceUrl === null
      ? null
      : section(t('order.invoice'), h('p', {}, h('a', { href: invoiceUrl }, t('order.openInvoice'))))
  ]
  return h('div', { class: 'panels' }, ...parts)
}

function section(title, content) {
  return h('section', {}, h('h2', {}, title), content)
}

function shipment({ shippedAt, carrier, tracking, url, lines }) {
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  const how = [carrier, tracking].filter((part) => part !== null).join(' ')
  return h(
    'li',
    {},
    day(shippedAt),
    `: ${goods}`,
    url === null
      ? how !== '' && ` (${how})`
      : [
          '. ',
          h(
            'a',
            { href: url, rel: 'noreferrer' },
            carrier === null ? t('order.trackParcel') : t('order.track', { carrier })
          )
        ]
  )
}

const countryNames = new Intl.DisplayNames(document.body.dataset.locale, { type: 'region', fallback: 'code' })

/**
 * An address as the buyer typed it, one part a line.
 *
 * @param {import('../../client/api-types.ts').Address} parts
 */
function address(parts) {
  const { firstName, lastName, company, address1, address2, postcode, city, state, country, phone } = parts
  const joined = (...parts) => parts.filter(Boolean).join(' ')
  const lines = [
    joined(firstName, lastName),
    company,
    address1,
    address2,
    joined(postcode, city),
    state,
    countryName(country),
    phone
  ].filter(Boolean)
  return h('address', {}, ...lines.map((line) => h('span', { dir: 'auto' }, line)))
}

function countryName(code) {
  return /^[A-Z]{2}$/.test(code ?? '') ? countryNames.of(code) : code
}
