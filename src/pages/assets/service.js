import { createClient } from '../../client/create-client.ts'

const { proxy } = document.body.dataset

/** Requests with personal data go through the site's own proxy. It requires a nonce, which the client sends. */
const secure = createClient({ baseUrl: proxy })

export const service = {
  session: () => secure.get('/nonce'),
  address: () => secure.get('/me/address'),
  order: (token) => secure.get(`/store/orders/${token}`),
  cancelOrder: (token) => secure.post(`/store/orders/${token}/cancel`),
  quote: (body, signal) => secure.post('/store/quote', body, { signal }),
  checkout: (body, idempotencyKey) => secure.checkout(body, { idempotencyKey }),
  captureLanding: () => secure.captureLanding()
}
