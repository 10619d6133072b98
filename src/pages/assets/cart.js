import { needsShipping } from '../../shop/catalog/product-types.ts'
import { readCart, writeCart } from './cart-store.js'
import { find, findMaybe, h, message, money, picture } from './dom.js'
import { onSend } from './form.js'
import { readToken, rememberPlaced } from './order-token.js'
import { service } from './service.js'
import { session } from './shell.js'
import { tracking } from './tracking.js'
import { declineWords } from './words.js'

const lines = find('[data-lines]')
const form = find('[data-form]')
const cards = findMaybe('[data-cards]')

function show() {
  const cart = readCart()
  form.hidden = cart.length === 0
  if (cart.length === 0) {
    lines.replaceChildren(message('Your cart is empty', 'Products that you add appear here.', ['Browse products', '/']))
    return
  }
  const total = cart.reduce((sum, { amount, quantity }) => sum + amount * quantity, 0)
  const { currency } = cart[0]
  lines.replaceChildren(
    h('ul', { class: 'lines' }, ...cart.map(row)),
    h(
      'p',
      { class: 'sum' },
      'Subtotal ',
      h('strong', {}, money(total, currency)),
      h('span', { class: 'hint' }, ' before coupons')
    )
  )
  find('[data-shipping]').hidden = !needsShipping(cart)
}

function row(line, index) {
  const id = `quantity-${index}`
  return h(
    'li',
    {},
    picture(line.picture),
    h('a', { class: 'name', href: `/products/${line.slug}` }, line.name),
    h(
      'div',
      { class: 'amounts' },
      h('label', { class: 'unseen', for: id }, `Quantity of ${line.name}`),
      h('input', {
        id,
        type: 'number',
        inputmode: 'numeric',
        min: 1,
        max: 50,
        value: line.quantity,
        onchange: (event) => change(index, event.target)
      }),
      h('span', { class: 'price' }, money(line.amount * line.quantity, line.currency)),
      h(
        'button',
        { type: 'button', class: 'plain', 'aria-label': `Remove ${line.name}`, onclick: () => remove(index) },
        'Remove'
      )
    )
  )
}

function change(index, input) {
  const quantity = Math.min(50, Math.max(1, Math.round(Number(input.value) || 1)))
  writeCart(readCart().map((line, at) => (at === index ? { ...line, quantity } : line)))
  show()
  document.getElementById(`quantity-${index}`)?.focus()
}

function remove(index) {
  writeCart(readCart().filter((_, at) => at !== index))
  show()
  find('main').focus()
}

/** Updates the prices of a cart, which may be weeks old. An item with variations keeps the price that its page showed. */
async function refresh() {
  const { offers } = await service.offers({ perPage: 100 })
  const priceOf = new Map(offers.map(({ productId, price }) => [productId, price.amount]))
  const cart = readCart()
  writeCart(
    cart.map((line) => ({ ...line, amount: (line.variationId === null && priceOf.get(line.productId)) || line.amount }))
  )
  if (readCart().some(({ amount }, index) => amount !== cart[index].amount)) show()
}

/** A purchase that is sent twice is one purchase: it keeps its key until the service has given a final answer. */
function keyFor(body) {
  const text = JSON.stringify(body)
  const kept = JSON.parse(sessionStorage.getItem('shopstead.checkout') ?? '{}')
  if (kept.text === text) return kept.key
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  sessionStorage.setItem('shopstead.checkout', JSON.stringify({ text, key }))
  return key
}

function forgetKey() {
  sessionStorage.removeItem('shopstead.checkout')
}

const address = (values) => ({
  firstName: values.firstName,
  lastName: values.lastName,
  address1: values.address1,
  address2: values.address2,
  postcode: values.postcode,
  city: values.city,
  country: values.country
})

function bodyOf(values, isGuest) {
  const cart = readCart()
  const { email, firstName, lastName, createAccount, password } = values
  const account = createAccount ? { createAccount, password } : {}
  return {
    items: cart.map(({ productId, variationId, quantity }) => ({ productId, variationId, quantity })),
    strategy: values.strategy,
    returnUrl: `${location.origin}/thanks`,
    cancelUrl: `${location.origin}/cart`,
    couponCode: values.couponCode,
    notes: values.notes,
    ...(isGuest ? { customer: { email, firstName, lastName, ...account } } : {}),
    ...(needsShipping(cart) ? { shippingAddress: address(values) } : {}),
    ...(values.strategy === 'token_handoff' ? { paymentToken: values.paymentToken } : {})
  }
}

async function pay(values) {
  const known = await session
  const body = bodyOf(values, known?.userLoggedIn !== true)
  try {
    const result = await service.checkout(body, tracking(), keyFor(body))
    forgetKey()
    rememberPlaced(result.orderToken)
    location.assign(nextPage(result))
  } catch (error) {
    // Without a final answer, the next try repeats the same purchase.
    if (error.status !== 504 && error.status !== 0) forgetKey()
    throw explained(error)
  }
}

/** The payment page, the bank's page or, if nothing has to be paid there, the thank-you page. */
function nextPage(result) {
  const { orderToken, statusUrl, checkoutUrl = statusUrl } = result
  if (checkoutUrl !== statusUrl) return checkoutUrl
  return result.redirectUrl ?? `/thanks?orderToken=${orderToken}`
}

function explained(error) {
  if (error.code !== 'CHECKOUT_FAILED') return error
  return Object.assign(error, { message: declineWords(error.details.safeReason) })
}

const button = find('[data-pay]')
form.addEventListener('change', () => {
  const isHere = form.elements.strategy.value === 'token_handoff'
  if (cards !== null) cards.hidden = !isHere
  button.textContent = isHere ? 'Pay now' : 'Go to payment'
  for (const tick of form.querySelectorAll('[data-shows]')) {
    const shown = find(`#${tick.dataset.shows}`)
    shown.hidden = !tick.checked
    for (const field of shown.querySelectorAll('input')) field.required = tick.checked
  }
})
onSend(form, pay)
// The form depends on whether the buyer is logged in.
void session.then((known) => {
  find('[data-guest]').hidden = known?.userLoggedIn === true
  show()
})
// If the shop does not answer, the stored prices are shown. The checkout determines what is paid.
void session.then(refresh).catch(() => undefined)
void sayCancelled(readToken())

/** The address proves nothing: the note is true only if the shop has cancelled the order. */
async function sayCancelled(token) {
  if (token === null) return
  const known = await service.order(token).catch(() => null)
  if (known?.order.status === 'cancelled')
    lines.before(h('p', { class: 'note', role: 'status' }, 'You have not been charged. Your cart is unchanged.'))
}
