import { find, findAll } from './enhance.js'
import { ownPriceOf, showPrice } from './own-prices.js'
import './shell.js'

/** Null for a product that is sold out. */
const form = find('[data-add]')
/** The variations with their values of each option, and the texts of each. */
const variations = JSON.parse(form?.dataset.variations ?? '[]')

/** The chosen variation; undefined for a combination that does not exist. */
function chosen() {
  const names = [...new Set([...findAll('[data-choice]')].map(({ name }) => name))]
  const values = names.map((name) => form.elements.namedItem(name).value)
  if (names[0] === 'variation') return variations.find(({ id }) => String(id) === values[0])
  return variations.find((variation) => variation.values.every((value, index) => value === values[index]))
}

function showChoice() {
  if (variations.length === 0) return
  const variation = chosen()
  find('[data-buy]').disabled = variation?.available !== true
  const left = find('[data-left]')
  left.textContent = variation === undefined ? form.dataset.noCombination : variation.leftText
  left.hidden = left.textContent === ''
  if (variation === undefined) return
  find('#quantity').max = Math.min(variation.left ?? 50, 50)
  const { productId, currency } = form.dataset
  showPrice(find('[data-price]'), ownPriceOf(productId, variation.id, currency) ?? variation)
  showPicture(variation)
}

/** Shows the picture of a variation in the place of the main one. */
function showPicture({ picture }) {
  const image = find('.product .art img')
  if (image === null || !picture || image.getAttribute('src') === picture.url) return
  const { url, srcset, width, height, alt } = picture
  for (const [name, value] of Object.entries({ width, height, alt, srcset, src: url })) image.setAttribute(name, value)
}

/** Adds the product, and says so without leaving the page. Without an answer, the form is sent as without script. */
async function add(event) {
  event.preventDefault()
  const body = new URLSearchParams({ stay: '1' })
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.set(name, value)
  const response = await fetch(form.action, { method: 'POST', body }).catch(() => undefined)
  if (response === undefined) {
    form.submit()
    return
  }
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  find('[data-added]').replaceChildren(...(page.querySelector('[data-added]')?.childNodes ?? []))
  form.removeAttribute('aria-busy')
  dispatchEvent(new Event('cart'))
}

form?.addEventListener('submit', (event) => void add(event))
for (const field of findAll('[data-choice]')) field.addEventListener('change', showChoice)
addEventListener('prices', showChoice)
// After Back, the browser restores what was chosen.
showChoice()
