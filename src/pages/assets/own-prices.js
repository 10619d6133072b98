import { findAll } from './enhance.js'

const locale = document.body.dataset.locale
/** The prices of the buyer by the id of the product; empty for a buyer who is in no group. */
const known = new Map()
let tax = ''

/**
 * Shows a buyer with prices of their own what products cost them. The pages are the same for every visitor, because caches
 * keep them; only this answer is the buyer's.
 *
 * @param {import('../../client/client.ts').Client} client
 */
export async function showOwnPrices(client) {
  const places = [...findAll('[data-price-of]')]
  const ids = [...new Set(places.map(({ dataset }) => dataset.priceOf))].slice(0, 100)
  if (ids.length === 0) return
  const answer = await client.get('/me/prices', { query: { products: ids.join(',') } }).catch(() => undefined)
  if (answer === undefined || answer.prices.length === 0) return
  tax = document.body.dataset[answer.taxShown ? 'withTax' : 'withoutTax'] ?? ''
  for (const { productId, price, variations } of answer.prices) {
    known.set(String(productId), price)
    for (const each of variations) known.set(`${productId}/${each.variationId}`, each.price)
  }
  for (const note of findAll('[data-tax-note]')) note.textContent = tax
  for (const place of places) {
    const price = known.get(place.dataset.priceOf)
    if (price !== undefined) showPrice(place, textsOf(price, answer.currency))
  }
  dispatchEvent(new Event('prices'))
}

/** What a variation costs the buyer as a product's page shows it; undefined without a price of their own. */
export function ownPriceOf(productId, variationId, currency) {
  const price = known.get(`${productId}/${variationId}`)
  return price === undefined ? undefined : textsOf(price, currency)
}

function textsOf({ group, shown, from }, currency) {
  const money = new Intl.NumberFormat(locale, { style: 'currency', currency })
  const original = shown.originalAmount === null ? null : money.format(shown.originalAmount)
  const facts = [group, tax].filter((text) => text !== null && text !== '')
  return { price: money.format(shown.amount), original, from, facts }
}

/** Shows a price with the regular one that is struck out, and what is said beside it. */
export function showPrice(place, { price, original, from = false, facts }) {
  const now = document.createElement('strong')
  now.textContent = price
  place.replaceChildren(...(from ? [`${document.body.dataset.from} `] : []), now)
  if (original !== null) {
    now.className = 'now'
    const before = document.createElement('s')
    before.textContent = original
    place.append(' ', before)
  }
  for (const fact of facts) {
    const element = document.createElement('span')
    element.className = 'fact'
    element.textContent = fact
    place.append(' ', element)
  }
}
