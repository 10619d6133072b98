import { ShopError } from '../../client/errors.ts'
import { h } from './dom.js'
import { t } from './texts.js'

const url = '/cart/address'
const names = ['country', 'address1', 'address2', 'postcode', 'city', 'state']

/**
 * The shipping address. The shop sends the fields of the country, in the order in which the country writes them, and
 * checks them by its rules.
 *
 * @param {HTMLElement} place
 * @param {HTMLFormElement} form
 */
export function createAddress(place, form) {
  /** Only the answer for the newest country counts. */
  let asked = 0

  /** Shows the fields of a country; without one, those of the country that the browser's language suggests. */
  async function load(country = '') {
    const turn = ++asked
    try {
      const response = await fetch(`${url}?country=${encodeURIComponent(country)}`)
      if (turn === asked) await show(response)
    } catch {
      const again = h('button', { type: 'button', class: 'plain', onclick: () => load(country) }, t('link.again'))
      place.replaceChildren(h('p', { class: 'note' }, t('cart.noAddress'), ' ', again))
    }
  }

  /** Shows the fields of an answer. What was typed meanwhile is kept, and so is the focus. */
  async function show(response, sent = {}) {
    if (response.status !== 200 && response.status !== 422) throw new Error(`the address form is ${response.status}`)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const now = typed()
    const { activeElement: focused } = document
    const hadFocus = place.contains(focused)
    place.replaceChildren(...page.body.childNodes)
    for (const field of place.querySelectorAll('input'))
      if (field.type !== 'hidden' && now[field.name] !== (sent[field.name] ?? '')) field.value = now[field.name]
    if (hadFocus) focusAgain(focused)
  }

  /** Shows a stored address; false if it is not valid any more. */
  async function showStored(stored) {
    const turn = ++asked
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams(stored) }).catch(() => null)
    if (response?.status !== 200 || turn !== asked) return false
    await show(response)
    return true
  }

  /** @returns {Record<string, string>} */
  function typed() {
    const values = new FormData(form)
    const textOf = (value) => (typeof value === 'string' ? value : '')
    return Object.fromEntries(names.map((name) => [name, textOf(values.get(name))]))
  }

  place.addEventListener('change', (event) => {
    if (event.target instanceof HTMLSelectElement && event.target.name === 'country') void load(event.target.value)
  })

  return {
    /**
     * Loads the fields, for a country or with a stored address. An address that is not valid any more, because the shop
     * does not ship there, gives empty fields.
     *
     * @param {Partial<import('../../client/api-types.ts').Address>} stored
     */
    async start(stored) {
      if (stored.address1 === undefined || !(await showStored(stored))) await load(stored.country)
    },
    /** Whether the address is valid. Otherwise each error is shown at its field. */
    async check() {
      const sent = typed()
      const response = await fetch(url, { method: 'POST', body: new URLSearchParams(sent) }).catch((cause) => {
        throw new ShopError('NO_ANSWER', t('form.noAnswer'), { cause })
      })
      await show(response, sent)
      const wrong = place.querySelector('[aria-invalid]')
      if (wrong instanceof HTMLElement) wrong.focus()
      return response.status === 200
    },
    /** The address in the request of a checkout. */
    values: typed
  }
}

/** Puts the focus and the cursor in the field that took the place of another one. */
function focusAgain(old) {
  const field = document.getElementById(old.id)
  field?.focus()
  if (field instanceof HTMLInputElement) field.setSelectionRange(old.selectionStart, old.selectionEnd)
}
