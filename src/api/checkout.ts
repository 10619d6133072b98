import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { headerValues, rawTarget } from '../platform/http/node-request.ts'
import { serializeCookie } from '../platform/http/cookies.ts'
import { FastResponse } from 'srvx'
import { payPlaced, placedBefore } from '../shop/checkout/pay.ts'
import { placeOrder } from '../shop/checkout/checkout.ts'
import type { CheckoutCaller } from '../shop/checkout/checkout.ts'
import { claimKey, keepAnswer, parseIdempotencyKey, releaseKey } from '../shop/checkout/idempotency.ts'
import type { Claim } from '../shop/checkout/idempotency.ts'
import { checkoutBody, checkoutQuery } from '../shop/checkout/input.ts'
import { findAttribution } from '../shop/orders/find.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import { route } from './route.ts'
import type { Call } from './route.ts'

const tracking = ['ref', 'campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const

export const checkoutRoutes = [
  route({
    method: 'POST',
    path: '/store/checkout-session',
    summary: 'Create a checkout session',
    session: 'optional',
    nonce: 'never',
    proxy: { nonce: true, query: tracking, timeoutMs: 30_000 },
    invalid: 422,
    query: checkoutQuery,
    body: checkoutBody,
    around: (call, raw, next) => {
      assertCheckoutOpen(call)
      return idempotent(call, raw, next)
    },
    handler: async (call, input) => {
      const caller: CheckoutCaller = {
        user: call.identity?.user ?? null,
        addressKey: call.addressKey,
        claim: call.claim ?? null
      }
      const placed =
        call.resumes === undefined
          ? await placeOrder(call.shop, input, caller, call.now)
          : placedBefore(call.shop, call.resumes)
      const data = await payPlaced(call.shop, placed, input.body, caller)
      return { data, cookies: trackingCookies(call, placed.order.id) }
    }
  })
]

function assertCheckoutOpen({ shop, identity }: Call): void {
  if (!setting(shop.db, 'checkout.enabled') || !isModuleOn(shop.db, 'commerce')) {
    throw new AppError('CHECKOUT_DISABLED', 'Nothing can be bought at the moment.')
  }
  if (identity === null && !setting(shop.db, 'checkout.guest')) {
    throw new AppError('NOT_AUTHENTICATED', 'Please log in before you buy.')
  }
}

/** Written for the site to read and forward with its next checkout; the service never reads them back. */
function trackingCookies({ shop }: Call, orderId: number): string[] {
  const attribution = findAttribution(shop.db, orderId)
  if (attribution === undefined || attribution.affiliateRef === '') return []
  const attributes = {
    sameSite: 'Lax',
    path: '/',
    secure: shop.publicUrl().startsWith('https:'),
    httpOnly: false,
    maxAgeSeconds: setting(shop.db, 'affiliates.cookieDays') * 24 * 60 * 60
  } as const
  const cookie = (name: string, value: string): string => serializeCookie(name, encodeURIComponent(value), attributes)
  return [
    cookie('shopstead_ref', attribution.affiliateRef),
    ...(attribution.affiliateCampaign === '' ? [] : [cookie('shopstead_campaign', attribution.affiliateCampaign)])
  ]
}

/** Under an Idempotency-Key the first answer is the only one: kept for 2xx, 402 and 502, asked for anew otherwise. */
async function idempotent(call: Call, raw: Uint8Array, next: (call: Call) => Promise<Response>): Promise<Response> {
  const key = parseIdempotencyKey(headerValues(call.request, 'idempotency-key'))
  if (key === null) return next(call)
  const { db } = call.shop
  const claim: Claim = { scope: scopeOf(call), key, fingerprint: fingerprintOf(call, raw) }
  const claimed = claimKey(db, claim, call.now)
  if (claimed.kind === 'replay') return replay(call, claimed)
  let status = 0
  try {
    const response = await next({ ...call, claim, ...(claimed.kind === 'resume' ? { resumes: claimed.orderId } : {}) })
    status = response.status
    if (isKept(status))
      keepAnswer(db, claim, {
        status,
        body: Buffer.from(await response.clone().arrayBuffer()),
        setCookies: response.headers.getSetCookie()
      })
    return response
  } finally {
    if (!isKept(status)) releaseKey(db, claim)
  }
}

function isKept(status: number): boolean {
  return (status >= 200 && status < 300) || status === 402 || status === 502
}

function replay(call: Call, answer: { status: number; body: Buffer; setCookies: string[] }): Response {
  const headers: [string, string][] = [
    ['content-type', 'application/json; charset=utf-8'],
    ['x-content-type-options', 'nosniff'],
    ['cache-control', 'no-store'],
    ['x-request-id', call.ids.requestId],
    ['idempotency-replayed', 'true'],
    ...answer.setCookies.map((cookie): [string, string] => ['set-cookie', cookie])
  ]
  return new FastResponse(new Uint8Array(answer.body), { status: answer.status, headers })
}

function scopeOf({ identity, addressKey }: Call): string {
  return identity === null ? `address:${addressKey}` : `session:${identity.session.tokenHash}`
}

function fingerprintOf(call: Call, raw: Uint8Array): string {
  const target = rawTarget(call.request)
  return createHash('sha256').update(target).update('\0').update(raw).digest('hex')
}
