import { readCart } from './cart-store.js'
import { findAll } from './dom.js'
import { service } from './service.js'
import { rememberLanding } from './tracking.js'

function showCount() {
  const count = readCart().reduce((sum, { quantity }) => sum + quantity, 0)
  for (const place of findAll('[data-cart-count]')) {
    place.textContent = String(count)
    place.hidden = count === 0
  }
}

function showSignedIn(isSignedIn) {
  for (const link of findAll('[data-signed]')) link.hidden = (link.dataset.signed === 'in') !== isSignedIn
}

rememberLanding()
showCount()
addEventListener('cart', showCount)
addEventListener('storage', showCount)

/** Who is here: the nonce's answer tells, so that no page needs a request of its own for it. Null where nobody answers. */
export const session = service.session().catch(() => null)
void session.then((known) => showSignedIn(known?.userLoggedIn === true))
