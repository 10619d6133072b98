import { createAddress } from './address-fields.js'
import { createCoupon } from './cart-coupon.js'
import { fillForm, forgetDraft, keepDraft, readDraft } from './cart-draft.js'
import { forgetKey, isUnanswered, keyFor } from './cart-key.js'
import { createQuotes } from './cart-quote.js'
import { createRows, lineOf } from './cart-rows.js'
import { createShippingChoice } from './cart-shipping.js'
import { onCartChange, readCart, writeCart, writeDetails } from './cart-store.js'
import { createTotals } from './cart-totals.js'
import { find, findMaybe, h, message, money, ownPicture } from './dom.js'
import { mark, onSend, say, unmark } from './form.js'
import { readToken, rememberPlaced } from './order-token.js'
import { service } from './service.js'
import { session } from './shell.js'
import { t } from './texts.js'
import { declineWords } from './words.js'

const place = find('[data-lines]')
const news = find('[data-news]')
const form = find('[data-form]')
const cards = findMaybe('[data-cards]')
const totals = createTotals()
let subscribeAgain = false
/** The lines that the rows show, by keyOf. */
let shown = ''
/** The load of the address fields, once for the page. */
let addressStart
let isShipped = false

keepDraft(form)
const address = createAddress(find('[data-address]'), form)
const rows = createRows({ changeQuantity, remove, buyAgain })
const { ask, stop } = createQuotes(quoteBody, { asked: totals.markOld, answered, failed })
const coupon = createCoupon(form.elements.couponCode, find('[data-apply]'), ask)
const shippingChoice = createShippingChoice(find('[data-shipping-methods]'), () => {
  find('[data-address]').hidden = shippingChoice.isPickup()
  ask(0)
})

function show() {
  const cart = readCart()
  shown = keyOf(cart)
  form.hidden = cart.length === 0
  news.replaceChildren()
  if (cart.length === 0) {
    stop()
    forgetDraft()
    place.replaceChildren(message(t('cart.empty'), t('cart.emptyText'), [t('link.browse'), '/']))
    return
  }
  rows.show(cart)
  place.replaceChildren(rows.list, totals.element)
  totals.showStored(cart)
  // A guess, until the quote says whether anything has to be shipped.
  showShipping(cart.some(({ type }) => type === 'physical'))
  ask(0)
}

function showShipping(isRequired) {
  isShipped = isRequired
  find('[data-shipping]').hidden = !isRequired
  if (!isRequired) find('[data-shipping-methods]').hidden = true
  if (isRequired) addressStart ??= startAddress()
}

/** The fields start with what was typed in this tab, else with the address of the account. */
async function startAddress() {
  const { country, address1 } = readDraft()
  const known = await session
  const isTyped = address1 !== undefined || known?.userLoggedIn !== true
  const stored = isTyped ? null : await service.address().catch(() => null)
  await address.start(stored?.address ?? { country })
  fillForm(form)
  ask(0)
}

function changeQuantity(index, quantity, andFocus = false) {
  const cart = readCart()
  if (cart[index] === undefined) return
  if (cart[index].quantity !== quantity) {
    writeCart(cart.map((line, at) => (at === index ? { ...line, quantity } : line)))
    const changed = readCart()
    shown = keyOf(changed)
    rows.update(changed)
    ask()
  }
  if (andFocus) rows.focusQuantity(index)
}

function remove(index) {
  writeCart(readCart().filter((_, at) => at !== index))
  show()
  find('main').focus()
}

function buyAgain() {
  subscribeAgain = true
  ask(0)
}

/** Identifies what rows show besides prices. */
const keyOf = (cart) => JSON.stringify([itemsOf(cart), cart.map(({ name, picture }) => [name, picture?.url])])
const itemsOf = (cart) => cart.map(({ productId, variationId, quantity }) => ({ productId, variationId, quantity }))

function quoteBody() {
  const items = itemsOf(readCart())
  if (items.length === 0) return null
  const couponCode = coupon.codeFor(JSON.stringify(items))
  const { country, state } = address.values()
  const shippingMethod = shippingChoice.chosen()
  const place = country && !shippingChoice.isPickup() ? { shippingAddress: { country, state } } : {}
  const shipping = isShipped ? { ...place, shippingMethod } : {}
  const customer = business(form.elements.vatId?.value)
  return { items, couponCode, subscribeAgain, strategy: form.elements.strategy.value, customer, ...shipping }
}

/** The buyer as a business, if the shop asks for a VAT id and the buyer has one. */
const business = (vatId = '') => (vatId.trim() === '' ? undefined : { vatId })

/** Shows the current prices, totals and problems. The stored cart, which may be weeks old, gets the prices. */
function answered(quote, body) {
  const cart = readCart()
  const priced = cart.map((line) => {
    const { unitPrice, name, image = null } = lineFor(quote, line) ?? {}
    const picture = ownPicture(image) ?? line.picture
    return { ...line, amount: unitPrice ?? line.amount, name: name ?? line.name, picture }
  })
  if (JSON.stringify(priced) !== JSON.stringify(cart)) writeDetails(priced)
  // A line from another tab or a form without script may have no name until now.
  if (keyOf(priced) === shown) rows.update(priced)
  else {
    shown = keyOf(priced)
    rows.show(priced)
  }
  totals.show(quote)
  showShipping(quote.shipping.required)
  // It may ask for another quote.
  shippingChoice.show(quote)
  coupon.showAnswer(JSON.stringify(body.items), quote)
  showProblems(quote.problems)
  const wrongId = quote.problems.find(({ code }) => code === 'vat_id_invalid')
  if (wrongId !== undefined) mark(form.elements.vatId, wrongId.message)
  else if (form.elements.vatId !== undefined) unmark(form.elements.vatId)
}

function lineFor({ lines }, { productId, variationId }) {
  const ofProduct = lines.filter((line) => line.productId === productId)
  return ofProduct.find((line) => line.variationId === variationId) ?? (variationId === null ? ofProduct[0] : undefined)
}

/** Shows each problem at its line or field, and the others above the form. */
function showProblems(problems) {
  const others = rows.showProblems(problems, readCart())
  // The form itself asks for the address.
  const isNews = ({ path, code }) =>
    !path.startsWith('coupon') && !path.startsWith('customer') && code !== 'address_needed'
  const general = others.filter(isNews)
  const lines = new Set(problems.map(lineOf).filter((index) => index >= 0)).size
  const words = [
    ...(lines === 0 ? [] : [t('cart.attention', { count: lines })]),
    ...general.map((problem) => problem.message)
  ]
  news.replaceChildren(...words.map((text) => h('p', { class: 'note' }, text)))
}

function failed(error, { items, couponCode }) {
  const refused = error.details?.fieldErrors?.couponCode?.join(' ')
  const isLimited = error.code === 'RATE_LIMITED'
  if (couponCode !== undefined && (isLimited || refused !== undefined)) {
    coupon.refuse(JSON.stringify(items), refused ?? t('cart.tooManyCodes'))
    return ask(0)
  }
  totals.showStored(readCart())
  const isOpen = error.code !== 'CHECKOUT_DISABLED' && error.code !== 'NOT_AUTHENTICATED'
  const text = isOpen ? `${t('cart.unchecked')} ` : error.message
  const again = h('button', { type: 'button', class: 'plain', onclick: () => ask(0) }, t('link.again'))
  news.replaceChildren(h('p', { class: 'note' }, text, isOpen && again))
}

function bodyOf(values, isGuest) {
  const cart = readCart()
  const { email, firstName, lastName, createAccount, password } = values
  const account = createAccount ? { createAccount, password } : {}
  return {
    items: itemsOf(cart),
    strategy: values.strategy,
    returnUrl: `${location.origin}/thanks`,
    cancelUrl: `${location.origin}/cart`,
    couponCode: values.couponCode,
    notes: values.notes,
    ...(subscribeAgain ? { subscribeAgain } : {}),
    customer: isGuest ? { email, firstName, lastName, ...account, ...business(values.vatId) } : business(values.vatId),
    ...(isShipped
      ? {
          ...(shippingChoice.isPickup() ? {} : { shippingAddress: { firstName, lastName, ...address.values() } }),
          shippingMethod: values.shippingMethod
        }
      : {}),
    ...(values.strategy === 'token_handoff' ? { paymentToken: values.paymentToken } : {})
  }
}

async function pay(values) {
  const shownTotal = totals.shown()
  if (isShipped && !shippingChoice.isPickup() && !(await address.check())) return
  const known = await session
  stop()
  const body = bodyOf(values, known?.userLoggedIn !== true)
  // The payment page shows the total itself. A purchase that got no answer may be paid, so it is sent again as it was.
  const isFinal = body.strategy === 'token_handoff' && !isUnanswered(body)
  if (isFinal && !(await confirmTotal(body, shownTotal))) return
  try {
    const result = await service.checkout(body, keyFor(body))
    forgetKey()
    rememberPlaced(result.orderToken)
    location.assign(nextPage(result))
  } catch (error) {
    // Without a final answer, the next try repeats the same purchase.
    if (error.status !== 504 && error.status !== 0) forgetKey()
    // The quote under way was ignored.
    ask()
    if (showRefusedLines(error.details?.problems ?? [])) return
    throw explained(error)
  }
}

/**
 * Whether the order still has the total that the buyer saw. If not, shows the new total, which the buyer accepts with
 * another click.
 */
async function confirmTotal(body, shownTotal) {
  const quote = await service.quote(body)
  const isShippedSo = (quote.shipping.chosen ?? undefined) === body.shippingMethod
  if (isShippedSo && money(quote.total, quote.currency) === shownTotal) return true
  answered(quote, body)
  // Another country can have other shipping methods.
  const shippingMethod = shippingChoice.chosen()
  if (shippingMethod !== body.shippingMethod) totals.show(await service.quote({ ...body, shippingMethod }))
  if (!showRefusedLines(quote.problems)) say(form, t('cart.totalChanged', { total: totals.shown() }))
  return false
}

/** Shows the problems of a refused order at its lines. Returns whether there are any. */
function showRefusedLines(problems) {
  if (!problems.some((problem) => lineOf(problem) >= 0)) return false
  showProblems(problems)
  rows.focusProblem()
  return true
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

function showChoices() {
  const isHere = form.elements.strategy.value === 'token_handoff'
  if (cards !== null) cards.hidden = !isHere
  button.textContent = t(isHere ? 'cart.payNow' : 'cart.toPayment')
  for (const tick of form.querySelectorAll('[data-shows]')) {
    const shown = find(`#${tick.dataset.shows}`)
    shown.hidden = !tick.checked
    for (const field of shown.querySelectorAll('input')) field.required = tick.checked
  }
}

form.addEventListener('change', showChoices)
form.addEventListener('change', ({ target }) => {
  // The tax depends on them.
  if (['country', 'state', 'vatId'].includes(target.name)) ask()
})
// The limits depend on how the buyer pays.
for (const choice of form.querySelectorAll('[name=strategy]')) choice.addEventListener('change', () => ask())
onSend(form, pay)
showChoices()
// The form depends on whether the buyer is logged in.
void session.then((known) => {
  find('[data-guest]').hidden = known?.userLoggedIn === true
  show()
})
onCartChange(() => {
  if (keyOf(readCart()) !== shown) show()
})
addEventListener('pageshow', (event) => {
  // Back shows the page as it was left; the cart may have been bought since.
  if (event.persisted) show()
})
void sayCancelled(readToken())

/** The address proves nothing: the note is true only if the shop has cancelled the order. */
async function sayCancelled(token) {
  if (token === null) return
  const known = await service.order(token).catch(() => null)
  if (known?.order.status === 'cancelled') place.before(h('p', { class: 'note', role: 'status' }, t('cart.cancelled')))
}
