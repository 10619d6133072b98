/** A refusal of the service; `code` says which. */
export class ServiceError extends Error {
  constructor(status, { code, message, details }) {
    super(message)
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.details = details ?? {}
  }
}

const { api, proxy } = document.body.dataset

let nonce

async function fetchNonce() {
  const answer = await send('GET', `${proxy}/nonce`)
  nonce = answer.data.nonce
  return answer
}

async function send(method, url, { body, headers = {} } = {}) {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const answer = await response.json()
  if (!response.ok) throw new ServiceError(response.status, answer.error)
  return answer
}

async function secure(method, path, options = {}, again = true) {
  if (nonce === undefined) await fetchNonce()
  try {
    return await send(method, `${proxy}${path}`, { ...options, headers: { 'x-nonce': nonce, ...options.headers } })
  } catch (error) {
    if (!again || error.code !== 'CSRF_FAILED' || error.details.reason !== 'invalid_nonce') throw error
    nonce = undefined
    return secure(method, path, options, false)
  }
}

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

const data = async (answer) => (await answer).data

export const service = {
  session: () => data(fetchNonce()),
  offers: (filter) => data(send('GET', `${api}/store/offers${query(filter)}`)),
  register: (body) => secure('POST', '/auth/register', { body }),
  login: (body) => data(secure('POST', '/auth/login', { body })),
  logout: () => data(secure('POST', '/auth/logout')),
  forgotPassword: (email) => data(secure('POST', '/auth/forgot-password', { body: { email } })),
  resendVerification: (email) => data(secure('POST', '/auth/resend-verification', { body: { email } })),
  me: () => data(secure('GET', '/me')),
  updateMe: (body) => data(secure('PATCH', '/me', { body })),
  downloads: () => data(secure('GET', '/me/downloads')),
  orders: (page) => data(secure('GET', `/orders${query(page)}`)),
  checkout: (body, tracking, key) =>
    data(secure('POST', `/store/checkout-session${query(tracking)}`, { body, headers: { 'idempotency-key': key } })),
  affiliate: () => data(secure('GET', '/affiliates/me')),
  referrals: (page) => data(secure('GET', `/affiliates/referrals${query(page)}`)),
  applyAsAffiliate: (body) => data(secure('POST', '/affiliates/apply', { body })),
  acceptTerms: (version) => data(secure('POST', '/affiliates/terms', { body: { version } }))
}
