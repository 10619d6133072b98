import { hash } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { hmac, randomToken } from '../platform/crypto/secrets.ts'
import { isStorageError } from '../platform/db/storage-errors.ts'
import { trackingCookies } from './tracking-cookies.ts'
import { cookieValues, ownCookie, ownCookieName } from '../platform/http/cookies.ts'
import { jsonResponse } from '../platform/http/answers.ts'
import { forwardedCountry, headerValues, rawPath, rawTarget } from '../platform/http/client-address.ts'
import { describeError } from '../platform/log.ts'
import { proveMailbox, sendMailboxCode } from '../shop/accounts/mailbox-code.ts'
import { assertCheckoutOpen, assertSelling, createSession } from '../shop/checkout/checkout.ts'
import {
  claimKey,
  conflict,
  endClaim,
  storeAnswer,
  keyScope,
  parseIdempotencyKey,
  readKey,
  releaseKey
} from '../shop/checkout/idempotency.ts'
import type { Claim, Claimed, StoredAnswer } from '../shop/checkout/idempotency.ts'
import { checkoutBody, checkoutQuery, emailProofInput, quoteBody } from '../shop/checkout/input.ts'
import { findAttribution } from '../shop/orders/find.ts'
import { checkoutData } from './answers/checkout.ts'
import { forEveryone, route } from './route.ts'
import type { Call } from './route.ts'
import type { Holder } from '../shop/orders/holds.ts'
import { countVisitor } from '../shop/limits/visitors.ts'
import { setting } from '../shop/settings/settings.ts'
import { quoteCart, translateQuote } from '../shop/checkout/quote.ts'
import { emailProofData, quoteData } from '../shop/checkout/shapes.ts'
import { paymentConfig } from '../shop/checkout/payment-config.ts'
import { paymentConfigData } from '../shop/checkout/payment-config.ts'
import { cachedAnswer, conditionalHeaders, sharedCaching } from './reply.ts'

const tracking = ['ref', 'campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const

export const checkoutRoutes = [
  route({
    method: 'POST',
    path: '/store/checkout-session',
    summary: 'Create a checkout session',
    answers: [{ data: checkoutData }],
    sends: {
      'Set-Cookie': 'With which a guest finds the order again, and the affiliate of the order for the next checkout.',
      'Idempotency-Replayed': 'true if an earlier response is repeated.'
    },
    refuses: [
      'NOT_AUTHENTICATED',
      'CHECKOUT_FAILED',
      'CHECKOUT_DISABLED',
      'IDEMPOTENCY_KEY_REUSE_CONFLICT',
      'RATE_LIMITED',
      'CHECKOUT_NOT_IMPLEMENTED',
      'CHECKOUT_GATEWAY_NOT_CONFIGURED',
      'DEPENDENCY_UNAVAILABLE'
    ],
    headers: z.object({
      'Idempotency-Key': z
        .string()
        .regex(/^[\x20-\x7e]{1,255}$/)
        .optional()
        .meta({
          description:
            'Valid for 24 hours: a request with the same key gets the same response and charges nothing twice.',
          example: '2f1c8a52-cart-17'
        })
    }),
    session: 'optional',
    nonce: 'never',
    proxy: { nonce: true, query: tracking, timeoutMs: 30_000 },
    invalid: 422,
    mayRepeat: /^utm_/,
    query: checkoutQuery,
    body: checkoutBody,
    around: (call, raw, next) => {
      assertCheckoutOpen(call.shop, call.identity?.user ?? null, call.now)
      return idempotent(call, raw, next)
    },
    handler: async (call, input) => {
      const { shop, addressKey, takeKey = null, continues } = call
      const { cookies, ...holder } = call.holder ?? readHolder(call)
      const browser = cookies.length === 0 ? holder.buyer : `address:${holder.addressKey}`
      const mailbox = findMailboxProof(shop, call.request)
      const ipCountry = forwardedCountry(call.request, setting(shop.db, 'tax.countryHeader'), call.trusted)
      const who = { user: call.identity?.user ?? null, addressKey, ipCountry, holder, mailbox, browser }
      const caller = { ...who, takeKey, continues }
      const { order, result, isShared } = await createSession(shop, input, caller, call.now).catch((error: unknown) => {
        throw withCookies(error, cookies)
      })
      if (cookies.length > 0 && !isShared) await countVisitor(shop, addressKey)
      // The checkout cookie of the first request leads to the order.
      return { data: result, cookies: [...cookiesOfOrder(call, order.id), ...(isShared ? [] : cookies)] }
    }
  })
]

/** After a failed payment there is an order, which only the buyer's cookie finds again. */
function withCookies(error: unknown, [cookie]: readonly string[]): unknown {
  if (!(error instanceof AppError) || error.code !== 'CHECKOUT_FAILED' || cookie === undefined) return error
  const headers = { ...error.headers, 'set-cookie': cookie }
  return new AppError(error.code, error.message, error.details, { status: error.status, headers, cause: error.cause })
}

/** The cookies of the link that an order is credited to. A coupon credits its own orders only. */
function cookiesOfOrder({ shop, request }: Call, orderId: number): string[] {
  const attribution = findAttribution(shop.db, orderId)
  if (attribution?.creditedBy !== 'link') return []
  const { affiliateRef: ref, affiliateCampaign: campaign } = attribution
  return trackingCookies(shop, { ref, campaign }, request.headers.get('cookie'), 'order')
}

/**
 * Repeats the first response of an Idempotency-Key if it was 2xx, 402 or 502; otherwise the request runs again. The key is
 * written by `takeKey`, after the checks and limits of a checkout, so that random keys cost the shop no writes.
 */
async function idempotent(call: Call, raw: Uint8Array, next: (call: Call) => Promise<Response>): Promise<Response> {
  const key = parseIdempotencyKey(headerValues(call.request, 'idempotency-key'))
  if (key === null) return next(call)
  const { db } = call.shop
  const holder = readHolder(call)
  const buyer = holder.cookieBuyer ?? holder.buyer
  const asked = { scope: scopeOf(call), key, buyer, ...fingerprintsOf(call, raw) }
  const known = readKey(db, asked, call.now)
  if (known.kind === 'replay') return replay(call, known)
  const continues = known.kind === 'continue' ? { continues: known.orderId } : {}
  let held: Claimed | undefined
  const takeKey = async (): Promise<Claim> => {
    held ??= await claimKey(db, asked, call.now)
    // Another request with the key ran since it was read.
    if (held.kind === 'replay' || (held.kind === 'continue' && held.orderId !== continues.continues))
      throw conflict('in_progress')
    return held.claim
  }
  try {
    const response = await next({ ...call, holder, takeKey, ...continues })
    return held === undefined ? response : await settleKey(call, held, response)
  } finally {
    if (held !== undefined && held.kind !== 'replay') endClaim(held.claim)
  }
}

/**
 * Stores the response or releases the key, and returns the response to send. If the database accepts neither, the client
 * still gets the response, because it is correct; another request with the key continues with its order.
 */
async function settleKey(call: Call, held: Claimed, response: Response): Promise<Response> {
  if (held.kind === 'replay') return replay(call, held)
  const { claim } = held
  const { shop, ids } = call
  try {
    if (isKept(response.status)) await storeAnswer(shop.db, claim, await answerOf(response))
    else await releaseKey(shop.db, claim, { forgetOrder: response.status === 422 })
  } catch (error) {
    if (!isStorageError(error)) throw error
    shop.log.error('a response could not be stored under its idempotency key', {
      requestId: ids.requestId,
      error: describeError(error)
    })
  }
  return response
}

function isKept(status: number): boolean {
  return (status >= 200 && status < 300) || status === 402 || status === 502
}

async function answerOf(response: Response): Promise<StoredAnswer> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  return { status: response.status, body, setCookies: response.headers.getSetCookie() }
}

function replay(call: Call, answer: StoredAnswer): Response {
  return jsonResponse(answer.body.toString('utf8'), call.ids, answer.status, {
    noStore: true,
    headers: [['idempotency-replayed', 'true'], ...answer.setCookies.map((cookie) => ['set-cookie', cookie] as const)]
  })
}

function scopeOf({ identity, addressKey }: Call): string {
  return keyScope(identity === null ? { addressKey } : { sessionHash: identity.session.tokenHash })
}

/**
 * Fingerprints that tell requests apart: of the body as sent and of the relevant parameters, because a proxy or a cache
 * buster may change the others. They are keyed, because a body can contain a password, which someone who steals the
 * database could guess from a plain hash.
 */
function fingerprintsOf({ shop, request }: Call, raw: Uint8Array): { fingerprint: string; bodyFingerprint: string } {
  const target = rawTarget(request)
  const sent = new URLSearchParams(target.slice(rawPath(target).length))
  const query = JSON.stringify(tracking.map((name) => sent.getAll(name)))
  const body = hash('sha256', raw, 'hex')
  const keyed = (text: string): string => hmac(shop.keys.nonce, text).toString('hex')
  return { fingerprint: keyed(`checkout\0${query}\0${body}`), bodyFingerprint: keyed(`checkout body\0${body}`) }
}

/** The longest hold of an unpaid order. */
const maxAgeSeconds = 24 * 60 * 60

/**
 * Who checks out: the user of the session, else the browser with the checkout cookie. A guest without a valid cookie
 * gets a new one in `cookies`.
 */
export function readHolder({ shop, request, identity, addressKey: address }: Call): Holder & { cookies: string[] } {
  const addressKey = hmac(shop.keys.nonce, `holder\0${address}`).toString('hex').slice(0, 32)
  const sent = findToken(shop, request)
  if (identity !== null) {
    const cookieBuyer = sent === null ? null : guestOf(sent)
    return { buyer: `user:${identity.user.id}`, isGuest: false, cookieBuyer, addressKey, cookies: [] }
  }
  const token = sent ?? randomToken(16)
  const cookies = sent === null ? [ownCookie(shop, 'checkout', token, maxAgeSeconds)] : []
  return { buyer: guestOf(token), isGuest: true, cookieBuyer: null, addressKey, cookies }
}

/** The buyer that the checkout cookie of a request names; null without a valid one. */
export function findGuestBuyer(shop: Call['shop'], request: Request): string | null {
  const token = findToken(shop, request)
  return token === null ? null : guestOf(token)
}

/** The proof of a mailbox (`proveMailbox`) that a request has; null without one, and with two. */
export function findMailboxProof(shop: Call['shop'], request: Request): string | null {
  const [proof = null, ...others] = cookieValues(request.headers.get('cookie'), ownCookieName(shop, 'mailbox'))
  return others.length === 0 ? proof : null
}

function findToken(shop: Call['shop'], request: Request): string | null {
  const [sent = '', ...others] = cookieValues(request.headers.get('cookie'), ownCookieName(shop, 'checkout'))
  return others.length === 0 && /^[\w-]{22}$/.test(sent) ? sent : null
}

function guestOf(token: string): string {
  return `guest:${hash('sha256', token, 'hex').slice(0, 32)}`
}

export const quoteRoutes = [
  route({
    method: 'POST',
    path: '/store/quote',
    summary: 'The prices, discounts and problems of a cart',
    answers: [{ data: quoteData }],
    refuses: ['NOT_AUTHENTICATED', 'CHECKOUT_DISABLED', 'RATE_LIMITED'],
    ...forEveryone,
    session: 'optional',
    body: quoteBody,
    around: (call, _raw, next) => {
      assertSelling(call.shop, call.identity?.user ?? null)
      return next(call)
    },
    handler: async (call, { body }) => {
      const { shop, addressKey, now } = call
      const mailbox = findMailboxProof(shop, call.request)
      const caller = { user: call.identity?.user ?? null, addressKey, holder: readHolder(call), mailbox }
      const quote = await quoteCart(shop, body, caller, now)
      return { data: shop.language === undefined ? quote : translateQuote(shop, quote) }
    }
  })
]

export const emailProofRoutes = [
  route({
    method: 'POST',
    path: '/store/prove-email',
    summary: 'Send a code to an email, and prove with the code that the email is the own one; the same for every email',
    answers: [{ data: emailProofData }],
    sends: { 'Set-Cookie': 'After a right code: the proof, for a day.' },
    refuses: ['TOKEN_INVALID', 'RATE_LIMITED', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forEveryone,
    session: 'none',
    body: emailProofInput,
    handler: async (call, { body: { email, code } }) => {
      if (code !== undefined)
        return { data: { proven: true }, cookies: [await proveMailbox(call.shop, { email, code }, call)] }
      await sendMailboxCode(call.shop, email, call)
      return { data: { proven: false } }
    }
  })
]

export const paymentConfigRoutes = [
  route({
    method: 'GET',
    path: '/store/payment-config',
    summary: 'The ways to pay, and what a payment form on your own page needs',
    answers: [{ data: paymentConfigData, meta: 'empty' }],
    refuses: [],
    headers: conditionalHeaders,
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    cache: 'public',
    invalid: 422,
    handler: (call) => {
      const body = Buffer.from(JSON.stringify({ data: paymentConfig(call.shop, call.now), meta: {} }))
      return cachedAnswer(call, { body, etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` }, sharedCaching)
    }
  })
]
