import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { createAttempt } from '../../../src/shop/payments/attempts.ts'
import { failAttempt } from '../../../src/shop/payments/settle.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { force, makeProduct, draft, line, move, place, stockOf } from '../orders/support.ts'
import { noon } from '../../support/temporary-shop.ts'
import { later, openBooks } from './books.ts'
import type { Books } from './books.ts'

const statesOf = ({ db }: Books, orderId: number) =>
  historyOf(db, orderId).map(({ to, by, reason }) => ({ to, by, reason }))
const warningsOf = ({ db }: Books) =>
  openWarnings(db).map(({ kind, orderId, objectId }) => ({ kind, orderId, objectId }))

/** Each order of this file is the first one of its books. */
const returns = ' If it was paid, "shopstead orders refund 1" returns it.'
const accepts =
  ' If it was paid, "shopstead orders paid 1" accepts this amount, and "shopstead orders refund 1" returns it.'

describe("the gateway's state of a payment", () => {
  it('pays the order and records the actor and the object when it is paid', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    const settled = books.tell(attempt, { url: 'https://pay.example/p' })
    expect(settled.verdict).toBe('paid')
    expect(settled.attempt).toEqual(books.now(attempt))
    expect(books.now(attempt)).toMatchObject({
      outcome: 'paid',
      settledAt: later,
      updatedAt: later,
      gatewayStatus: 'succeeded',
      objectId: `pi_${attempt.id}`,
      paymentIntentId: `pi_${attempt.id}`,
      url: null
    })
    expect(books.order(order.id)).toMatchObject({ status: 'processing', paidAt: later })
    expect(statesOf(books, order.id).at(-1)).toEqual({
      to: 'processing',
      by: 'webhook',
      reason: `paid: pi_${attempt.id}`
    })
    expect(warningsOf(books)).toEqual([])
  })

  it("ends the order's open bank transfer when it is paid", () => {
    const books = openBooks()
    const order = books.place()
    const byCard = books.attempt(order)
    const how = { gateway: 'manual', kind: 'manual', livemode: false } as const
    const transfer = write(books.db, (tx) => createAttempt(tx, order, how, noon))
    write(books.db, (tx) => void moveOrder(tx, order.id, 'on-hold', { by: 'buyer', reason: 'pays by hand' }, noon))
    books.tell(byCard)
    expect(books.order(order.id).status).toBe('processing')
    expect(books.now(transfer)).toMatchObject({ outcome: 'abandoned', settledAt: later })
    expect(books.now(byCard).outcome).toBe('paid')
  })

  it('changes nothing when it is applied again, whatever it is then', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    books.tell(attempt)
    const before = { attempt: books.now(attempt), order: books.order(order.id) }
    for (const verdict of ['paid', 'open', 'failed', 'expired', 'waiting'] as const) {
      const again = books.tell(attempt, { verdict, status: 'something_else', paymentIntentId: 'pi_other' })
      expect(again).toEqual({ verdict: 'paid', attempt: before.attempt })
    }
    expect({ attempt: books.now(attempt), order: books.order(order.id) }).toEqual(before)
    expect(historyOf(books.db, order.id)).toHaveLength(2)
  })

  it.each([
    ['token', { token: 'another' }, 'it does not carry the token of this payment'],
    ['missing token', { token: null }, 'it does not carry the token of this payment'],
    ['mode', { livemode: true }, 'it is a live payment in a test shop'],
    ['currency', { currency: 'USD' }, 'it is in USD, the order in EUR', returns],
    ['smaller amount', { amountMinor: 1249 }, "its amount is €12.49, the order's is €12.50", accepts],
    ['larger amount', { amountMinor: 1251 }, "its amount is €12.51, the order's is €12.50", accepts]
  ])('changes nothing and warns once when its %s does not match', (_, changes, why, advice = '') => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    for (const _time of [1, 2]) expect(books.tell(attempt, changes)).toEqual({ verdict: 'mismatch', attempt })
    expect(books.now(attempt)).toEqual(attempt)
    expect(books.order(order.id)).toEqual(order)
    expect(warningsOf(books)).toEqual([{ kind: 'mismatch', orderId: order.id, objectId: `pi_${attempt.id}` }])
    expect(books.logged).toEqual([
      {
        message: `pi_${attempt.id} does not count as the payment of order ${order.id}: ${why}.${advice}`,
        fields: { kind: 'mismatch', object: `pi_${attempt.id}`, orderId: order.id }
      }
    ])
  })

  it('is stored while it is open, keeps known values, and writes only changes', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order, 'checkout_session')
    const open = { verdict: 'open', status: 'open', objectId: 'cs_1', paymentIntentId: null, url: 'u1' } as const
    expect(books.tell(attempt, open).verdict).toBe('open')
    expect(books.now(attempt)).toMatchObject({
      outcome: null,
      gatewayStatus: 'open',
      objectId: 'cs_1',
      paymentIntentId: null,
      url: 'u1',
      updatedAt: later
    })
    books.db.sqlite.prepare('UPDATE payment_attempts SET updated_at = 1').run()
    books.tell(attempt, open)
    expect(books.now(attempt).updatedAt).toBe(1)
    books.tell(attempt, { ...open, paymentIntentId: 'pi_1', url: null, objectId: 'cs_2' })
    expect(books.now(attempt)).toMatchObject({ objectId: 'cs_1', paymentIntentId: 'pi_1', url: 'u1', updatedAt: later })
    books.tell(attempt, { ...open, status: 'complete', verdict: 'waiting' })
    expect(books.now(attempt)).toMatchObject({ gatewayStatus: 'complete', paymentIntentId: 'pi_1', outcome: null })
    expect(books.order(order.id).status).toBe('pending')
  })

  it('fails the order when it failed, and cancels the order when its page expired', () => {
    const books = openBooks()
    const [first, second] = [books.place(), books.place()]
    const [failed, expired] = [books.attempt(first), books.attempt(second)]
    expect(books.tell(failed, { verdict: 'failed', status: 'canceled' }).verdict).toBe('failed')
    expect(books.tell(expired, { verdict: 'expired', status: 'expired' }).attempt.outcome).toBe('expired')
    expect(books.now(failed)).toMatchObject({ outcome: 'failed', settledAt: later, gatewayStatus: 'canceled' })
    expect(books.now(expired)).toMatchObject({ outcome: 'expired', settledAt: later })
    expect(statesOf(books, first.id).at(-1)).toEqual({
      to: 'failed',
      by: 'webhook',
      reason: 'the payment failed: canceled'
    })
    expect(statesOf(books, second.id).at(-1)).toEqual({
      to: 'cancelled',
      by: 'webhook',
      reason: 'the payment page expired'
    })
  })

  it('leaves the order when a newer attempt exists', () => {
    const books = openBooks()
    const order = books.place()
    const old = books.attempt(order)
    books.attempt(order)
    books.tell(old, { verdict: 'failed' })
    expect(books.now(old).outcome).toBe('failed')
    expect(books.order(order.id).status).toBe('pending')
  })

  it('ends only the attempt when the order does not wait any more, once', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    force(books.db, order.id, 'on-hold')
    books.tell(attempt, { verdict: 'expired' })
    books.tell(attempt, { verdict: 'failed' })
    expect(books.now(attempt).outcome).toBe('expired')
    expect(books.order(order.id).status).toBe('on-hold')
  })
})

describe('a payment that arrives', () => {
  it('warns to refund it, and not the first one, when another payment arrived before', () => {
    const books = openBooks()
    const order = books.place()
    const [first, second] = [books.attempt(order), books.attempt(order)]
    books.tell(first)
    const before = books.order(order.id)
    expect(books.tell(second, { paymentIntentId: 'pi_surplus' }).verdict).toBe('paid')
    expect(books.now(second).outcome).toBe('paid')
    expect(books.order(order.id)).toEqual(before)
    expect(warningsOf(books)).toEqual([{ kind: 'paid_twice', orderId: order.id, objectId: `pi_${second.id}` }])
    expect(books.logged.map(({ message }) => message)).toEqual([
      `Order ${order.id} was paid twice; the second payment is pi_${second.id}. To return it, ` +
        "refund pi_surplus in the gateway's dashboard, because `orders refund` would refund the first payment."
    ])
  })

  it('counts as a second payment when the order was refunded', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    force(books.db, order.id, 'refunded')
    books.tell(attempt)
    expect(books.order(order.id)).toMatchObject({ status: 'refunded', paidAt: null })
    expect(warningsOf(books)).toMatchObject([{ kind: 'paid_twice' }])
  })

  it('revives a cancelled order while its stock is available', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    move(books.db, order.id, 'cancelled')
    books.tell(attempt)
    expect(books.order(order.id).status).toBe('processing')
    expect(warningsOf(books)).toEqual([])
  })

  it('puts the order on hold and warns when the stock is gone', () => {
    const books = openBooks()
    const productId = makeProduct(books.db, { stock: 1 })
    const order = place(books.db, draft([line(productId)]))
    const attempt = books.attempt(order)
    move(books.db, order.id, 'cancelled')
    place(books.db, draft([line(productId)]))
    expect(stockOf(books.db, productId)).toBe(0)
    books.tell(attempt)
    expect(books.order(order.id)).toMatchObject({ status: 'on-hold', paidAt: later })
    expect(warningsOf(books)).toEqual([{ kind: 'late_payment', orderId: order.id, objectId: `pi_${attempt.id}` }])
    expect(books.logged.map(({ message }) => message)).toEqual([
      `Order ${order.id} was paid after its stock or coupon was released. Complete it or refund it.`
    ])
  })

  it("stores the buyer's email for an order without one, and for no other", () => {
    const books = openBooks()
    const [nameless, named] = [books.place({ email: null }), books.place()]
    const [first, second] = [books.attempt(nameless), books.attempt(named)]
    books.tell(first, { email: 'Ada@shop.example' })
    books.tell(second, { email: 'ada@shop.example' })
    expect(books.order(nameless.id).email).toBe('Ada@shop.example')
    expect(books.order(named.id).email).toBe('guest@shop.example')
    const silent = books.place({ email: null })
    books.tell(books.attempt(silent))
    expect(books.order(silent.id)).toMatchObject({ email: null, status: 'processing' })
  })
})

describe('an attempt that failed', () => {
  it('fails its order with the checkout as the actor, once', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    for (const reason of ['no money', 'no reason']) write(books.db, (tx) => failAttempt(tx, attempt.id, reason, later))
    expect(statesOf(books, order.id)).toEqual([
      expect.objectContaining({ to: 'pending' }),
      { to: 'failed', by: 'checkout', reason: 'no money' }
    ])
    expect(books.now(attempt)).toMatchObject({ outcome: 'failed', settledAt: later, updatedAt: later })
    expect(attempt.createdAt).toBe(noon)
  })
})
