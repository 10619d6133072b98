import { h, money } from './dom.js'
import { taxRows } from './tax-rows.js'
import { t } from './texts.js'

/** The totals of the cart. */
export function createTotals() {
  const element = h('dl', { class: 'totals' })
  let shown = ''

  /** Shows the sums of a quote. */
  function show({ currency, subtotal, discount, shipping, tax, total }) {
    const taxes = taxRows(tax.lines, tax.included).map(([label, amount]) => ['tax', label, amount])
    const sums = [
      ...(subtotal === total ? [] : [['subtotal', t('sum.subtotal'), subtotal]]),
      ...(discount === 0 ? [] : [['discount', t('sum.discount'), -discount]]),
      ...(shipping.amount === 0 ? [] : [['shipping', t('sum.shipping'), shipping.amount]]),
      ...(tax.included ? [] : taxes),
      ['total', t('sum.total'), total],
      ...(tax.included ? taxes : [])
    ]
    shown = money(total, currency)
    element.removeAttribute('data-old')
    element.replaceChildren(
      ...sums.map(([name, label, amount]) =>
        h('div', { class: name }, h('dt', {}, label), h('dd', { 'data-sum': name }, money(amount, currency)))
      )
    )
  }

  return {
    element,
    show,
    /** Shows the sum of the stored prices, until the shop has answered or if it does not answer. */
    showStored(cart) {
      const [{ currency }] = cart
      const total = cart.reduce((sum, { amount, quantity }) => sum + amount * quantity, 0)
      const tax = { included: true, lines: [] }
      show({ currency, subtotal: total, discount: 0, total, shipping: { amount: 0 }, tax })
    },
    /** Marks the totals as old, until the next ones are shown. */
    markOld: () => element.toggleAttribute('data-old', true),
    /** The total that the buyer sees, as text. */
    shown: () => shown
  }
}
