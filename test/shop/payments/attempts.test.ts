import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import {
  attemptsOf,
  findAttemptByObject,
  findAttemptByToken,
  findPayingAttempt,
  getAttempt,
  isSurplus,
  openAttempts,
  paymentStatusOf,
  updateAttempt
} from '../../../src/shop/payments/attempts.ts'
import { openWarnings, resolveWarning, dismissWarning, warn, wasWarned } from '../../../src/shop/payments/warnings.ts'
import type { WarningKind } from '../../../src/shop/payments/warnings.ts'
import { force } from '../orders/support.ts'
import { noon } from '../../support/temporary-shop.ts'
import { later, openBooks } from './books.ts'
import type { Books } from './books.ts'

describe('a payment attempt', () => {
  it("has the order's amount, and a token and keys of its own", () => {
    const books = openBooks()
    const order = books.place()
    const [attempt, other] = [books.attempt(order), books.attempt(order)]
    expect(attempt).toMatchObject({
      orderId: order.id,
      gateway: 'sandbox',
      kind: 'payment_intent',
      livemode: false,
      amountMinor: 1250,
      currency: 'EUR',
      expiresAt: order.holdEndsAt,
      createdAt: noon,
      updatedAt: noon,
      outcome: null,
      objectId: null
    })
    expect(attempt.createKey).toMatch(/^create-[A-Za-z0-9_-]{43}$/)
    expect(attempt.confirmKey).toMatch(/^confirm-[A-Za-z0-9_-]{43}$/)
    const secrets = [attempt, other].flatMap(({ token, createKey, confirmKey }) =>
      [token, createKey, confirmKey].map((text) => text.slice(-43))
    )
    expect(new Set(secrets).size).toBe(6)
  })

  it('loses its keys and its page with its outcome, and nothing else', () => {
    const books = openBooks()
    const { id } = books.attempt(books.place(), 'checkout_session')
    const known = { objectId: 'cs_1', paymentIntentId: 'pi_1', url: 'https://pay.example', discountCouponId: 'coupon' }
    write(books.db, (tx) => updateAttempt(tx, id, known, noon))
    const open = getAttempt(books.db, id)
    expect(open).toMatchObject(known)
    write(books.db, (tx) => updateAttempt(tx, id, { outcome: 'paid', settledAt: later }, later))
    const over = { outcome: 'paid', settledAt: later, updatedAt: later, createKey: '', confirmKey: '', url: null }
    expect(getAttempt(books.db, id)).toEqual({ ...open, ...over })
  })

  it('is found by its token, its object, its PaymentIntent or its order, newest first', () => {
    const books = openBooks()
    const order = books.place()
    const [first, second] = [books.attempt(order, 'checkout_session'), books.attempt(order)]
    write(books.db, (tx) => updateAttempt(tx, first.id, { objectId: 'cs_1', paymentIntentId: 'pi_1' }, later))
    books.attempt(books.place())
    expect(findAttemptByToken(books.db, first.token)?.id).toBe(first.id)
    expect(findAttemptByToken(books.db, 'none')).toBeUndefined()
    for (const id of ['cs_1', 'pi_1']) expect(findAttemptByObject(books.db, id)?.id).toBe(first.id)
    expect(findAttemptByObject(books.db, 'pi_2')).toBeUndefined()
    expect(attemptsOf(books.db, order.id).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(getAttempt(books.db, first.id)).toMatchObject({ objectId: 'cs_1', updatedAt: later, createdAt: noon })
    expect(getAttempt(books.db, second.id)).toEqual(second)
    expect(() => getAttempt(books.db, 99)).toThrow('payment attempt 99 is missing')
  })

  it('is open until it has an outcome, the least recently changed first', () => {
    const books = openBooks()
    const [a, b, c] = [books.place(), books.place(), books.place()].map((order) => books.attempt(order))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were made')
    write(books.db, (tx) => {
      updateAttempt(tx, a.id, {}, later + 2)
      updateAttempt(tx, b.id, {}, later + 1)
      updateAttempt(tx, c.id, { outcome: 'failed' }, later)
    })
    expect(openAttempts(books.db).map(({ id }) => id)).toEqual([b.id, a.id])
  })

  it('pays its order when it is paid with an object and is not a surplus', () => {
    const books = openBooks()
    const order = books.place()
    const [first, second] = [books.attempt(order), books.attempt(order)]
    expect(findPayingAttempt(books.db, order.id)).toBeUndefined()
    books.tell(first)
    books.tell(second)
    expect(findPayingAttempt(books.db, order.id)?.id).toBe(first.id)
    expect([first, second].map((attempt) => isSurplus(books.db, books.now(attempt)))).toEqual([false, true])
    expect(isSurplus(books.db, first)).toBe(false)
    const free = books.attempt(books.place())
    write(books.db, (tx) => updateAttempt(tx, free.id, { outcome: 'paid' }, later))
    expect(findPayingAttempt(books.db, free.orderId)).toBeUndefined()
  })

  it("shows its order's payment status, from the newest attempt", () => {
    const books = openBooks()
    const order = books.place()
    const status = () => paymentStatusOf(books.db, order.id)
    expect(status()).toBeNull()
    const { id } = books.attempt(order)
    expect(status()).toBe('created')
    write(books.db, (tx) => updateAttempt(tx, id, { outcome: 'failed' }, later))
    expect(status()).toBe('failed')
    write(books.db, (tx) => updateAttempt(tx, id, { gatewayStatus: 'canceled' }, later))
    expect(status()).toBe('canceled')
    books.attempt(order)
    expect(status()).toBe('created')
  })
})

describe('a warning for the operator', () => {
  const say = (books: Books, kind: WarningKind, objectId: string, orderId: number | null = null) =>
    books.commit((unit) => warn(unit, { orderId, kind, objectId, message: `${kind} ${objectId}` }))
  const open = ({ db }: Books) => openWarnings(db).map(({ message }) => message)

  it('is stored and logged once for its kind and object, newest first', () => {
    const books = openBooks()
    const { id } = books.place()
    for (const objectId of ['a', 'a', 'b']) say(books, 'mismatch', objectId)
    say(books, 'dispute', 'a', id)
    expect(open(books)).toEqual(['dispute a', 'mismatch b', 'mismatch a'])
    expect(openWarnings(books.db)[0]).toMatchObject({ orderId: id, createdAt: later, resolvedAt: null })
    expect(books.logged).toEqual([
      { message: 'mismatch a', fields: { kind: 'mismatch', object: 'a', orderId: undefined } },
      { message: 'mismatch b', fields: { kind: 'mismatch', object: 'b', orderId: undefined } },
      { message: 'dispute a', fields: { kind: 'dispute', object: 'a', orderId: id } }
    ])
  })

  it('is closed and does not open again after it was resolved', () => {
    const books = openBooks()
    say(books, 'mismatch', 'a')
    say(books, 'dispute', 'a')
    say(books, 'mismatch', 'b')
    books.commit((unit) => resolveWarning(unit, 'mismatch', 'a'))
    expect(open(books)).toEqual(['mismatch b', 'dispute a'])
    say(books, 'mismatch', 'a')
    expect(open(books)).toEqual(['mismatch b', 'dispute a'])
    expect(wasWarned(books.db, 'mismatch', 'a')).toBe(true)
    expect(wasWarned(books.db, 'paid_twice', 'a')).toBe(false)
    expect(wasWarned(books.db, 'mismatch', 'c')).toBe(false)
    expect(wasWarned(books.db, 'dispute', 'b')).toBe(false)
  })

  it('keeps the time at which it was resolved first', () => {
    const books = openBooks()
    say(books, 'mismatch', 'a')
    dismissWarning(books.db, 1, 7)
    books.commit((unit) => resolveWarning(unit, 'mismatch', 'a'))
    expect(books.db.sqlite.prepare('SELECT resolved_at FROM payment_warnings').pluck().all()).toEqual([7])
    for (const id of [1, 2]) expect(() => dismissWarning(books.db, id, 8)).toThrow(`There is no open warning ${id}.`)
  })

  it('leaves the others when it is resolved by its id', () => {
    const books = openBooks()
    for (const objectId of ['a', 'b', 'c']) say(books, 'mismatch', objectId)
    dismissWarning(books.db, 2, later)
    expect(open(books)).toEqual(['mismatch c', 'mismatch a'])
  })

  it('closes for a late payment when its order leaves on-hold', () => {
    const books = openBooks()
    const { id } = books.place()
    force(books.db, id, 'on-hold')
    say(books, 'late_payment', 'pi_1', id)
    say(books, 'dispute', 'dp_1', id)
    expect(open(books)).toEqual(['dispute dp_1', 'late_payment pi_1'])
    force(books.db, id, 'completed')
    expect(open(books)).toEqual(['dispute dp_1'])
  })
})
