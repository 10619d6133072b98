import { h } from './dom.js'
import { t } from './texts.js'

/**
 * Sends a form by script, one request at a time. Shows each error at its field, or above the form if it has no field.
 *
 * @param send gets the form's values and does the work
 * @param fields the form's field for a path of the service's fieldErrors, if the names differ
 */
export function onSend(form, send, fields = {}) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button[type=submit]')
    if (button.getAttribute('aria-disabled') === 'true') return
    clear(form)
    if (!checkHere(form)) return
    button.setAttribute('aria-disabled', 'true')
    try {
      await send(valuesOf(form))
    } catch (error) {
      show(form, error, fields)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  })
}

function valuesOf(form) {
  const values = Object.fromEntries(new FormData(form))
  const ticks = [...form.querySelectorAll('input[type=checkbox]')].map(({ name, checked }) => [name, checked])
  return { ...values, ...Object.fromEntries(ticks) }
}

function checkHere(form) {
  const wrong = [...form.elements].filter((field) => field.name && field.offsetParent !== null && !field.validity.valid)
  for (const field of wrong) mark(field, field.validationMessage)
  wrong[0]?.focus()
  return wrong.length === 0
}

function show(form, error, fields) {
  const byPath = Object.entries(error.details?.fieldErrors ?? {})
  const marked = byPath.flatMap(([path, messages]) => {
    const field = form.elements.namedItem(fields[path] ?? path.split('.').at(-1))
    if (!(field instanceof HTMLElement) || field.offsetParent === null) return []
    mark(field, messages.join(' '))
    return [field]
  })
  if (marked.length > 0) return marked[0].focus()
  const others = byPath.flatMap(([, messages]) => messages)
  say(form, others.length > 0 ? others.join(' ') : messageOf(error))
}

function messageOf(error) {
  if (error.code !== undefined) return error.message
  // An error without a code is a bug in this page and must not look like a network problem.
  reportError(error)
  return t('form.broken')
}

/** Shows a message above the form, which screen readers announce. */
export function say(form, ...content) {
  form.querySelector('[data-form-error]')?.remove()
  const box = h('div', { class: 'error', role: 'alert', tabindex: '-1', 'data-form-error': true }, ...content)
  form.prepend(box)
  box.focus()
}

/** Shows an error at a field. */
export function mark(field, message) {
  const id = `${field.id || field.name}-error`
  const known = document.getElementById(id)
  const place = known ?? h('p', { class: 'error', id })
  place.textContent = message
  place.hidden = false
  if (known === null) field.insertAdjacentElement('afterend', place)
  field.setAttribute('aria-invalid', 'true')
  field.dataset.describedBy ??= field.getAttribute('aria-describedby') ?? ''
  field.setAttribute('aria-describedby', `${id} ${field.dataset.describedBy}`.trim())
}

/** Removes the error of a field. */
export function unmark(field) {
  field.removeAttribute('aria-invalid')
  if (field.dataset.describedBy) field.setAttribute('aria-describedby', field.dataset.describedBy)
  else field.removeAttribute('aria-describedby')
  const place = document.getElementById(`${field.id || field.name}-error`)
  if (place !== null) place.hidden = true
}

function clear(form) {
  form.querySelector('[data-form-error]')?.remove()
  for (const field of form.querySelectorAll('[aria-invalid]')) unmark(field)
}
