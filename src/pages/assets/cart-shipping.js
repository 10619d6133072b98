import { h, money } from './dom.js'
import { t } from './texts.js'

/**
 * The shipping methods of the country in the address form, and those for picking up. The first one that ships is chosen until
 * the buyer chooses another one.
 *
 * @param {HTMLElement} place
 * @param {() => void} changed
 */
export function createShippingChoice(place, changed) {
  let shown = ''
  let pickups = []

  /** The id of the chosen method; undefined without methods. */
  function chosen() {
    const radio = place.querySelector('input:checked')
    return radio instanceof HTMLInputElement ? radio.value : undefined
  }

  /** Shows the methods of a quote, and asks for another one if it does not have the chosen method. */
  function show({ shipping, currency }) {
    const { methods } = shipping
    const known = chosen()
    pickups = methods.filter(({ pickup }) => pickup).map(({ id }) => id)
    const current = methods.some(({ id }) => id === known) ? known : methods.find(({ pickup }) => !pickup)?.id
    const text = JSON.stringify(methods)
    if (text !== shown) {
      shown = text
      place.hidden = methods.length === 0
      place.replaceChildren(
        h('fieldset', {}, h('legend', {}, t('cart.shipping')), ...methods.map((method) => choice(method, currency)))
      )
    }
    for (const radio of place.querySelectorAll('input')) radio.checked = radio.value === current
    if (current !== undefined && current !== shipping.chosen) changed()
  }

  /** Whether the buyer picks the goods up, and so gives no address. */
  const isPickup = () => pickups.includes(chosen())

  place.addEventListener('change', () => changed())
  return { chosen, isPickup, show }
}

function choice({ id, name, amount, estimate }, currency) {
  const price = amount === 0 ? t('cart.shippingFree') : money(amount, currency)
  const hint = [price, estimate].filter((part) => part !== null).join(', ')
  return h(
    'label',
    { class: 'choice' },
    h('input', { type: 'radio', name: 'shippingMethod', value: id }),
    h('span', {}, h('strong', {}, name), h('span', { class: 'hint' }, hint))
  )
}
