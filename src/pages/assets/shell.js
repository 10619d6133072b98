import { onCartChange, readCart } from './cart-store.js'
import { findAll } from './dom.js'
import './enhance.js'
import { service } from './service.js'

function showCount() {
  const count = readCart().reduce((sum, { quantity }) => sum + quantity, 0)
  for (const place of findAll('[data-cart-count]')) {
    place.textContent = String(count)
    place.hidden = count === 0
  }
}

/** Shows the links for a person who is logged in, or for one who is not. */
export function showSignedIn(isSignedIn) {
  for (const link of findAll('[data-signed]')) link.hidden = (link.dataset.signed === 'in') !== isSignedIn
}

service.captureLanding()
showCount()
addEventListener('cart', showCount)
onCartChange(showCount)

/** The session, from the response to the nonce request, which every page sends. Null if the service does not answer. */
export const session = service.session().catch(() => null)
void session.then((known) => showSignedIn(known?.userLoggedIn === true))
