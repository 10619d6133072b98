import { addToCart } from './cart-store.js'
import { find, h } from './dom.js'
import './shell.js'

const form = document.querySelector('[data-add]')

function chosen() {
  return form.querySelector('input[name=variation]:checked')
}

function showPrice() {
  const { price, original } = chosen().dataset
  const now = h('strong', original === '' ? {} : { class: 'now' }, price)
  find('[data-price]').replaceChildren(now, ...(original === '' ? [] : [' ', h('s', {}, original)]))
}

function add(event) {
  event.preventDefault()
  const { productId, slug, name, type, currency, amount, picture } = form.dataset
  const variation = chosen()
  addToCart({
    productId: Number(productId),
    variationId: variation === null ? null : Number(variation.value),
    slug,
    name: variation === null ? name : `${name} - ${variation.dataset.name}`,
    type,
    picture,
    currency,
    amount: Number(variation?.dataset.amount ?? amount),
    quantity: Number(find('#quantity').value)
  })
  find('[data-added]').replaceChildren('It is in your cart. ', h('a', { href: '/cart' }, 'Go to the cart'))
}

if (form !== null) {
  form.addEventListener('submit', add)
  for (const input of form.querySelectorAll('input[name=variation]')) input.addEventListener('change', showPrice)
}
