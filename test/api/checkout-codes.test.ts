import { describe, expect, test } from 'vitest'
import { switchModule } from '../../src/shop/settings/settings.ts'
import {
  checkOut,
  fakeStripe,
  fieldErrors,
  handoff,
  hidden,
  mug,
  set,
  shopFor,
  stripeError
} from './checkout-support.ts'

/** Every row of the table in docs/contract.md 5.7, reached by settings and environment alone. */
describe('the codes of a checkout', () => {
  test('VALIDATION_FAILED 422: body, query, strategy, item or coupon', async () => {
    const visitor = (await shopFor()).visitor()
    const refused = [
      ['{"items":', '_body', ''],
      [{}, 'items', ''],
      [{ items: [mug], strategy: 'bank_transfer' }, 'strategy', ''],
      [{ items: [mug] }, 'ref', '?ref=a&ref=b'],
      [{ items: [mug] }, 'utm_source', '?utm_source=%ff'],
      [{ items: [hidden] }, 'items.0.productId', ''],
      [{ items: [mug], couponCode: 'NOPE' }, 'couponCode', '']
    ] as const
    for (const [body, path, query] of refused) {
      const answer = await checkOut(visitor, body, { query })
      expect([answer.status, answer.error.code, fieldErrors(answer)]).toEqual([422, 'VALIDATION_FAILED', [path]])
    }
  })

  test('NOT_AUTHENTICATED 401: guests may not buy', async () => {
    const shop = await shopFor({ settings: { 'checkout.guest': 'false' } })
    const answer = await checkOut(shop.visitor())
    expect([answer.status, answer.error.code]).toEqual([401, 'NOT_AUTHENTICATED'])
    // The cookie of a session that is dead is none.
    const dead = await checkOut(shop.visitor({ cookie: 'shopstead_session=gone' }))
    expect(dead.status).toBe(401)
  })

  test('CSRF_FAILED 403: the request comes from another site', async () => {
    const visitor = (await shopFor()).visitor({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })
    const answer = await checkOut(visitor)
    expect([answer.status, answer.error.code, answer.error.details.reason]).toEqual([403, 'CSRF_FAILED', 'cross_site'])
  })

  test('CSRF_FAILED 403: the proxy finds the nonce missing or invalid', async () => {
    const shop = await shopFor()
    const ask = (headers: Record<string, string>) =>
      shop.visitor().post(`${shop.url}/api/secure/store/checkout-session`, { items: [mug] }, headers)
    const [missing, wrong] = [await ask({}), await ask({ 'x-nonce': 'made-up' })]
    expect([missing.status, missing.error.code, missing.error.details.reason]).toEqual([
      403,
      'CSRF_FAILED',
      'missing_nonce'
    ])
    expect([wrong.status, wrong.error.code, wrong.error.details.reason]).toEqual([403, 'CSRF_FAILED', 'invalid_nonce'])
    const good = await ask({ 'x-nonce': await shop.visitor().nonce(), 'idempotency-key': 'k' })
    const again = await ask({ 'x-nonce': await shop.visitor().nonce(), 'idempotency-key': 'k' })
    expect([good.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, good.text, 'true'])
  })

  test('CHECKOUT_DISABLED 403: checkout is off, or the commerce module is', async () => {
    const shop = await shopFor({ settings: { 'checkout.enabled': 'false' } })
    const off = await checkOut(shop.visitor())
    expect([off.status, off.error.code]).toEqual([403, 'CHECKOUT_DISABLED'])
    set(shop, { 'checkout.enabled': 'true' })
    expect((await checkOut(shop.visitor())).status).toBe(200)
    switchModule(shop.app.db, 'commerce', false, shop.app.clock.now())
    const none = await checkOut(shop.visitor())
    expect([none.status, none.error.code]).toEqual([403, 'CHECKOUT_DISABLED'])
  })

  test('CHECKOUT_NOT_IMPLEMENTED 501: token_handoff where only manual payment is offered', async () => {
    const shop = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'manual' } })
    const answer = await checkOut(shop.visitor(), { items: [mug], ...handoff })
    expect([answer.status, answer.error.code]).toEqual([501, 'CHECKOUT_NOT_IMPLEMENTED'])
    const redirect = await checkOut(shop.visitor())
    expect([redirect.status, redirect.data.checkoutUrl]).toEqual([200, expect.stringContaining('/checkout/')])
  })

  test('CHECKOUT_GATEWAY_NOT_CONFIGURED 503: Stripe without its key', async () => {
    const shop = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'stripe' } })
    for (const body of [{ items: [mug] }, { items: [mug], ...handoff }]) {
      const answer = await checkOut(shop.visitor(), body)
      expect([answer.status, answer.error.code]).toEqual([503, 'CHECKOUT_GATEWAY_NOT_CONFIGURED'])
    }
  })

  test('CHECKOUT_FAILED 402: the card is declined', async () => {
    const shop = await shopFor()
    const body = { items: [mug], ...handoff, paymentToken: 'pm_card_chargeDeclined' }
    const answer = await checkOut(shop.visitor(), body)
    expect([answer.status, answer.error.code, answer.error.details.phase]).toEqual([402, 'CHECKOUT_FAILED', 'payment'])
  })

  test('CHECKOUT_FAILED 502: the gateway refuses for a reason of its own', async () => {
    const env = await fakeStripe((_req, res) =>
      stripeError(res, 400, { type: 'invalid_request_error', code: 'amount_too_small', message: 'Too small' })
    )
    const shop = await shopFor({ env })
    for (const body of [{ items: [mug] }, { items: [mug], ...handoff }]) {
      const answer = await checkOut(shop.visitor(), body)
      expect([answer.status, answer.error.code]).toEqual([502, 'CHECKOUT_FAILED'])
    }
  })

  test('CHECKOUT_FAILED 504: the outcome of the payment is unknown, and the order stays pending', async () => {
    const env = await fakeStripe((_req, res) => res.destroy())
    const shop = await shopFor({ env })
    const answer = await checkOut(shop.visitor(), { items: [mug], ...handoff })
    expect([answer.status, answer.error.code]).toEqual([504, 'CHECKOUT_FAILED'])
    expect(shop.app.db.sqlite.prepare('SELECT status FROM orders').pluck().all()).toEqual(['pending'])
  })

  test('IDEMPOTENCY_KEY_REUSE_CONFLICT 409: the key was used for something else', async () => {
    const visitor = (await shopFor()).visitor()
    expect((await checkOut(visitor, { items: [mug] }, { key: 'k' })).status).toBe(200)
    const answer = await checkOut(visitor, { items: [mug, mug] }, { key: 'k' })
    expect([answer.status, answer.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSE_CONFLICT'])
    expect(answer.error.details).toEqual({ reason: 'payload_mismatch' })
  })

  test.each([
    ['checkout_ip', { items: [mug] }, [200, 200]],
    ['checkout_decline', { items: [mug], ...handoff, paymentToken: 'pm_card_chargeDeclined' }, [402, 402]],
    ['coupon_failure', { items: [mug], couponCode: 'NOPE' }, [422, 422]]
  ] as const)('RATE_LIMITED 429: %s is used up', async (bucket, body, before) => {
    const shop = await shopFor({ settings: { [`limits.${bucket}`]: '2/60' } })
    const visitor = shop.visitor()
    expect([(await checkOut(visitor, body)).status, (await checkOut(visitor, body)).status]).toEqual(before)
    const answer = await checkOut(visitor, body)
    expect([answer.status, answer.error.code, answer.error.details]).toEqual([429, 'RATE_LIMITED', { bucket }])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    // Another one does not stand in the way of what it does not count.
    set(shop, { [`limits.${bucket}`]: 'off' })
    expect((await checkOut(visitor)).status).toBe(200)
  })
})

describe('the limits of a checkout', () => {
  test('RATE_LIMITED: once the limit on codes is used up, a valid code gets the same response as a wrong one', async () => {
    const shop = await shopFor({ settings: { 'limits.coupon_failure': '3/60' } })
    const visitor = shop.visitor()
    expect((await checkOut(visitor, { items: [mug], couponCodes: ['A', 'B', 'C'] })).status).toBe(422)
    expect((await checkOut(visitor, { items: [mug], couponCode: 'TEN' })).status).toBe(429)
    expect((await checkOut(visitor)).status).toBe(200)
  })

  test('RATE_LIMITED: concurrent valid codes are not refused because of each other or of a wrong one', async () => {
    const settings = { 'limits.coupon_failure': '2/60', 'checkout.heldOrdersPerAddress': '40' }
    const shop = await shopFor({ settings })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        checkOut(shop.visitor(), { items: [mug], couponCode: index === 5 ? 'NOPE' : 'TEN' })
      )
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses[5]).toBe(422)
    expect(new Set(statuses.toSpliced(5, 1))).toEqual(new Set([200]))
  })

  test('RATE_LIMITED: a hundred concurrent cards count as a hundred', async () => {
    const shop = await shopFor({ settings: { 'limits.checkout_decline': '7/60' } })
    shop.app.sandbox?.addFault({ target: 'payment_intents.confirm', fault: 'slow', times: 100, delayMs: 300 })
    const declined = { items: [mug], ...handoff, paymentToken: 'pm_card_chargeDeclined' }
    const buyers = Array.from({ length: 100 }, (_, index) => ({ email: `buyer${index}@shop.example` }))
    const answers = await Promise.all(buyers.map((customer) => checkOut(shop.visitor(), { ...declined, customer })))
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(7)
    expect(answers.filter(({ error }) => error.details['bucket'] === 'checkout_decline')).toHaveLength(93)
    expect(shop.app.sandbox?.ledger().intents).toHaveLength(7)
  })

  test('RATE_LIMITED: concurrent payments with valid cards are not refused because of each other', async () => {
    const shop = await shopFor({ settings: { 'limits.checkout_decline': '1/60' } })
    shop.app.sandbox?.addFault({ target: 'payment_intents.confirm', fault: 'slow', times: 12, delayMs: 20 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => checkOut(shop.visitor(), { items: [mug], ...handoff }))
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('RATE_LIMITED: after too many declined cards the page is still open', async () => {
    const shop = await shopFor({ settings: { 'limits.checkout_decline': '1/60' } })
    const visitor = shop.visitor()
    const declined = { items: [mug], ...handoff, paymentToken: 'pm_card_chargeDeclined' }
    expect((await checkOut(visitor, declined)).status).toBe(402)
    expect((await checkOut(visitor, { items: [mug], ...handoff })).status).toBe(429)
    expect((await checkOut(visitor)).status).toBe(200)
  })
})

test('answers 405, 413 and 415', async () => {
  const visitor = (await shopFor()).visitor()
  const got = await visitor.get('/store/checkout-session')
  expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  const large = await checkOut(visitor, { items: [mug], notes: 'x'.repeat(70_000) })
  expect([large.status, large.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  const text = await visitor.post('/store/checkout-session', '{"items":[]}', { 'content-type': 'text/plain' })
  expect([text.status, text.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
})
