import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { applyDispute, disputeOf } from '../../../src/shop/payments/disputes.ts'
import type { Dispute } from '../../../src/shop/payments/disputes.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { events } from '../../../src/shop/events/schema.ts'
import { move } from '../orders/support.ts'
import { openBooks } from './books.ts'
import type { Books } from './books.ts'

function paid(books: Books): { orderId: number; attempt: AttemptRow } {
  const order = books.place()
  return { orderId: order.id, attempt: books.tell(books.attempt(order)).attempt }
}

const hear = (books: Books, attempt: AttemptRow, status: Dispute['status'], id = 'dp_1', amountMinor = 1250) =>
  books.commit((unit) => applyDispute(unit, attempt, { id, status, amountMinor }))
const toldOf = ({ db }: Books) =>
  db.orm
    .select()
    .from(events)
    .all()
    .filter(({ type }) => type === 'order.disputed')
    .map(({ payload }) => payload)
const openOnes = ({ db }: Books) => openWarnings(db).filter(({ kind }) => kind === 'dispute')
const lastOf = ({ db }: Books, orderId: number) => historyOf(db, orderId).at(-1)

describe('the status of a dispute at the gateway', () => {
  it.each([
    ['lost', 'lost'],
    ['won', 'won'],
    ['warning_closed', 'won'],
    ['prevented', 'won'],
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['warning_needs_response', 'open']
  ])('%s is read as %s', (status, known) => {
    expect(disputeOf({ id: 'dp_1', status, amount: 500 } as Stripe.Dispute)).toEqual({
      id: 'dp_1',
      status: known,
      amountMinor: 500
    })
  })
})

describe('a dispute', () => {
  it('puts a paid order on hold, emits an event and warns, once', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    expect(hear(books, attempt, 'open')).toBe('applied')
    expect(hear(books, attempt, 'open')).toBe('ignored')
    expect(lastOf(books, orderId)).toMatchObject({ to: 'on-hold', by: 'webhook', reason: 'dispute dp_1' })
    expect(toldOf(books)).toEqual([{ orderId, disputeId: 'dp_1', status: 'open' }])
    expect(openOnes(books)).toMatchObject([
      {
        orderId,
        objectId: 'dp_1',
        message: `The buyer's bank disputes the payment of order ${orderId}. Respond in Stripe's dashboard before the deadline.`
      }
    ])
  })

  it("restores the order's state and closes the warning when it is won", () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    hear(books, attempt, 'open')
    expect(hear(books, attempt, 'won')).toBe('applied')
    expect(lastOf(books, orderId)).toMatchObject({ to: 'processing', by: 'webhook', reason: 'dispute dp_1 was won' })
    expect(openOnes(books)).toEqual([])
    expect(toldOf(books)).toMatchObject([{ status: 'open' }, { status: 'won' }])
    expect(hear(books, attempt, 'won')).toBe('ignored')
    expect(hear(books, attempt, 'open')).toBe('ignored')
    expect(books.order(orderId).status).toBe('processing')
  })

  it('restores nothing when it is won after another dispute or an operator moved the order', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    expect(hear(books, attempt, 'won')).toBe('ignored')
    hear(books, attempt, 'open')
    expect(hear(books, attempt, 'won', 'dp_2')).toBe('ignored')
    expect(books.order(orderId).status).toBe('on-hold')
    move(books.db, orderId, 'completed')
    expect(hear(books, attempt, 'won')).toBe('ignored')
    expect(books.order(orderId).status).toBe('completed')
    move(books.db, orderId, 'on-hold', { reason: 'by hand' })
    expect(hear(books, attempt, 'won')).toBe('ignored')
    expect(books.order(orderId).status).toBe('on-hold')
  })

  it('refunds the rest of the order when it is lost, once', () => {
    const books = openBooks()
    const { orderId, attempt } = paid(books)
    hear(books, attempt, 'open')
    expect(hear(books, attempt, 'lost')).toBe('applied')
    expect(books.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(lastOf(books, orderId)).toMatchObject({ by: 'webhook', reason: 'dispute dp_1 was lost' })
    expect(openOnes(books)).toEqual([])
    expect(hear(books, attempt, 'lost')).toBe('ignored')
  })

  it('leaves the order when it is about a payment that does not count for it', () => {
    const books = openBooks()
    const { orderId } = paid(books)
    const surplus = books.tell(books.attempt(books.order(orderId))).attempt
    for (const status of ['open', 'won', 'lost'] as const) expect(hear(books, surplus, status)).toBe('ignored')
    expect(books.order(orderId)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    const unpaid = books.attempt(books.place())
    for (const status of ['open', 'lost'] as const) expect(hear(books, unpaid, status, 'dp_3')).toBe('ignored')
    expect(books.order(unpaid.orderId)).toMatchObject({ status: 'pending', refundedMinor: 0 })
    expect(toldOf(books)).toEqual([])
  })
})
