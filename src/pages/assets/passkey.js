// @ts-check
// Makes or uses a passkey when the form is sent, and sends what the browser returns with it.

const form = /** @type {HTMLFormElement} */ (document.querySelector('form[data-passkey]'))
const status = /** @type {HTMLElement} */ (document.querySelector('[data-passkey-status]'))
const { passkey = 'get', options = '{}', missing = '', failed = '' } = form.dataset

/** @param {string} text */
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

/** @param {ArrayBuffer} buffer */
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** @param {{ id: string }[]} list */
const withBytes = (list) => list.map((each) => ({ ...each, id: toBytes(each.id) }))

/** @returns {Promise<object>} */
async function ask() {
  const sent = JSON.parse(options)
  const publicKey = { ...sent, challenge: toBytes(sent.challenge) }
  if (passkey === 'create') {
    publicKey.user.id = toBytes(sent.user.id)
    publicKey.excludeCredentials = withBytes(sent.excludeCredentials)
    return answerOf(await navigator.credentials.create({ publicKey }))
  }
  publicKey.allowCredentials = withBytes(sent.allowCredentials)
  return answerOf(await navigator.credentials.get({ publicKey }))
}

/** @param {Credential | null} credential */
function answerOf(credential) {
  const { id, type, response } = /** @type {PublicKeyCredential} */ (credential)
  /** @type {Record<string, string>} */
  const parts = {}
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature']) {
    const part = Reflect.get(response, name)
    if (part) parts[name] = toText(part)
  }
  // A password manager may also offer these; the shop reads only what it checks.
  if (passkey === 'create') delete parts['authenticatorData']
  return { id, rawId: id, type, response: parts }
}

async function send() {
  status.textContent = ''
  try {
    const answer = await ask()
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('credential'))
    field.value = JSON.stringify(answer)
    form.submit()
  } catch {
    status.textContent = failed
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (globalThis.PublicKeyCredential) void send()
  else status.textContent = missing
})
