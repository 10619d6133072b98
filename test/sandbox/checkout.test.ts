import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBench, refusalOf, sessionParams } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench()
})

afterEach(() => bench.close())

const pathOf = (url: string | null): string => new URL(url ?? '').pathname

describe('a Checkout Session', () => {
  test('is open, has a payment page, and adds up its line items', async () => {
    const session = await bench.stripe.checkout.sessions.create(sessionParams())
    expect(session).toMatchObject({
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      amount_subtotal: 2500,
      amount_total: 2500,
      currency: 'eur',
      customer_email: 'lena@shop.example',
      client_reference_id: '7',
      metadata: { order_id: '7' },
      livemode: false,
      payment_intent: null,
      url: `http://shop.test/sandbox/checkout/${session.id}`
    })
    expect(session.id).toMatch(/^cs_test_\w{58}$/)
    expect(session.lastResponse.requestId).toMatch(/^req_\w{14}$/)
  })

  test('subtracts a coupon from its line items to the exact cent', async () => {
    const coupon = await bench.stripe.coupons.create({
      amount_off: 1001,
      currency: 'eur',
      duration: 'once',
      max_redemptions: 1
    })
    const session = await bench.stripe.checkout.sessions.create(sessionParams({ discounts: [{ coupon: coupon.id }] }))
    expect(session).toMatchObject({
      amount_subtotal: 2500,
      amount_total: 1499,
      total_details: { amount_discount: 1001 }
    })
    const url = pathOf(session.url)
    expect((await bench.page(url, {})).status).toBe(303)
    expect(await bench.stripe.coupons.retrieve(coupon.id)).toMatchObject({ times_redeemed: 1, valid: false })
  })

  test('includes its line items, intent and charge when they are expanded', async () => {
    const { id, url } = await bench.stripe.checkout.sessions.create(sessionParams())
    await bench.page(pathOf(url), {})
    const session = await bench.stripe.checkout.sessions.retrieve(id, {
      expand: ['line_items', 'payment_intent.latest_charge']
    })
    expect(session.line_items?.data[0]).toMatchObject({
      description: 'Lantern <small>',
      quantity: 2,
      amount_total: 2500
    })
    expect(session.payment_intent).toMatchObject({
      status: 'succeeded',
      metadata: { order_id: '7' },
      latest_charge: { paid: true, amount: 2500 }
    })
  })

  test('expires once, on request or at its expiry time', async () => {
    const first = await bench.stripe.checkout.sessions.create(sessionParams())
    expect(await bench.stripe.checkout.sessions.expire(first.id)).toMatchObject({ status: 'expired', url: null })
    expect(await refusalOf(bench.stripe.checkout.sessions.expire(first.id))).toMatchObject({ statusCode: 400 })
    const expires_at = Math.floor(bench.now() / 1000) + 1800
    const second = await bench.stripe.checkout.sessions.create(sessionParams({ expires_at }))
    bench.advance(1_801_000)
    expect(await bench.stripe.checkout.sessions.retrieve(second.id)).toMatchObject({ status: 'expired' })
    expect((await bench.page(pathOf(second.url), {})).status).toBe(410)
    await bench.sandbox.deliverDue()
    expect(bench.received.map(({ type }) => type)).toEqual(['checkout.session.expired', 'checkout.session.expired'])
    expect(bench.sandbox.ledger().charges).toEqual([])
  })

  test.each([
    ['an unknown parameter', { bogus: 1 }, { code: 'parameter_unknown', param: 'bogus' }],
    [
      'an unknown nested parameter',
      { line_items: [{ quantity: 1, colour: 'red' }] },
      { code: 'parameter_unknown', param: 'line_items[0][colour]' }
    ],
    ['no success_url', { success_url: undefined }, { code: 'parameter_missing', param: 'success_url' }],
    [
      'over 100 line items',
      { line_items: Array.from({ length: 101 }, () => sessionParams().line_items?.[0]) },
      { param: 'line_items' }
    ],
    ['no line items', { line_items: [] }, { code: 'parameter_missing', param: 'line_items' }],
    ['an expiry in under 30 minutes', { expires_at: Math.floor(Date.now() / 1000) + 60 }, { param: 'expires_at' }],
    ['an expiry in over 24 hours', { expires_at: Math.floor(Date.now() / 1000) + 90_000 }, { param: 'expires_at' }],
    ['an invalid email', { customer_email: 'lena' }, { code: 'email_invalid', param: 'customer_email' }],
    [
      'an unknown coupon',
      { discounts: [{ coupon: 'nope' }] },
      { code: 'resource_missing', param: 'discounts[0][coupon]' }
    ]
  ])("with %s is refused with Stripe's error", async (_what, wrong, refusal) => {
    const params = { ...sessionParams(), ...wrong } as Parameters<typeof bench.stripe.checkout.sessions.create>[0]
    const error = await refusalOf(bench.stripe.checkout.sessions.create(params))
    expect(error).toMatchObject({ statusCode: 400, rawType: 'invalid_request_error', ...refusal })
    expect(error.requestId).toMatch(/^req_/)
  })
})

describe('the hosted page', () => {
  test('shows the escaped order, under a policy that forbids scripts and lets the form redirect to the shop', async () => {
    const { url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const page = await bench.page(pathOf(url))
    const html = await page.text()
    expect(page.status).toBe(200)
    expect(html).toContain('Lantern &lt;small&gt;')
    expect(html).toContain('€25.00')
    expect(html).not.toContain('<script')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https: http:;")
  })

  test('takes the payment and notifies the shop before it redirects the browser', async () => {
    const { id, url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const back = await bench.page(pathOf(url), { payment_method: 'pm_card_visa' })
    expect(back.status).toBe(303)
    expect(back.headers.get('location')).toBe('http://front.test/done?orderId=7&result=success')
    const types = bench.received.map(({ type }) => type)
    expect(types).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed'
    ])
    expect(bench.received.at(-1)?.data.object).toMatchObject({ id, payment_status: 'paid', status: 'complete' })
  })

  test('charges once when the button is pressed several times', async () => {
    const { url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const pressed = await Promise.all([1, 2, 3].map(async () => bench.page(pathOf(url), {})))
    expect(pressed.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })

  test('stays open after a decline and accepts a second payment', async () => {
    const { id, url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const declined = await bench.page(pathOf(url), { payment_method: 'pm_card_visa_chargeDeclinedInsufficientFunds' })
    expect(declined.status).toBe(402)
    expect(await declined.text()).toContain('Your card has insufficient funds.')
    expect(await bench.stripe.checkout.sessions.retrieve(id)).toMatchObject({
      status: 'open',
      payment_status: 'unpaid'
    })
    expect((await bench.page(pathOf(url), {})).status).toBe(303)
    expect(bench.sandbox.ledger().charges.map(({ status }) => status)).toEqual(['failed', 'succeeded'])
    expect(bench.sandbox.ledger().intents).toHaveLength(1)
  })

  test('declines an unknown payment method', async () => {
    const { url } = await bench.stripe.checkout.sessions.create(sessionParams())
    expect((await bench.page(pathOf(url), { payment_method: 'pm_nothing' })).status).toBe(402)
  })

  test('asks for an email when the session has none', async () => {
    const { customer_email: _, ...params } = sessionParams()
    const { id, url } = await bench.stripe.checkout.sessions.create(params)
    expect(await (await bench.page(pathOf(url))).text()).toContain('name="email"')
    expect((await bench.page(pathOf(url), {})).status).toBe(422)
    expect((await bench.page(pathOf(url), { email: 'guest@shop.example' })).status).toBe(303)
    expect(await bench.stripe.checkout.sessions.retrieve(id)).toMatchObject({
      customer_details: { email: 'guest@shop.example' }
    })
  })

  test('redirects a cancelled payment to cancel_url, and the session can still be paid', async () => {
    const { url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const cancelled = await bench.page(`${pathOf(url)}/cancel`, {})
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, 'http://front.test/cart'])
    expect((await bench.page(pathOf(url))).status).toBe(200)
  })

  test('replaces the session id placeholder in success_url', async () => {
    const { id, url } = await bench.stripe.checkout.sessions.create(
      sessionParams({ success_url: 'http://front.test/?s={CHECKOUT_SESSION_ID}' })
    )
    expect((await bench.page(pathOf(url), {})).headers.get('location')).toBe(`http://front.test/?s=${id}`)
  })

  test('redirects to the bank when the card requires it, and lets the buyer try again when the bank refuses', async () => {
    const { id, url } = await bench.stripe.checkout.sessions.create(sessionParams())
    const card = { payment_method: 'pm_card_threeDSecure2Required' }
    const toBank = async (): Promise<string> => pathOf((await bench.page(pathOf(url), card)).headers.get('location'))
    const bank = await toBank()
    expect(bank).toMatch(/^\/sandbox\/3ds\/pi_/)
    expect((await bench.page(bank)).status).toBe(200)
    expect((await bench.page(bank, { outcome: 'fail' })).status).toBe(402)
    const approved = await bench.page(await toBank(), { outcome: 'approve' })
    expect(approved.headers.get('location')).toBe('http://front.test/done?orderId=7&result=success')
    expect(await bench.stripe.checkout.sessions.retrieve(id)).toMatchObject({ payment_status: 'paid' })
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })

  test('answers no other paths, and an unknown session with 404', async () => {
    expect(await bench.sandbox.pages(new Request('http://shop.test/checkout/done'))).toBeUndefined()
    expect((await bench.page('/sandbox/checkout/cs_test_nothing')).status).toBe(404)
  })
})
