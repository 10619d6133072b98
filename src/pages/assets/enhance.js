// What pages do better with script. Each works without it.

/** A second click on a button that was just pressed does not send its form twice. */
const pauseMs = 5000
/** Long enough that typing 12 asks once, short enough to feel immediate. */
const typingMs = 250
/** Seconds between two looks at an undecided order. A bank debit takes days, so the page stops asking after a while. */
const pauses = [2, 3, 5, 8, 13, 20, 30, 30, 30, 60, 60, 60, 60, 60, 60]
/** Fields that are never stored. */
const secret = /^(password|paymentToken)$/

addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  if (submitter instanceof HTMLElement && submitter.dataset.refreshes !== undefined) {
    event.preventDefault()
    return void refresh(form, submitter.dataset.refreshes, { submitter })
  }
  if (form.hasAttribute('aria-busy')) return event.preventDefault()
  form.setAttribute('aria-busy', 'true')
  setTimeout(() => form.removeAttribute('aria-busy'), pauseMs)
})
// Back shows the page as it was left.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy')
  checkCart()
})

/**
 * The first element that matches the selector. The caller knows its type.
 *
 * @param {string} selector
 * @returns {any}
 */
export const find = (selector) => document.querySelector(selector)

/**
 * @param {string} selector
 * @returns {NodeListOf<any>}
 */
export const findAll = (selector) => document.querySelectorAll(selector)

/**
 * Only the answer to the newest change counts. The requests before it are aborted, because their answers would set the cookie
 * of the cart to what the buyer has changed since.
 */
let newest = new AbortController()
let typing

/**
 * A change of a field with `data-refreshes`, such as the country of an address, sends its form with that action, and shows
 * what is different in the answer. The form has an id. Without an answer, the buttons for the same action stay.
 */
addEventListener('change', (event) => refreshFor(event, 0))
addEventListener('input', (event) => {
  const { target: field } = event
  if (field instanceof HTMLElement) keep(field.closest('form[data-keeps]'))
  clearError(field)
  // A number that is half typed, and text that is not finished, are not sent.
  if (field instanceof HTMLInputElement && field.type === 'number' && field.value !== '' && field.validity.valid)
    refreshFor(event, typingMs)
})

/** What was wrong with a field does not count any more when the buyer changes it. The server checks it again. */
function clearError(field) {
  if (field?.getAttribute('aria-invalid') !== 'true') return
  field.removeAttribute('aria-invalid')
  const error = document.getElementById(`${field.name}-error`)
  if (error === null) return
  error.textContent = ''
  error.hidden = true
}

function refreshFor({ target: field }, afterMs) {
  if (!(field instanceof HTMLElement) || field.dataset.refreshes === undefined) return
  const form = field.closest('form')
  const { refreshes } = field.dataset
  if (form === null) return
  form.toggleAttribute('data-refreshing', true)
  clearTimeout(typing)
  if (afterMs === 0) void refresh(form, refreshes)
  else typing = setTimeout(() => void refresh(form, refreshes), afterMs)
}

/**
 * @param {HTMLFormElement} form
 * @param {string} action
 * @param {{ submitter?: HTMLElement | null, also?: Record<string, string>, without?: RegExp }} [options] `also` has values
 *   for names that the form lacks
 */
async function refresh(form, action, { submitter = null, also = {}, without } = {}) {
  clearTimeout(typing)
  newest.abort()
  newest = new AbortController()
  const { signal } = newest
  const typed = new FormData(form)
  const sent = new URLSearchParams()
  for (const [name, value] of new FormData(form, submitter))
    if (typeof value === 'string' && !without?.test(name)) sent.append(name, value)
  for (const [name, value] of Object.entries(also)) if (!sent.has(name)) sent.append(name, value)
  if (submitter === null) sent.set('action', action)
  form.toggleAttribute('data-refreshing', true)
  // A field named action would hide the property.
  const address = form.getAttribute('action') ?? location.href
  const text = await load(address, { method: 'POST', body: sent, signal })
  if (signal.aborted) return
  if (text === '') return unanswered(form)
  const next = new DOMParser().parseFromString(text, 'text/html')
  showNext(form, next, typed, submitter)
}

async function load(address, init) {
  const response = await fetch(address, init).catch(() => undefined)
  return response === undefined ? '' : response.text().catch(() => '')
}

function unanswered(form) {
  form.removeAttribute('data-refreshing')
  for (const place of form.querySelectorAll('[data-offline], [data-instead]')) place.hidden = false
  addEventListener('online', () => void refresh(form, 'update'), { once: true })
}

/** Shows the form of an answer, or, if it has none, its main part. */
function showNext(form, page, typed, submitter) {
  const next = page.getElementById(form.id)
  const focused = document.activeElement ?? document.body
  if (next === null) find('main').replaceChildren(...page.querySelector('main').childNodes)
  else {
    prepare(next)
    morph(form, next, typed)
  }
  dispatchEvent(new Event('cart'))
  const focus = submitter?.dataset.focus
  const wrong = submitter === null ? null : form.querySelector('[aria-invalid][autofocus]')
  if (focus !== undefined) document.getElementById(focus)?.focus()
  else if (wrong !== null) wrong.focus()
  else if (focused !== document.body && !focused.isConnected) find('main').focus()
}

/** Changes an element into another one. What did not change stays in the page, so that the focus and the cursor do, too. */
function morph(old, next, typed) {
  // What the buyer has opened stays open.
  for (const { name } of Array.from(old.attributes))
    if (!next.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  const state = stateOf(old, next, typed)
  let here = old.firstChild
  for (const node of Array.from(next.childNodes)) {
    const same = sameOf(here, node)
    if (same === null) {
      old.insertBefore(node, here)
      continue
    }
    while (here !== same) here = removed(here)
    here = same.nextSibling
    if (same instanceof Element) morph(same, node, typed)
    else if (same.nodeValue !== node.nodeValue) same.nodeValue = node.nodeValue
  }
  while (here !== null) here = removed(here)
  Object.assign(old, state)
}

function removed(node) {
  const { nextSibling } = node
  node.remove()
  return nextSibling
}

/** The node that shows the same: one with the same id further on, or the one at this place. */
function sameOf(here, node) {
  const { id = '', nodeName } = node
  for (let known = here; known !== null; known = known.nextSibling) {
    const isSame = known.nodeName === nodeName && (known.id ?? '') === id && known.name === node.name
    if (isSame && (id !== '' || known === here)) return known
    if (id === '') return null
  }
  return null
}

/** The value of a field: that of the answer, unless it was changed since the form was sent. A password stays. */
function stateOf(old, next, typed) {
  if (!('value' in old) || old instanceof HTMLButtonElement || old instanceof HTMLOptionElement) return {}
  const { name, type, value, checked } = old
  if (type === 'checkbox' || type === 'radio')
    return { checked: typed.getAll(name).includes(value) === checked ? next.checked : checked }
  const isOwn = type === 'password' || (type !== 'hidden' && typed.has(name) && typed.get(name) !== value)
  return isOwn ? { value } : next.value === undefined ? {} : { value: next.value }
}

/** Keeps what is typed in a form for this tab, over reloads and Back. */
function keep(form) {
  if (!(form instanceof HTMLFormElement)) return
  /** @type {any[]} */
  const elements = [...form.elements]
  const fields = elements.filter(({ type }) => type !== 'hidden' && type !== 'submit')
  const typed = [...new FormData(form)].filter(
    ([name]) => !secret.test(name) && !name.startsWith('quantity-') && fields.some((field) => field.name === name)
  )
  sessionStorage.setItem(form.dataset.keeps ?? '', JSON.stringify(Object.fromEntries(typed)))
}

/** Fills in what was kept; the answer has the fields that the form lacks, such as those of another country. */
function fill(form) {
  const kept = JSON.parse(sessionStorage.getItem(form.dataset.keeps) ?? '{}')
  const differs = Object.entries(kept).filter(([name, value]) => new FormData(form).get(name) !== value && value !== '')
  if (differs.length === 0) return
  for (const [name, value] of differs) {
    const field = form.elements.namedItem(name)
    if (field === null) continue
    if (field.type === 'checkbox') field.checked = true
    else if (!(field instanceof HTMLSelectElement) || [...field.options].some((option) => option.value === value))
      field.value = value
  }
  void refresh(form, 'update', { also: kept })
}

/** Another tab may have changed the cart: then the form shows it, without sending its own quantities. */
export function checkCart() {
  const form = document.querySelector('form[data-cart]')
  if (!(form instanceof HTMLFormElement) || form.hasAttribute('data-refreshing')) return
  if (cartText() !== form.dataset.cart) void refresh(form, 'update', { without: /^quantity-/ })
}

/** The items of the cart, as the cookie has them. */
export function cartText() {
  return /(?:^|; )shopstead_cart=([^;]*)/.exec(document.cookie)?.[1] ?? ''
}

/** Shows a change of an undecided order as soon as the shop knows it. */
async function follow(place) {
  for (const seconds of pauses) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    while (document.hidden)
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
    if (place.dataset.follows === undefined) return
    const page = new DOMParser().parseFromString(await load(place.dataset.follows), 'text/html')
    const next = page.getElementById(place.id)
    if (next !== null && next.textContent !== place.textContent) morph(place, next, new FormData())
    dispatchEvent(new Event('cart'))
  }
}

/** The buttons that do what a change does are for pages without script. */
function prepare(place) {
  for (const button of place.querySelectorAll('[data-instead]')) button.hidden = true
}

prepare(document)
for (const form of findAll('form[data-keeps]')) fill(form)
if (document.querySelector('form[data-keeps]') === null && location.pathname === '/cart')
  sessionStorage.removeItem('shopstead.cart-form')
for (const place of findAll('[data-follows]')) void follow(place)
