import { addToCart, readCart } from './cart-store.js'
import { h, ownPicture } from './dom.js'
import { service } from './service.js'
import { t } from './texts.js'

/**
 * A button that puts the lines of an order into the cart, at the current prices and as far as they can be bought, and
 * says what is missing.
 *
 * @param {import('../../client/api-types.ts').OwnOrderLine[]} lines
 */
export function orderAgain(lines) {
  const place = h('div', { class: 'again', role: 'status' })
  const button = h('button', { type: 'button', class: 'quiet' }, t('order.again'))
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    try {
      place.replaceChildren(...report(await fillCart(lines)))
      // A second click must not double the quantities.
      button.replaceWith(h('a', { class: 'button', href: '/cart' }, t('link.cart')))
    } catch (error) {
      place.replaceChildren(h('p', { class: 'error' }, error.message))
      button.removeAttribute('aria-disabled')
    }
  })
  return { button, place }
}

/** Returns how many lines are in the cart now, and a sentence for each that is not as it was ordered. */
async function fillCart(lines) {
  const sold = lines.filter(({ productSlug }) => productSlug !== null)
  const missing = lines
    .filter((line) => !sold.includes(line))
    .map(({ name }) => ({ text: t('order.notSold', { name }), slug: null }))
  if (sold.length === 0) return { added: 0, missing }
  const items = sold.map(({ productId, variationId, quantity }) => ({ productId, variationId, quantity }))
  const quote = await service.quote({ items })
  const results = quote.lines.map((line) => add(line, sold, quote.currency))
  return {
    added: results.filter(({ isAdded }) => isAdded).length,
    missing: [...missing, ...results.flatMap(({ problem }) => problem ?? [])]
  }
}

/** Adds a line of the quote as far as it can be bought. Its price is the current one. */
function add({ productId, variationId, name, quantity, unitPrice, image, problem }, sold, currency) {
  const ordered = sold.find((line) => line.productId === productId && line.variationId === variationId)
  const line = ordered ?? sold.find((candidate) => candidate.productId === productId)
  const text =
    problem === null
      ? null
      : { text: isGone(problem) ? t('order.notSold', { name: line.name }) : problem.message, slug: line.productSlug }
  // A choice is missing, or it is sold out: only the buyer can decide what to take instead.
  const possible = problem === null ? quantity : (problem.left ?? 0)
  if (possible === 0 || unitPrice === null) return { isAdded: false, problem: text }
  addToCart({
    productId,
    variationId,
    slug: line.productSlug,
    name: name ?? line.name,
    type: line.type,
    picture: ownPicture(image),
    currency,
    amount: unitPrice,
    quantity: possible
  })
  const isAdded = readCart().some((known) => known.productId === productId && known.variationId === variationId)
  return isAdded
    ? { isAdded, problem: text }
    : { isAdded, problem: { text: t('order.cartFull', { name: line.name }), slug: line.productSlug } }
}

/** The shop does not name a product that it does not show. */
function isGone({ code }) {
  return code === 'unknown_product' || code === 'unavailable'
}

function report({ added, missing }) {
  const words = t(added === 0 ? 'order.noneAdded' : missing.length > 0 ? 'order.someAdded' : 'order.allAdded')
  return [
    h('p', {}, words),
    missing.length === 0
      ? null
      : h(
          'ul',
          {},
          ...missing.map(({ text, slug }) =>
            h('li', {}, text, ' ', slug !== null && h('a', { href: `/products/${slug}` }, t('order.seeProduct')))
          )
        )
  ].filter((part) => part !== null)
}
