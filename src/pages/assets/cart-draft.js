const key = 'shopstead.cart-form'
/** Fields that are not stored: a password, and a card. */
const secret = new Set(['password', 'paymentToken'])

/** Keeps what the buyer types in a form for this tab, over reloads and Back, and fills it in again. */
export function keepDraft(form) {
  fillForm(form)
  form.addEventListener('input', () => {
    const values = [...new FormData(form)].filter(([name]) => !secret.has(name))
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(values)))
  })
}

/** Fills in what the buyer typed. A list that does not have the value stays as it is. */
export function fillForm(form) {
  for (const [name, value] of Object.entries(readDraft())) {
    const field = form.elements.namedItem(name)
    if (field === null || secret.has(name)) continue
    if (field.type === 'checkbox') field.checked = value === 'on'
    else if (!(field instanceof HTMLSelectElement) || [...field.options].some((option) => option.value === value))
      field.value = value
  }
}

export function forgetDraft() {
  sessionStorage.removeItem(key)
}

/** What the buyer typed, by the names of the fields. */
export function readDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}')
  } catch {
    return {}
  }
}
