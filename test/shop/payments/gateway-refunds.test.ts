import { describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { applyRefunds, toGatewayRefund } from '../../../src/shop/payments/gateway-refunds.ts'
import type { GatewayRefund } from '../../../src/shop/payments/gateway-refunds.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { refunds } from '../../../src/shop/payments/schema.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { force } from '../orders/support.ts'
import { noon } from '../../support/temporary-shop.ts'
import { later, openBooks, stateOf } from './books.ts'
import type { Books } from './books.ts'

const refund = (changes: Partial<GatewayRefund> = {}): GatewayRefund => ({
  id: 're_1',
  amountMinor: 400,
  status: 'done',
  key: null,
  ...changes
})

function paid(books: Books): { orderId: number; attempt: AttemptRow } {
  const order = books.place()
  const attempt = books.attempt(order)
  return { orderId: order.id, attempt: books.tell(attempt).attempt }
}

const take = (books: Books, attempt: AttemptRow, ...found: GatewayRefund[]) =>
  books.commit((unit) => applyRefunds(unit, attempt, found))
const rowsOf = ({ db }: Books) => db.orm.select().from(refunds).all()
const kindsOf = ({ db }: Books) => openWarnings(db).map(({ kind, objectId }) => `${kind} ${objectId}`)

/** As the shop writes one down before it asks for it. */
function ask(books: Books, { orderId, attempt }: ReturnType<typeof paid>, amountMinor = 400): void {
  const times = { createdAt: noon, updatedAt: noon }
  const facts = { orderId, attemptId: attempt.id, amountMinor, currency: 'EUR', by: 'operator', reason: 'refunded' }
  books.db.orm
    .insert(refunds)
    .values({ ...facts, ...times, gatewayKey: 'refund-key', state: 'requested' })
    .run()
}

describe('a refund of the gateway', () => {
  it('is stored and counted once when it was made in the dashboard', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    expect(take(books, attempt, refund())).toBe('applied')
    expect(take(books, attempt, refund())).toBe('ignored')
    expect(take(books, attempt)).toBe('ignored')
    expect(rowsOf(books)).toEqual([
      {
        id: 1,
        orderId,
        attemptId: attempt.id,
        orderRefundId: 1,
        amountMinor: 400,
        currency: 'EUR',
        gatewayKey: 're_1',
        gatewayRefundId: 're_1',
        state: 'done',
        by: 'webhook',
        reason: 'refunded at the gateway: re_1',
        createdAt: later,
        updatedAt: later
      }
    ])
    expect(books.order(orderId)).toMatchObject({ status: 'processing', refundedMinor: 400 })
  })

  it("is found by the shop's key, and counted with the requested amount", () => {
    const books = openBooks()
    const bought = paid(books)
    ask(books, bought, 1250)
    expect(take(books, bought.attempt, refund({ amountMinor: 1250, key: 'refund-key' }))).toBe('applied')
    expect(rowsOf(books)).toMatchObject([
      { gatewayKey: 'refund-key', gatewayRefundId: 're_1', state: 'done', updatedAt: later, createdAt: noon }
    ])
    expect(books.order(bought.orderId)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(historyOf(books.db, bought.orderId).at(-1)).toMatchObject({ by: 'operator', reason: 'refunded' })
  })

  it("is stored under its key when the key is not the shop's", () => {
    const books = openBooks()
    const { attempt } = paid(books)
    take(books, attempt, refund({ key: 'theirs' }))
    expect(rowsOf(books)).toMatchObject([{ gatewayKey: 'theirs', gatewayRefundId: 're_1' }])
  })

  it('counts when it is done, not while it is open', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    expect(take(books, attempt, refund({ status: 'open' }))).toBe('ignored')
    expect(rowsOf(books)).toMatchObject([{ state: 'requested' }])
    expect(books.order(orderId).refundedMinor).toBe(0)
    expect(take(books, attempt, refund())).toBe('applied')
    expect(rowsOf(books)).toMatchObject([{ state: 'done' }])
    expect(books.order(orderId).refundedMinor).toBe(400)
    expect(take(books, attempt, refund({ status: 'open' }))).toBe('ignored')
    expect(rowsOf(books)).toMatchObject([{ state: 'done' }])
  })

  it('counts together with others, even if one of them changes nothing', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    const found = [refund(), refund({ id: 're_2', amountMinor: 100, status: 'open' })]
    expect(take(books, attempt, ...found)).toBe('applied')
    expect(take(books, attempt, ...found, refund({ id: 're_3', amountMinor: 300 }))).toBe('applied')
    expect(books.order(orderId).refundedMinor).toBe(700)
  })

  it('counts only what is left of the order', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    take(books, attempt, refund({ amountMinor: 1000 }))
    take(books, attempt, refund({ id: 're_2', amountMinor: 1000 }))
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(take(books, attempt, refund({ id: 're_3' }))).toBe('applied')
    expect(books.order(orderId).refundedMinor).toBe(1250)
  })

  it('leaves an order that is refunded already', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    force(books.db, orderId, 'refunded')
    take(books, attempt, refund())
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 400 })
    expect(rowsOf(books)).toMatchObject([{ state: 'done' }])
  })
})

describe('a refund that failed at the gateway', () => {
  it('is ignored when it was not known', () => {
    const books = openBooks()
    const { attempt } = paid(books)
    expect(take(books, attempt, refund({ status: 'failed' }))).toBe('ignored')
    expect(rowsOf(books)).toEqual([])
    expect(kindsOf(books)).toEqual([])
  })

  it('can be requested again when it was not done yet, and warns once', () => {
    const books = openBooks()
    const bought = paid(books)
    ask(books, bought)
    const failed = refund({ status: 'failed', key: 'refund-key' })
    expect(take(books, bought.attempt, failed)).toBe('applied')
    expect(take(books, bought.attempt, failed)).toBe('ignored')
    expect(rowsOf(books)).toMatchObject([{ state: 'failed', gatewayRefundId: 're_1', updatedAt: later }])
    expect(books.order(bought.orderId).refundedMinor).toBe(0)
    expect(books.logged).toEqual([
      {
        message: `Refund re_1 of €4.00 for order ${bought.orderId} failed: the money is back with the shop. Refund the order again, or pay the buyer in another way.`,
        fields: { kind: 'refund_failed', object: 're_1', orderId: bought.orderId }
      }
    ])
  })

  it('is reversed with a warning when it had succeeded, and the order can be refunded again', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    take(books, attempt, refund())
    expect(take(books, attempt, refund({ status: 'failed' }))).toBe('applied')
    expect(rowsOf(books)).toMatchObject([{ state: 'failed' }])
    expect(books.order(orderId).refundedMinor).toBe(0)
    expect(kindsOf(books)).toEqual(['refund_failed re_1'])
    expect(take(books, attempt, refund({ id: 're_2', amountMinor: 400 }))).toBe('applied')
    // A part is still with the shop, which a warning must not hide.
    expect(kindsOf(books)).toEqual(['refund_failed re_1'])
    expect(take(books, attempt, refund({ id: 're_3', amountMinor: 850 }))).toBe('applied')
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(kindsOf(books)).toEqual([])
  })

  it('leaves the order refunded and open for a second refund when it had refunded the whole order', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    take(books, attempt, refund({ amountMinor: 1250 }))
    take(books, attempt, refund({ amountMinor: 1250, status: 'failed' }))
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 0 })
    expect(historyOf(books.db, orderId).at(-1)).toMatchObject({ reason: 'refund re_1 failed at the gateway' })
    take(books, attempt, refund({ id: 're_2', amountMinor: 1250 }))
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
  })
})

describe('a refund of a payment that does not count', () => {
  it('closes the warning of a mismatch and leaves the order unpaid', () => {
    const books = openBooks()
    const order = books.place()
    const attempt = books.attempt(order)
    books.tell(attempt, { verdict: 'open', status: 'requires_confirmation' })
    books.tell(attempt, { amountMinor: 1 })
    expect(kindsOf(books)).toEqual([`mismatch pi_${attempt.id}`])
    expect(take(books, books.now(attempt), refund({ amountMinor: 1 }))).toBe('applied')
    expect(kindsOf(books)).toEqual([])
    expect(books.order(order.id)).toMatchObject({ status: 'pending', refundedMinor: 0, paidAt: null })
  })

  it('closes the warning of a second payment, and the order keeps the first', () => {
    const books = openBooks()
    const order = books.place()
    const [first, second] = [books.attempt(order), books.attempt(order)]
    books.tell(first)
    books.tell(second)
    take(books, books.now(second), refund({ amountMinor: 1250 }))
    expect(kindsOf(books)).toEqual([])
    expect(books.order(order.id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    take(books, books.now(first), refund({ id: 're_2', amountMinor: 1250 }))
    expect(books.order(order.id)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(stateOf(first).objectId).not.toBe(stateOf(second).objectId)
  })
})

describe('the status of a refund at the gateway', () => {
  const asSent = { id: 're_1', amount: 400, metadata: { shopstead_refund: 'refund-key' } }
  type Sent = Parameters<typeof toGatewayRefund>[0]

  it.each([
    ['succeeded', 'done'],
    ['pending', 'open'],
    ['requires_action', 'open'],
    [null, 'open'],
    ['failed', 'failed'],
    ['canceled', 'failed']
  ])('%s is read as %s', (status, known) => {
    expect(toGatewayRefund({ ...asSent, status } as unknown as Sent)).toEqual({
      id: 're_1',
      amountMinor: 400,
      status: known,
      key: 'refund-key'
    })
  })

  it('is read without metadata and without a key of the shop', () => {
    for (const metadata of [null, {}])
      expect(toGatewayRefund({ ...asSent, metadata, status: 'succeeded' } as unknown as Sent).key).toBeNull()
  })
})
