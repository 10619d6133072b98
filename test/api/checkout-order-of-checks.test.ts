import { expect, test } from 'vitest'
import type { Answer } from '../support/browser.ts'
import { checkOut, freeSheet, handoff, hidden, loggedIn, mug, set, shopFor } from './checkout-support.ts'

const path = '/store/checkout-session'
const codeOf = ({ status, error }: Answer<unknown>): string => `${status} ${error?.code ?? ''}`.trim()

/** docs/contract.md A3: if several things are wrong, the answer names the first one in this order. */
test('runs the checks of a checkout in the documented order', async () => {
  const shop = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'manual' } })
  const guest = shop.visitor()
  const key = { 'idempotency-key': 'used' }
  expect((await guest.post(path, { items: [mug] }, key)).status).toBe(200)
  set(shop, { 'checkout.enabled': 'false', 'checkout.guest': 'false', 'limits.checkout_ip': '1/600' })
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  const plain = { 'content-type': 'text/plain' }
  const ask = async (body: unknown, headers: Record<string, string> = {}) =>
    codeOf(await guest.post(path, body, headers))
  const bad = { items: [{ productId: 1, quantity: 0 }], ...handoff }
  const unsold = { items: [hidden], couponCode: 'NOPE', ...handoff }

  expect(codeOf(await guest.send('PUT', path, 'x'.repeat(70_000), { ...crossSite, ...plain }))).toBe(
    '405 METHOD_NOT_ALLOWED'
  )
  expect(await ask('x'.repeat(70_000), { ...crossSite, ...plain, ...key })).toBe('403 CSRF_FAILED')
  expect(await ask('x'.repeat(70_000), { ...plain, ...key })).toBe('413 PAYLOAD_TOO_LARGE')
  expect(await ask('no json', { ...plain, ...key })).toBe('415 UNSUPPORTED_MEDIA_TYPE')
  expect(await ask('no json', key)).toBe('403 CHECKOUT_DISABLED')
  set(shop, { 'checkout.enabled': 'true' })
  expect(await ask('no json', key)).toBe('401 NOT_AUTHENTICATED')
  expect(await ask({ items: [mug] }, key)).toBe('401 NOT_AUTHENTICATED')
  set(shop, { 'checkout.guest': 'true' })
  expect(await ask('no json', { 'idempotency-key': 'clé' })).toBe('422 VALIDATION_FAILED')
  expect(await ask('no json', key)).toBe('409 IDEMPOTENCY_KEY_REUSE_CONFLICT')
  expect(await ask({ items: [mug] }, key)).toBe('200')
  expect(await ask('no json')).toBe('422 VALIDATION_FAILED')
  // Nothing so far has taken a point but the first: what is refused for its form is not counted.
  expect(await ask(bad)).toBe('422 VALIDATION_FAILED')
  expect(await ask(unsold)).toBe('429 RATE_LIMITED')
  set(shop, { 'limits.checkout_ip': 'off' })
  expect(await ask(unsold)).toBe('501 CHECKOUT_NOT_IMPLEMENTED')
})

test('checks the gateway before items and coupons, and these before the payment', async () => {
  const unsold = { items: [hidden], couponCode: 'NOPE', ...handoff, paymentToken: 'pm_card_chargeDeclined' }
  const unready = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'stripe' } })
  expect(codeOf(await checkOut(unready.visitor(), unsold))).toBe('503 CHECKOUT_GATEWAY_NOT_CONFIGURED')
  expect(codeOf(await checkOut(unready.visitor(), { items: [freeSheet] }))).toBe('503 CHECKOUT_GATEWAY_NOT_CONFIGURED')
  const ready = await shopFor()
  expect(codeOf(await checkOut(ready.visitor(), unsold))).toBe('422 VALIDATION_FAILED')
  expect(codeOf(await checkOut(ready.visitor(), { ...unsold, items: [mug], couponCode: null }))).toBe(
    '402 CHECKOUT_FAILED'
  )
})

test('checks the body before it counts anything', async () => {
  const shop = await shopFor({ settings: { 'limits.checkout_ip': '1/600' } })
  set(shop, { 'checkout.returnOrigins': 'https://front.example' })
  const visitor = shop.visitor()
  const elevenCodes = Array.from({ length: 10 }, (_, index) => `C${index}`)
  const customer = { email: 'ada@example.com', createAccount: true }
  const refused = [
    { items: [mug], returnUrl: 'https://front.example.evil.example/' },
    { items: [mug], couponCode: 'TEN', couponCodes: elevenCodes },
    { items: [mug], customer },
    { items: [mug], customer: { ...customer, password: 'password1' } },
    { items: [mug], customer: { createAccount: true, password: 'tidal-basalt-93' } }
  ]
  for (const body of refused) expect(codeOf(await checkOut(visitor, body))).toBe('422 VALIDATION_FAILED')
  expect(codeOf(await checkOut(visitor))).toBe('200')
  expect(codeOf(await checkOut(visitor))).toBe('429 RATE_LIMITED')
})

test('keeps the keys of a guest and of a customer with the same address apart', async () => {
  const shop = await shopFor()
  const customer = await loggedIn(shop)
  expect(codeOf(await checkOut(shop.visitor(), { items: [mug] }, { key: 'k' }))).toBe('200')
  expect(codeOf(await checkOut(customer, { items: [mug, mug] }, { key: 'k' }))).toBe('200')
})
