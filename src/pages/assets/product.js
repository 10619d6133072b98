import { addToCart } from './cart-store.js'
import { find, findAll, findMaybe, h } from './dom.js'
import './shell.js'

/** The chosen variation; null for a product without variations. */
function chosen() {
  return findMaybe('[data-add] input:checked')
}

function showPrice() {
  const { price = '', original = '' } = chosen()?.dataset ?? {}
  const now = h('strong', original === '' ? {} : { class: 'now' }, price)
  find('[data-price]').replaceChildren(now, ...(original === '' ? [] : [' ', h('s', {}, original)]))
}

function add(event) {
  event.preventDefault()
  const { productId, slug, name, type, currency, amount, picture } = find('[data-add]').dataset
  const variation = chosen()?.dataset
  addToCart({
    productId: Number(productId),
    variationId: variation === undefined ? null : Number(variation.id),
    slug,
    name: variation === undefined ? name : `${name} - ${variation.name}`,
    type,
    picture,
    currency,
    amount: Number(variation?.amount ?? amount),
    quantity: Number(find('#quantity').value)
  })
  find('[data-added]').replaceChildren('Added to your cart. ', h('a', { href: '/cart' }, 'Go to the cart'))
}

findMaybe('[data-add]')?.addEventListener('submit', add)
for (const input of findAll('[data-add] input[name=variation]')) input.addEventListener('change', showPrice)
