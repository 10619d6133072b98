import { describe, expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { getOrder, historyOf } from '../../src/shop/orders/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import type { Answer, Browser } from '../support/browser.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import {
  checkOut,
  count,
  fieldErrors,
  handoff,
  hidden,
  lastOne,
  lamp,
  loggedIn,
  mug,
  orderOf,
  print,
  set,
  shopFor
} from './checkout-support.ts'
import type { Result } from './checkout-support.ts'

const byToken = { items: [mug], ...handoff }
const key = 'order-7f0c'
const dayMs = 24 * 60 * 60_000

function replayed(answer: Answer<unknown>): boolean {
  return answer.headers.get('idempotency-replayed') === 'true'
}

describe('the first response under a key', () => {
  test.each([
    ['a redirect', { items: [mug] }, 200, undefined],
    ['a payment by token', byToken, 200, undefined],
    ['an order that costs nothing', { items: [{ productId: 5, quantity: 1 }] }, 200, undefined],
    ['a declined card', { ...byToken, paymentToken: 'pm_card_chargeDeclined' }, 402, undefined],
    ['a refusal of the gateway', byToken, 502, '503']
  ] as const)('is repeated byte for byte: %s', async (_what, body, status, fault) => {
    const shop = await shopFor()
    if (fault !== undefined) shop.app.sandbox?.addFault({ target: 'payment_intents.create', fault, times: 3 })
    const first = await checkOut(shop.visitor(), body, { key })
    const second = await checkOut(shop.visitor(), body, { key })
    expect([first.status, second.status, replayed(first), replayed(second)]).toEqual([status, status, false, true])
    expect(second.text).toBe(first.text)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('cache-control')).toBe('no-store')
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(first.headers.get('x-request-id')).toBe(first.meta?.request_id)
    expect(count(shop, 'orders')).toBe(1)
  })

  test('is repeated with its correlation id, whatever the repetition sends, and takes no point of a limit', async () => {
    const shop = await shopFor({ settings: { 'limits.checkout_ip': '1/600' } })
    const post = (correlation: string) =>
      shop
        .visitor()
        .post('/store/checkout-session', { items: [mug] }, { 'idempotency-key': key, 'x-correlation-id': correlation })
    const first = await post('one')
    const second = await post('two')
    expect([second.text, second.meta?.correlationId]).toEqual([first.text, 'one'])
  })

  test('is stored for 24 hours', async () => {
    const clock = testClock(Date.now())
    const shop = await shopFor({ overrides: { clock } })
    const first = await checkOut(shop.visitor(), { items: [mug] }, { key })
    clock.advance(dayMs - 1)
    expect((await checkOut(shop.visitor(), { items: [mug] }, { key })).text).toBe(first.text)
    clock.advance(1)
    const later = await checkOut(shop.visitor(), { items: [mug, mug] }, { key })
    expect([later.status, replayed(later), later.data.orderId]).toEqual([200, false, '2'])
  })

  test.each([
    ['422 for the body', { items: [] }, {}],
    ['422 for an item', { items: [hidden] }, {}],
    ['429', { items: [mug] }, { 'limits.checkout_ip': '1/600' }]
  ])('is not repeated when it was not final: %s', async (_what, body, settings) => {
    const shop = await shopFor({ settings })
    if ('limits.checkout_ip' in settings) await checkOut(shop.visitor())
    const before = count(shop, 'orders')
    expect([422, 429]).toContain((await checkOut(shop.visitor(), body, { key })).status)
    expect(count(shop, 'idempotency_keys')).toBe(0)
    set(shop, { 'limits.checkout_ip': 'off' })
    // The key is free for another request, too.
    const answer = await checkOut(shop.visitor(), { items: [mug], notes: 'again' }, { key })
    expect([answer.status, replayed(answer), count(shop, 'orders')]).toEqual([200, false, before + 1])
  })
})

describe('a key', () => {
  test.each(['', ' ', 'x'.repeat(256), 'clé', 'a\tb'])('is invalid: %j', async (sent) => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { key: sent })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['Idempotency-Key']])
    expect(count(shop, 'orders')).toBe(0)
  })

  test.each(['x', 'x'.repeat(255), '!"#$%&\'()*+,-./ ~'])('is valid: %j', async (sent) => {
    const shop = await shopFor()
    expect((await checkOut(shop.visitor(), { items: [mug] }, { key: sent })).status).toBe(200)
    expect(replayed(await checkOut(shop.visitor(), { items: [mug] }, { key: sent }))).toBe(true)
  })

  test('belongs to one body and to the parameters that matter; others may change', async () => {
    const shop = await shopFor()
    const ask = (body: unknown, query: string) => checkOut(shop.visitor(), body, { key, query })
    expect((await ask({ items: [mug] }, '?utm_source=mail&gclid=1')).status).toBe(200)
    expect(replayed(await ask({ items: [mug] }, '?gclid=2&utm_source=%6dail'))).toBe(true)
    const others = [
      [{ items: [mug], notes: null }, '?utm_source=mail'],
      [{ items: [mug] }, '?utm_source=post'],
      [{ items: [mug] }, '?utm_source=mail&ref=mira'],
      [{ items: [mug] }, '']
    ] as const
    for (const [body, query] of others) {
      const answer = await ask(body, query)
      expect([answer.status, answer.error.details]).toEqual([409, { reason: 'payload_mismatch' }])
    }
    expect(count(shop, 'orders')).toBe(1)
  })

  test('belongs to a session, or to an address without a session', async () => {
    const shop = await shopFor({ env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
    const lena = await loggedIn(shop)
    const uma = await loggedIn(shop, 'uma@shop.example')
    const here = shop.visitor({ 'x-forwarded-for': '192.0.2.1' })
    const there = shop.visitor({ 'x-forwarded-for': '192.0.2.2' })
    const asked = [
      [lena, { items: [mug] }],
      [uma, { items: [mug] }],
      [here, { items: [mug], notes: 'here' }],
      [there, { items: [mug], notes: 'there' }]
    ] as const
    const ids = []
    for (const [visitor, body] of asked) ids.push((await checkOut(visitor, body, { key })).data.orderId)
    for (const [visitor, body] of asked) ids.push((await checkOut(visitor, body, { key })).data.orderId)
    expect(ids).toEqual(['1', '2', '3', '4', '1', '2', '3', '4'])
    await lena.post('/auth/logout', {}, { 'x-nonce': await lena.nonce() })
    await lena.post('/auth/login', { email: 'lena@shop.example', password: 'harbour-lantern-42' })
    expect((await checkOut(lena, { items: [print] }, { key })).data.orderId).toBe('5')
  })

  /** The checkout of a browser that has moved to another network. */
  const onTheWay = (visitor: Browser, body: object): Promise<Answer<Result>> =>
    visitor.post('/store/checkout-session', body, { 'idempotency-key': key, 'x-forwarded-for': '198.51.100.2' })
  const behindProxy = { env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } }

  test('is found from another address and after logging in for the same browser, so the card is charged once', async () => {
    const shop = await shopFor(behindProxy)
    const visitor = shop.visitor({ 'x-forwarded-for': '192.0.2.1' })
    const first = await checkOut(visitor, byToken, { key })
    const member = await loggedIn(shop)
    for (const [name, value] of visitor.cookies) member.cookies.set(name, member.cookies.get(name) ?? value)
    for (const again of [await onTheWay(visitor, byToken), await checkOut(member, byToken, { key })])
      expect([again.text, replayed(again)]).toEqual([first.text, true])
    expect([count(shop, 'orders'), shop.app.sandbox?.ledger().charges.length]).toEqual([1, 1])
    const other = await onTheWay(visitor, { ...byToken, items: [mug, mug] })
    expect([other.status, replayed(other)]).toEqual([200, false])
  })

  test("does not give another browser with the same key and body the guest's order", async () => {
    const shop = await shopFor(behindProxy)
    const first = await checkOut(shop.visitor({ 'x-forwarded-for': '192.0.2.1' }), byToken, { key })
    const member = await loggedIn(shop)
    for (const stolen of [await onTheWay(shop.visitor(), byToken), await checkOut(member, byToken, { key })]) {
      expect([stolen.status, replayed(stolen)]).toEqual([200, false])
      expect(stolen.text).not.toContain(first.data.orderToken)
    }
  })

  test("continues a guest's order from another address when the response was lost", async () => {
    const shop = await shopFor(behindProxy)
    shop.app.sandbox?.addFault({ target: 'payment_intents.*', fault: 'reset', moment: 'after', skip: 1, times: 6 })
    const visitor = shop.visitor({ 'x-forwarded-for': '192.0.2.1' })
    const lost = await checkOut(visitor, byToken, { key })
    shop.app.sandbox?.clearFaults()
    const again = await onTheWay(visitor, byToken)
    expect([lost.status, again.status, again.data.paymentStatus]).toEqual([504, 200, 'succeeded'])
    expect([count(shop, 'orders'), shop.app.sandbox?.ledger().charges.length]).toEqual([1, 1])
  })

  test.each([
    ['by redirect', { items: [mug] }],
    ['by token', byToken]
  ])('creates one order %s for fifty concurrent requests, with equal responses or in_progress', async (_how, body) => {
    const shop = await shopFor()
    const answers = await Promise.all(Array.from({ length: 50 }, () => checkOut(shop.visitor(), body, { key })))
    const done = answers.filter((answer) => answer.status === 200)
    const others = answers.filter((answer) => answer.status !== 200)
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1)
    expect(others.filter((answer) => answer.error.details.reason !== 'in_progress')).toEqual([])
    expect([count(shop, 'orders'), count(shop, 'payment_attempts')]).toEqual([1, 1])
    expect((await checkOut(shop.visitor(), body, { key })).text).toBe(done[0]?.text)
  })
})

describe('a key after a 504', () => {
  /** A confirm whose answer is lost, and so is the answer to the question what became of it. */
  async function lose(shop: RunningShop, moment: 'before' | 'after', body: object = byToken): Promise<void> {
    shop.app.sandbox?.addFault({ target: 'payment_intents.confirm', fault: 'reset', moment, times: 3 })
    shop.app.sandbox?.addFault({ target: 'payment_intents.retrieve', fault: 'reset', times: -1 })
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    const answer = await checkOut(shop.visitor(), body, { key })
    expect([answer.status, answer.error.code]).toEqual([504, 'CHECKOUT_FAILED'])
    expect(getOrder(shop.app.db, 1).status).toBe('pending')
    shop.app.sandbox?.clearFaults()
  }

  function charges(shop: RunningShop): number {
    return (shop.app.sandbox?.ledger().charges ?? []).filter((charge) => charge.paid).length
  }

  function outcome(shop: RunningShop, answer: Answer<Result>) {
    const orders = shop.app.db.sqlite.prepare('SELECT status FROM orders ORDER BY id').pluck().all()
    return { status: answer.status, orderId: answer.data?.orderId, orders, charges: charges(shop) }
  }

  test.each(['before', 'after'] as const)(
    'settles the same order (the response was lost %s the charge)',
    async (moment) => {
      const shop = await shopFor()
      await lose(shop, moment)
      expect(charges(shop)).toBe(moment === 'after' ? 1 : 0)
      const answer = await checkOut(shop.visitor(), byToken, { key })
      expect(outcome(shop, answer)).toEqual({ status: 200, orderId: 1, orders: ['processing'], charges: 1 })
      expect(answer.data.paymentStatus).toBe('succeeded')
      expect((await checkOut(shop.visitor(), byToken, { key })).text).toBe(answer.text)
    }
  )

  test('reports the payment once the reconciler has found it', async () => {
    const shop = await shopFor()
    await lose(shop, 'after')
    await settlePayments(shop.app, { underWay: 'take' })
    const answer = await checkOut(shop.visitor(), byToken, { key })
    expect(outcome(shop, answer)).toEqual({ status: 200, orderId: 1, orders: ['processing'], charges: 1 })
  })

  test('pays the same order again once the reconciler has called the payment off', async () => {
    const shop = await shopFor()
    await lose(shop, 'before')
    await settlePayments(shop.app, { underWay: 'take' })
    expect(orderOf(shop, { data: { orderId: 1 } } as Answer<Result>).order.status).toBe('failed')
    const answer = await checkOut(shop.visitor(), byToken, { key })
    expect(outcome(shop, answer)).toEqual({ status: 200, orderId: 1, orders: ['processing'], charges: 1 })
    expect(historyOf(shop.app.db, 1).map((row) => row.to)).toEqual(['pending', 'failed', 'pending', 'processing'])
  })

  test('reports that the item is sold out when another buyer has bought the last one', async () => {
    const shop = await shopFor()
    const body = { ...byToken, items: [lastOne] }
    await lose(shop, 'before', body)
    await settlePayments(shop.app, { underWay: 'take' })
    expect((await checkOut(shop.visitor(), body)).status).toBe(200)
    const answer = await checkOut(shop.visitor(), body, { key })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['items.0.quantity']])
    expect(charges(shop)).toBe(1)
  })

  test('is unknown until it is settled when an operator has cancelled the order, then creates a new order', async () => {
    const shop = await shopFor()
    await lose(shop, 'before')
    const move = { by: 'operator', reason: 'asked to' }
    write(shop.app.db, (tx) => void moveOrder(tx, 1, 'cancelled', move, shop.app.clock.now()))
    expect((await checkOut(shop.visitor(), byToken, { key })).status).toBe(504)
    await settlePayments(shop.app, { underWay: 'take' })
    const answer = await checkOut(shop.visitor(), byToken, { key })
    expect(outcome(shop, answer)).toEqual({ status: 200, orderId: 2, orders: ['cancelled', 'processing'], charges: 1 })
  })

  test('is limited like every checkout when it is repeated', async () => {
    const shop = await shopFor({ settings: { 'limits.checkout_ip': '1/600' } })
    await lose(shop, 'before')
    const answer = await checkOut(shop.visitor(), byToken, { key })
    expect([answer.status, answer.error.details]).toEqual([429, { bucket: 'checkout_ip' }])
    set(shop, { 'limits.checkout_ip': 'off' })
    expect(outcome(shop, await checkOut(shop.visitor(), byToken, { key }))).toMatchObject({ orderId: 1, charges: 1 })
  })

  test('is refused with another request', async () => {
    const shop = await shopFor()
    await lose(shop, 'after')
    const answer = await checkOut(shop.visitor(), { ...byToken, items: [mug, mug] }, { key })
    expect([answer.status, answer.error.details]).toEqual([409, { reason: 'payload_mismatch' }])
  })

  test('answers as its order is when the buyer went on with a newer one, and replaces nothing', async () => {
    const shop = await shopFor()
    const buyer = await loggedIn(shop)
    const body = { items: [mug] }
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.create', fault: 'reset', moment: 'before', times: 3 })
    expect((await checkOut(buyer, body, { key })).status).toBe(504)
    const newer = await checkOut(buyer, { items: [mug, lamp] })
    expect([newer.status, newer.data.orderId]).toEqual([200, '2'])
    const late = await checkOut(buyer, body, { key })
    expect(outcome(shop, late)).toEqual({ status: 200, orderId: '1', orders: ['cancelled', 'pending'], charges: 0 })
    expect(late.data.checkoutUrl).toBe(late.data.statusUrl)
    expect((await checkOut(buyer, body, { key })).text).toBe(late.text)
  })

  test('opens the one page of the one order', async () => {
    const shop = await shopFor()
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.create', fault: 'reset', moment: 'after', times: 3 })
    expect((await checkOut(shop.visitor(), { items: [mug] }, { key })).status).toBe(504)
    const answer = await checkOut(shop.visitor(), { items: [mug] }, { key })
    expect([answer.status, answer.data.orderId]).toEqual([200, '1'])
    const sessions = shop.app.sandbox?.ledger().sessions ?? []
    expect(sessions.map((session) => session.url)).toEqual([answer.data.checkoutUrl])
  })
})
