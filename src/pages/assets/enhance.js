// What pages do better with script. Each works without it.

/** A second click on a button that was just pressed does not send its form twice. */
const pauseMs = 5000

addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  if (form.hasAttribute('aria-busy')) return event.preventDefault()
  form.setAttribute('aria-busy', 'true')
  setTimeout(() => form.removeAttribute('aria-busy'), pauseMs)
})
// Back shows the page as it was left.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[aria-busy]')) form.removeAttribute('aria-busy')
})

/** Only the answer to the newest change counts. */
let newest = 0

/**
 * A change of a field with `data-refreshes`, such as the country of an address, sends its form with that action, and shows
 * the form of the answer in its place. The form has an id. Without an answer, the button for the same action stays.
 */
addEventListener('change', (event) => {
  const field = event.target
  if (!(field instanceof HTMLElement) || field.dataset.refreshes === undefined) return
  const form = field.closest('form')
  if (form !== null) void refresh(form, field.dataset.refreshes)
})

/**
 * @param {HTMLFormElement} form
 * @param {string} action
 */
async function refresh(form, action) {
  const turn = ++newest
  const sent = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') sent.append(name, value)
  sent.set('action', action)
  // A field named action would hide the property.
  const address = form.getAttribute('action') ?? location.href
  const text = await post(address, sent).catch(() => '')
  if (turn !== newest) return
  const next = new DOMParser().parseFromString(text, 'text/html').getElementById(form.id)
  if (next instanceof HTMLFormElement) replace(form, next, sent)
  else for (const button of instead(form)) button.hidden = false
}

async function post(address, body) {
  const response = await fetch(address, { method: 'POST', body })
  return response.text()
}

/** Shows another form in the place of one. What was typed since it was sent stays, and so does the focus. */
function replace(form, next, sent) {
  for (const { name, value, type } of form.elements)
    if (type !== 'hidden' && type !== 'submit' && sent.has(name) && sent.get(name) !== value) {
      const field = next.elements.namedItem(name)
      if (field !== null) field.value = value
    }
  const { activeElement: focused } = document
  const hadFocus = form.contains(focused)
  form.replaceWith(next)
  prepare(next)
  const field = hadFocus && focused !== null ? document.getElementById(focused.id) : null
  field?.focus()
  if (field instanceof HTMLInputElement && focused instanceof HTMLInputElement)
    field.setSelectionRange(focused.selectionStart, focused.selectionEnd)
}

/**
 * The buttons that do what a change does.
 *
 * @param {HTMLFormElement} form
 * @returns {NodeListOf<HTMLButtonElement>}
 */
const instead = (form) => form.querySelectorAll('[data-instead]')

/** They are for pages without script. */
function prepare(place) {
  for (const field of place.querySelectorAll('[data-refreshes]'))
    for (const button of instead(field.form)) button.hidden = true
}

prepare(document)
