import { addToCart } from './cart-store.js'
import { find, findAll, findMaybe, h } from './dom.js'
import './shell.js'
import { t } from './texts.js'

/**
 * Null for a product that is sold out.
 *
 * @type {any}
 */
const form = findMaybe('[data-add]')
/** The variations with their values of each option. */
const variations = JSON.parse(form?.dataset.variations ?? '[]')

/** The chosen variation; null for a product without variations, undefined for a combination that does not exist. */
function chosen() {
  if (variations.length === 0) return null
  const names = [...new Set(findAll('[data-choice]').map((field) => field.getAttribute('name')))]
  const values = names.map((name) => form.elements.namedItem(name).value)
  if (names[0] === 'variation') return variations.find(({ id }) => String(id) === values[0])
  return variations.find((variation) => variation.values.every((value, index) => value === values[index]))
}

function showChoice() {
  const variation = chosen()
  if (variation === null) return
  const canBuy = variation?.available === true
  find('[data-buy]').disabled = !canBuy
  const left = find('[data-left]')
  left.hidden = canBuy && variation.left === null
  if (!canBuy) left.textContent = t(variation === undefined ? 'product.noCombination' : 'product.soldOut')
  else if (variation.left !== null) left.textContent = t('product.left', { count: variation.left })
  if (variation === undefined) return
  find('#quantity').max = Math.min(variation.left ?? 50, 50)
  const { price, original } = variation
  const now = h('strong', original === null ? {} : { class: 'now' }, price)
  find('[data-price]').replaceChildren(now, ...(original === null ? [] : [' ', h('s', {}, original)]))
  showPicture(variation)
}

/** Shows the picture of a variation in the place of the main one. */
function showPicture({ picture }) {
  const image = findMaybe('.product .art img')
  if (image === null || !picture || image.getAttribute('src') === picture.url) return
  const { url, srcset, width, height, alt } = picture
  for (const [name, value] of Object.entries({ width, height, alt, srcset, src: url })) image.setAttribute(name, value)
}

const goToCart = h('a', { href: '/cart' }, t('link.cart'))
const answers = {
  added: [t('product.added'), ' ', goToCart],
  full: [t('product.full'), ' ', goToCart],
  most: [t('product.most'), ' ', goToCart]
}

function add(event) {
  event.preventDefault()
  const variation = chosen()
  if (variation === undefined) return
  const { productId, name, type, currency, amount, picture } = form.dataset
  const result = addToCart({
    productId: Number(productId),
    variationId: variation?.id ?? null,
    slug: form.elements.slug.value,
    name: variation === null ? name : `${name} - ${variation.name}`,
    type,
    picture: variation?.picture ?? JSON.parse(picture),
    currency,
    amount: variation?.amount ?? Number(amount),
    quantity: Number(find('#quantity').value)
  })
  find('[data-added]').replaceChildren(...answers[result])
}

form?.addEventListener('submit', add)
for (const field of findAll('[data-choice]')) field.addEventListener('change', showChoice)
// After Back, the browser restores what was chosen.
showChoice()
