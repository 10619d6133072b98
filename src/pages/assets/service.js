import { createClient } from '../../client/create-client.ts'

const { api, proxy } = document.body.dataset

/** Requests with personal data go through the site's own proxy. It requires a nonce, which the client sends. */
const secure = createClient({ baseUrl: proxy })
/** Offers are public, and the proxy drops their query, so they are requested from the service directly. */
const open = createClient({ baseUrl: api })

const present = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))

export const service = {
  session: () => secure.get('/nonce'),
  offers: (query) => open.get('/store/offers', { query: present(query) }),
  register: (body) => secure.request('POST', '/auth/register', { body }),
  login: (body) => secure.post('/auth/login', body),
  logout: () => secure.post('/auth/logout'),
  forgotPassword: (email) => secure.post('/auth/forgot-password', { email }),
  resendVerification: (email) => secure.post('/auth/resend-verification', { email }),
  me: () => secure.get('/me'),
  changePassword: (body) => secure.post('/auth/change-password', body),
  changeEmail: (body) => secure.post('/auth/change-email', body),
  emailChange: () => secure.get('/me/email-change'),
  resendEmailChange: () => secure.post('/me/email-change/resend'),
  withdrawEmailChange: () => secure.post('/me/email-change/withdraw'),
  deleteMe: (body) => secure.post('/me/delete', body),
  updateMe: (body) => secure.patch('/me', body),
  address: () => secure.get('/me/address'),
  setAddress: (address) => secure.post('/me/address', { address }),
  downloads: () => secure.get('/me/downloads'),
  subscriptions: () => secure.get('/me/subscriptions'),
  endSubscription: (id) => secure.post(`/me/subscriptions/${id}/cancel`),
  order: (token) => secure.get(`/store/orders/${token}`),
  cancelOrder: (token) => secure.post(`/store/orders/${token}/cancel`),
  ownOrder: (id) => secure.get(`/orders/${id}`),
  orders: (query) => secure.get('/orders', { query }),
  quote: (body, signal) => secure.post('/store/quote', body, { signal }),
  checkout: (body, idempotencyKey) => secure.checkout(body, { idempotencyKey }),
  captureLanding: () => secure.captureLanding(),
  affiliate: () => secure.get('/affiliates/me'),
  referrals: (query) => secure.get('/affiliates/referrals', { query }),
  affiliateStats: (query) => secure.get('/affiliates/stats', { query }),
  applyAsAffiliate: (body) => secure.post('/affiliates/apply', body),
  acceptTerms: (version) => secure.post('/affiliates/terms', { version })
}
