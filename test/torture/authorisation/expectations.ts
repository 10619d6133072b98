import type { Expected, Row } from './kinds.ts'

// What everybody is answered, written by hand from the interface: no line of it is read off the program.

const noSession = '401 NOT_AUTHENTICATED'
const noAffiliate = '404 AFFILIATE_NOT_FOUND'
const isAffiliate = '409 AFFILIATE_EXISTS'
const notFound = '404 NOT_FOUND'

/** The caller's own is answered so; another's and nobody's are refused in the same way. */
const only = (own: string, others: string): Expected => ({ own, foreign: others, absent: others })

const everybody = (expected: Expected): Row => ({
  guest: expected,
  unverified: expected,
  customer: expected,
  'other customer': expected,
  'affiliate pending': expected,
  'affiliate active': expected,
  administrator: expected,
  deactivated: expected
})

const whoeverIsLoggedIn = (expected: Expected): Row => ({
  guest: noSession,
  unverified: noSession,
  customer: expected,
  'other customer': expected,
  'affiliate pending': expected,
  'affiliate active': expected,
  administrator: expected,
  deactivated: noSession
})

/** Of a message's token: a guest has none, and a deactivated person's opens nothing. */
const whoeverHasAToken: Row = {
  guest: '400 TOKEN_INVALID',
  unverified: only('200', '400 TOKEN_INVALID'),
  customer: only('200', '400 TOKEN_INVALID'),
  'other customer': only('200', '400 TOKEN_INVALID'),
  'affiliate pending': only('200', '400 TOKEN_INVALID'),
  'affiliate active': only('200', '400 TOKEN_INVALID'),
  administrator: only('200', '400 TOKEN_INVALID'),
  deactivated: '400 TOKEN_INVALID'
}

/** Routes of the API by method and path; each is asked directly and by way of the proxy. */
export const routeExpectations: Readonly<Record<string, Row>> = {
  'GET /nonce': everybody('200'),
  // The object is the nonce.
  'POST /auth/register': everybody(only('201', '403 CSRF_FAILED')),
  // The object is the account, tried with the caller's own password.
  'POST /auth/login': {
    guest: '401 AUTH_INVALID_CREDENTIALS',
    unverified: only('403 AUTH_EMAIL_NOT_VERIFIED', '401 AUTH_INVALID_CREDENTIALS'),
    customer: only('200', '401 AUTH_INVALID_CREDENTIALS'),
    'other customer': only('200', '401 AUTH_INVALID_CREDENTIALS'),
    'affiliate pending': only('200', '401 AUTH_INVALID_CREDENTIALS'),
    'affiliate active': only('200', '401 AUTH_INVALID_CREDENTIALS'),
    administrator: only('200', '401 AUTH_INVALID_CREDENTIALS'),
    deactivated: only('403 AUTH_ACCOUNT_DEACTIVATED', '401 AUTH_INVALID_CREDENTIALS')
  },
  'POST /auth/logout': everybody('200'),
  'GET /me': whoeverIsLoggedIn('200'),
  // The object is the token of the message: another's has been used, for one that has not is a key to whoever holds it.
  'POST /auth/verify-email': whoeverHasAToken,
  'POST /auth/resend-verification': everybody('200'),
  'POST /auth/forgot-password': everybody('200'),
  'POST /auth/reset-password': whoeverHasAToken,
  // The object is the present password: another person's opens nothing here.
  'POST /auth/change-password': whoeverIsLoggedIn(only('200', '401 AUTH_INVALID_CREDENTIALS')),
  'PATCH /me': whoeverIsLoggedIn(only('200', '422 VALIDATION_FAILED')),
  'GET /orders': whoeverIsLoggedIn('200'),
  'GET /store/offers': everybody('200'),
  // The object is the Idempotency-Key: under another's a new order is made, as under one that is nobody's.
  'POST /store/checkout-session': everybody('200'),
  // The object is the cursor; parameters are judged before the account is.
  'GET /affiliates/referrals': {
    guest: noSession,
    unverified: noSession,
    customer: only(noAffiliate, '422 VALIDATION_FAILED'),
    'other customer': only(noAffiliate, '422 VALIDATION_FAILED'),
    'affiliate pending': only('403 AFFILIATE_NOT_ACTIVE', '422 VALIDATION_FAILED'),
    'affiliate active': only('200', '422 VALIDATION_FAILED'),
    administrator: only(noAffiliate, '422 VALIDATION_FAILED'),
    deactivated: noSession
  },
  'GET /affiliates/me': {
    guest: noSession,
    unverified: noSession,
    customer: noAffiliate,
    'other customer': noAffiliate,
    'affiliate pending': '200',
    'affiliate active': '200',
    administrator: noAffiliate,
    deactivated: noSession
  },
  'POST /affiliates/apply': {
    guest: noSession,
    unverified: noSession,
    customer: '200',
    'other customer': '200',
    'affiliate pending': isAffiliate,
    'affiliate active': isAffiliate,
    administrator: '200',
    deactivated: noSession
  },
  'POST /affiliates/terms': {
    guest: noSession,
    unverified: noSession,
    customer: noAffiliate,
    'other customer': noAffiliate,
    'affiliate pending': '200',
    'affiliate active': '200',
    administrator: noAffiliate,
    deactivated: noSession
  },
  'GET /me/downloads': whoeverIsLoggedIn('200'),
  'GET /health': everybody('200'),
  // Nobody but the gateway can sign.
  'POST /webhooks/stripe': everybody('400 WEBHOOK_SIGNATURE_INVALID')
}

/** What the proxy answers where it lets nobody through. */
export const besideTheProxy = notFound

/** What is no route of the API: pages, links, and what opens a route. */
export const placeExpectations: Readonly<Record<string, Row>> = {
  // Another's session is one that has ended: who has a live one is that person.
  'session cookie': whoeverIsLoggedIn(only('200', noSession)),
  'two session cookies': everybody(noSession),
  'nonce of a read through the proxy': {
    guest: only(noSession, '403 CSRF_FAILED'),
    unverified: only(noSession, '403 CSRF_FAILED'),
    customer: only('200', '403 CSRF_FAILED'),
    'other customer': only('200', '403 CSRF_FAILED'),
    'affiliate pending': only('200', '403 CSRF_FAILED'),
    'affiliate active': only('200', '403 CSRF_FAILED'),
    administrator: only('200', '403 CSRF_FAILED'),
    deactivated: only(noSession, '403 CSRF_FAILED')
  },
  'nonce of a write through the proxy': everybody(only('200', '403 CSRF_FAILED')),
  // Another's is his permission's number with the signature of a link that is not his.
  'GET /downloads/{token}': {
    guest: notFound,
    unverified: notFound,
    customer: only('200', notFound),
    'other customer': only('200', notFound),
    'affiliate pending': only('200', notFound),
    'affiliate active': only('200', notFound),
    administrator: only('200', notFound),
    deactivated: notFound
  },
  'GET /checkout/{token}': everybody(only('200', '404')),
  'GET /checkout/{order number}': everybody('404'),
  'POST /checkout/{token}': everybody(only('303', '404')),
  'GET /checkout/done/{token}': everybody(only('200', '404')),
  'GET /account/verify': {
    guest: '410',
    unverified: only('200', '410'),
    customer: only('200', '410'),
    'other customer': only('200', '410'),
    'affiliate pending': only('200', '410'),
    'affiliate active': only('200', '410'),
    administrator: only('200', '410'),
    deactivated: '410'
  },
  'POST /account/verify': {
    guest: '410',
    unverified: only('303', '410'),
    customer: only('303', '410'),
    'other customer': only('303', '410'),
    'affiliate pending': only('303', '410'),
    'affiliate active': only('303', '410'),
    administrator: only('303', '410'),
    deactivated: '410'
  },
  'GET /account/reset': {
    guest: '410',
    unverified: only('200', '410'),
    customer: only('200', '410'),
    'other customer': only('200', '410'),
    'affiliate pending': only('200', '410'),
    'affiliate active': only('200', '410'),
    administrator: only('200', '410'),
    deactivated: '410'
  },
  'POST /account/reset': {
    guest: '410',
    unverified: only('303', '410'),
    customer: only('303', '410'),
    'other customer': only('303', '410'),
    'affiliate pending': only('303', '410'),
    'affiliate active': only('303', '410'),
    administrator: only('303', '410'),
    deactivated: '410'
  },
  'GET /sandbox/checkout/{id}': everybody(only('200', '404')),
  'GET /sandbox/3ds/{id}': everybody('404'),
  // These are the same for everybody: what belongs to a person their scripts fetch through the proxy.
  'GET /': everybody('200'),
  'GET /orders': everybody('200'),
  'GET /account': everybody('200'),
  'GET /referrals': everybody('200'),
  'GET /thanks': everybody('200'),
  'GET /openapi.json': everybody('200'),
  'GET /docs': everybody('200'),
  'GET /livez': everybody('200'),
  'GET /readyz': everybody('200')
}
