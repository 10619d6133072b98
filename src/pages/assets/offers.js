import { find, findMaybe, h, money, picture } from './dom.js'
import { service } from './service.js'
import './shell.js'

const place = find('[data-offers]')
const cards = find('[data-cards]')
const status = find('[data-status]')
const heading = find('[data-heading]')
const search = find('#search')
const hero = findMaybe('.hero')
const { publicUrl = '' } = document.body.dataset
const rules = JSON.parse(place.dataset.rules)
const chips = [...place.querySelectorAll('[data-category]')]

/** Searches again after each letter. A response that arrives after a later search has started is not shown. */
let asked = 0

async function show(category, text) {
  const turn = ++asked
  try {
    const { offers, pagination } = await service.offers({ category, search: text, perPage: 100 })
    if (turn !== asked) return
    cards.replaceChildren(...offers.map(card))
    const { total } = pagination
    status.textContent =
      total === 0
        ? 'No products match your search. Try another word, or browse all products.'
        : `${total} ${total === 1 ? 'product' : 'products'}`
  } catch (error) {
    if (turn !== asked) return
    cards.replaceChildren()
    status.textContent = error.message
  }
  const chip = chips.find((link) => link.dataset.category === category)
  heading.textContent =
    text === '' ? (category === '' ? 'Everything in the shop' : chip?.textContent) : `Found for “${text}”`
  for (const link of chips) {
    if (link === chip) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
  find('[data-pages]').hidden = true
  if (hero !== null) hero.hidden = category !== '' || text !== ''
}

function card({ name, url, productSlug, categories, price }) {
  const { amount, originalAmount, currency } = price
  const now = h('strong', originalAmount === null ? {} : { class: 'now' }, money(amount, currency))
  const before =
    originalAmount === null
      ? []
      : [' ', h('s', {}, h('span', { class: 'unseen' }, 'instead of '), money(originalAmount, currency))]
  // A page of the shop is linked by its path, so that a buyer who opened the shop under another host name stays there.
  const href = url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url
  return h(
    'li',
    { class: 'card' },
    h(
      'a',
      { href },
      picture(pictureOf(productSlug, categories)),
      h('span', { class: 'name' }, name),
      h('span', { class: 'price' }, now, ...before),
      originalAmount === null ? null : h('span', { class: 'flag', 'aria-hidden': 'true' }, 'Sale')
    )
  )
}

function pictureOf(slug, categories) {
  const text = `${slug} ${categories.join(' ')}`.toLowerCase()
  return rules.find(([word]) => text.includes(word))?.[1] ?? 'parcel'
}

function go(category, text) {
  const query = new URLSearchParams(Object.entries({ category, search: text }).filter(([, value]) => value !== ''))
  history.replaceState(null, '', query.size === 0 ? '/' : `/?${query}`)
  void show(category, text)
}

function current() {
  return chips.find((link) => link.getAttribute('aria-current') === 'true')?.dataset.category ?? ''
}

let pause
search.addEventListener('input', () => {
  clearTimeout(pause)
  pause = setTimeout(() => go(current(), search.value.trim()), 150)
})
search.form.addEventListener('submit', (event) => {
  event.preventDefault()
  clearTimeout(pause)
  go(current(), search.value.trim())
})
for (const link of chips) {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    go(link.dataset.category, search.value.trim())
  })
}
