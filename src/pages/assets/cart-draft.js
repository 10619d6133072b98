const key = 'shopstead.cart-form'
/** Fields that are not stored: a password, and a card. */
const secret = new Set(['password', 'paymentToken'])

/** Keeps what the buyer types in a form for this tab, over reloads and Back, and fills it in again. */
export function keepDraft(form) {
  for (const [name, value] of Object.entries(readDraft())) {
    const field = form.elements.namedItem(name)
    if (field === null || secret.has(name)) continue
    if (field.type === 'checkbox') field.checked = value === 'on'
    else field.value = value
  }
  form.addEventListener('input', () => {
    const values = [...new FormData(form)].filter(([name]) => !secret.has(name))
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(values)))
  })
}

export function forgetDraft() {
  sessionStorage.removeItem(key)
}

function readDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}')
  } catch {
    return {}
  }
}
