import type { Expected, Row } from './kinds.ts'

// The expected responses, written by hand from docs/interface.md and docs/contract.md, not derived from the code.

const noSession = '401 NOT_AUTHENTICATED'
const noAffiliate = '404 AFFILIATE_NOT_FOUND'
const isAffiliate = '409 AFFILIATE_EXISTS'
const notFound = '404 NOT_FOUND'

/** The response for the caller's own object, and one identical refusal for another person's and for a missing object. */
const only = (own: string, others: string): Expected => ({ own, foreign: others, absent: others })

const everyone = (expected: Expected): Row => ({
  guest: expected,
  unverified: expected,
  customer: expected,
  'other customer': expected,
  'affiliate pending': expected,
  'affiliate active': expected,
  administrator: expected,
  deactivated: expected
})

const personalPage: Row = { ...everyone('200'), guest: '303', unverified: '303', deactivated: '303' }

const loggedIn = (expected: Expected): Row => ({
  guest: noSession,
  unverified: noSession,
  customer: expected,
  'other customer': expected,
  'affiliate pending': expected,
  'affiliate active': expected,
  administrator: expected,
  deactivated: noSession
})

const ownBody = (expected: string): Expected => only(expected, '422 VALIDATION_FAILED')

/** For the token of an email: a guest has none, and a deactivated person's token is invalid. */
const tokenOwner: Row = {
  guest: '400 TOKEN_INVALID',
  unverified: only('200', '400 TOKEN_INVALID'),
  customer: only('200', '400 TOKEN_INVALID'),
  'other customer': only('200', '400 TOKEN_INVALID'),
  'affiliate pending': only('200', '400 TOKEN_INVALID'),
  'affiliate active': only('200', '400 TOKEN_INVALID'),
  administrator: only('200', '400 TOKEN_INVALID'),
  deactivated: '400 TOKEN_INVALID'
}

/** The API's routes by method and path. Each one is called directly and through the proxy. */
export const routeExpectations: Readonly<Record<string, Row>> = {
  'GET /nonce': everyone('200'),
  // The object is the nonce.
  'POST /auth/register': everyone(only('201', '403 CSRF_FAILED')),
  // The object is the account; the password is the caller's.
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
  'POST /auth/logout': everyone('200'),
  'GET /me': loggedIn('200'),
  // The object is the email's token. Another person's token is a used one, because an unused one is valid for any holder.
  'POST /auth/verify-email': tokenOwner,
  'POST /auth/resend-verification': everyone('200'),
  'POST /auth/forgot-password': everyone('200'),
  'POST /auth/reset-password': tokenOwner,
  // The object is the current password; another person's is refused.
  'POST /auth/change-password': loggedIn(only('200', '401 AUTH_INVALID_CREDENTIALS')),
  // The object is the password; another person's is refused.
  'POST /auth/change-email': loggedIn(only('200', '401 AUTH_INVALID_CREDENTIALS')),
  'POST /auth/confirm-email': tokenOwner,
  // A token of another kind is not valid here.
  'POST /auth/undo-email-change': everyone('400 TOKEN_INVALID'),
  'POST /me/delete': {
    ...loggedIn(only('200', '401 AUTH_INVALID_CREDENTIALS')),
    administrator: only('409 CONFLICT', '401 AUTH_INVALID_CREDENTIALS')
  },
  'PATCH /me': loggedIn(only('200', '422 VALIDATION_FAILED')),
  'GET /me/email-change': loggedIn('200'),
  // The matrix's people have no pending change.
  'POST /me/email-change/resend': loggedIn('409 CONFLICT'),
  'POST /me/email-change/withdraw': loggedIn('200'),
  'GET /me/address': loggedIn('200'),
  'POST /me/address': loggedIn(ownBody('200')),
  'GET /orders': loggedIn('200'),
  'GET /orders/{id}': loggedIn(only('200', notFound)),
  'GET /me/prices': loggedIn('200'),
  'GET /me/subscriptions': loggedIn('200'),
  'POST /me/subscriptions/{id}/cancel': loggedIn(only('200', notFound)),
  // The subscription of the caller is a fixed period, which the gateway does not know.
  'POST /me/subscriptions/{id}/portal': loggedIn(notFound),
  'GET /store/offers': everyone('200'),
  'GET /store/products': everyone('200'),
  // Everyone can see what is for sale; products do not belong to a person.
  'GET /store/products/{slug}': everyone(only('200', notFound)),
  'GET /store/categories': everyone('200'),
  'GET /store/redirects': everyone('200'),
  // The body of another target has fields that the endpoint does not know.
  'POST /store/quote': everyone(ownBody('200')),
  'POST /store/prove-email': everyone(ownBody('200')),
  'GET /store/payment-config': everyone('200'),
  // The object is the Idempotency-Key. Another person's key creates a new order, like an unused one.
  'POST /store/checkout-session': everyone('200'),
  // The token is the permission: who has it reads and cancels the order.
  'GET /store/orders/{orderToken}': everyone(only('200', notFound)),
  'POST /store/orders/{orderToken}/cancel': everyone(only('200', notFound)),
  // The matrix's orders have no subscription.
  'POST /store/orders/{orderToken}/end-subscription': everyone(only('409 CONFLICT', notFound)),
  // The object is the cursor; it is validated before the account.
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
  'GET /affiliates/payouts': {
    guest: noSession,
    unverified: noSession,
    customer: only(noAffiliate, '422 VALIDATION_FAILED'),
    'other customer': only(noAffiliate, '422 VALIDATION_FAILED'),
    'affiliate pending': only('200', '422 VALIDATION_FAILED'),
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
  'GET /affiliates/link': {
    guest: noSession,
    unverified: noSession,
    customer: noAffiliate,
    'other customer': noAffiliate,
    'affiliate pending': '403 AFFILIATE_NOT_ACTIVE',
    'affiliate active': '200',
    administrator: noAffiliate,
    deactivated: noSession
  },
  'GET /affiliates/stats': {
    guest: noSession,
    unverified: noSession,
    customer: noAffiliate,
    'other customer': noAffiliate,
    'affiliate pending': '403 AFFILIATE_NOT_ACTIVE',
    'affiliate active': '200',
    administrator: noAffiliate,
    deactivated: noSession
  },
  // The object is the affiliate of the ref. The response does not depend on it.
  'POST /affiliates/clicks': everyone(ownBody('200')),
  'POST /affiliates/apply': {
    guest: noSession,
    unverified: noSession,
    customer: ownBody('200'),
    'other customer': ownBody('200'),
    'affiliate pending': ownBody(isAffiliate),
    'affiliate active': ownBody(isAffiliate),
    administrator: ownBody('200'),
    deactivated: noSession
  },
  'POST /affiliates/terms': {
    guest: noSession,
    unverified: noSession,
    customer: ownBody(noAffiliate),
    'other customer': ownBody(noAffiliate),
    'affiliate pending': ownBody('200'),
    'affiliate active': ownBody('200'),
    administrator: ownBody(noAffiliate),
    deactivated: noSession
  },
  'GET /me/downloads': loggedIn('200'),
  'GET /health': everyone('200'),
  // Only the gateway can sign.
  'POST /webhooks/stripe': everyone('400 WEBHOOK_SIGNATURE_INVALID')
}

/** The proxy's response for a route that it does not forward. */
export const notProxied = notFound

/** Pages and links outside the API, and credentials such as cookies and nonces. */
export const pageExpectations: Readonly<Record<string, Row>> = {
  // Another person's session is an ended one, because a live one identifies its holder.
  'session cookie': loggedIn(only('200', noSession)),
  // The same cookie twice is one cookie.
  'two session cookies': loggedIn(only('200', noSession)),
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
  'nonce of a write through the proxy': everyone(only('200', '403 CSRF_FAILED')),
  // Another person's: their download id with the signature of the caller's link.
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
  'GET /checkout/{token}': everyone(only('200', '404')),
  'GET /checkout/{order number}': everyone('404'),
  'POST /checkout/{token}': everyone(only('303', '404')),
  'GET /checkout/done/{token}': everyone(only('200', '404')),
  'GET /checkout/invoice/{token}': everyone(only('200', '404')),
  'GET /checkout/return/{token}': everyone(only('303', '404')),
  'GET /checkout/cancel/{token}': everyone(only('303', '404')),
  'POST /checkout/cancel/{token}': everyone(only('303', '404')),
  'GET /checkout/subscription/{token}': everyone(only('303', '404')),
  'POST /checkout/subscription/{token}': everyone(only('409', '404')),
  // An order without an email leads on.
  'GET /checkout/prove/{token}': {
    ...everyone(only('200', '404')),
    guest: only('303', '404'),
    unverified: only('303', '404')
  },
  'POST /checkout/prove/{token}': {
    ...everyone(only('400', '404')),
    guest: only('303', '404'),
    unverified: only('303', '404')
  },
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
  'GET /account/email/undo': everyone('410'),
  'POST /account/email/undo': everyone('410'),
  'GET /account/email': {
    guest: '410',
    unverified: only('200', '410'),
    customer: only('200', '410'),
    'other customer': only('200', '410'),
    'affiliate pending': only('200', '410'),
    'affiliate active': only('200', '410'),
    administrator: only('200', '410'),
    deactivated: '410'
  },
  'POST /account/email': {
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
  'GET /sandbox/checkout/{id}': everyone(only('200', '404')),
  'GET /sandbox/3ds/{id}': everyone('404'),
  'GET /': everyone('200'),
  // The personal pages lead a visitor without a session to the login.
  'GET /orders': personalPage,
  'GET /account': personalPage,
  'GET /referrals': personalPage,
  // No order is named.
  'GET /thanks': everyone('404'),
  'GET /openapi.json': everyone('200'),
  'GET /docs': everyone('200'),
  'GET /livez': everyone('200'),
  'GET /readyz': everyone('200')
}
