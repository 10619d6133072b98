import { createClient } from '../../client/create-client.ts'
import { cartText, checkCart, findAll } from './enhance.js'
import { showOwnPrices } from './own-prices.js'

/** Requests with personal data go through the site's own proxy. It requires a nonce, which the client sends. */
const client = createClient({ baseUrl: document.body.dataset.proxy })

function showCount() {
  const count = [...cartText().matchAll(/x(\d+)/g)].reduce((sum, [, quantity]) => sum + Number(quantity), 0)
  for (const place of findAll('[data-cart-count]')) {
    place.textContent = String(count)
    place.hidden = count === 0
  }
}

// Pages that a cache keeps are the same for every visitor.
const asksConsent = document.body.dataset.asksConsent !== undefined
client.captureLanding({ asksConsent })

function showTracking() {
  for (const field of findAll('[name=tracking]')) field.value = String(new URLSearchParams(client.tracking()))
  const answer = client.trackingConsent()
  for (const place of findAll('[data-consent-given]')) place.hidden = answer !== true
  const hasLanding = Object.keys(client.tracking()).length > 0
  for (const place of findAll('[data-consent-asked]')) place.hidden = answer !== null || !hasLanding
}

showTracking()
for (const button of findAll('[data-consent]'))
  button.addEventListener('click', () => {
    client.setTrackingConsent(button.dataset.consent === 'yes')
    showTracking()
  })
showCount()
addEventListener('cart', showCount)
globalThis.cookieStore?.addEventListener('change', ({ changed, deleted }) => {
  if (![...changed, ...deleted].some(({ name }) => name === 'shopstead_cart')) return
  showCount()
  // The answer to the form's own change also sets the cookie.
  setTimeout(checkCart, 300)
})

void client.get('/nonce').then(
  ({ userLoggedIn }) => {
    for (const link of findAll('[data-signed]')) link.hidden = (link.dataset.signed === 'in') !== userLoggedIn
    if (!userLoggedIn) return
    void showOwnPrices(client)
    addEventListener('list', () => void showOwnPrices(client))
  },
  () => undefined
)
