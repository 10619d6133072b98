import { describe, expect, it } from 'vitest'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import type { LineEdits } from '../../../src/shop/corrections/edit-lines.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { attemptsOf, createAttempt } from '../../../src/shop/payments/attempts.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { write } from '../../../src/platform/db/database.ts'
import { eq } from 'drizzle-orm'
import { choosePayment } from '../../../src/shop/checkout/order-form.ts'
import { paymentAttempts } from '../../../src/shop/payments/schema.ts'
import { whoGave } from '../../support/visitors.ts'
import { openQuietTill } from '../payments/till.ts'

const byCard = { method: 'card', email: null, firstName: null, lastName: null } as const
const till = await openQuietTill()
const { app } = till.shop
const change = async (id: number, buyer: object, lines: Partial<LineEdits> = {}) =>
  (await changeOrder(app, id, { buyer, lines: [], add: [], holdMinutes: 60, ...lines }, 'operator')).fields

describe('changing an order that waits for its payment', () => {
  it('closes the page that shows the order as it was, and keeps the order and its hold', async () => {
    const { id, sessionId } = await till.redirect()
    expect(await change(id, { email: 'lena@example.com' })).toEqual(['email'])
    expect((await till.stripe.checkout.sessions.retrieve(sessionId)).status).toBe('expired')
    till.sandbox.clearFaults()
    await till.deliver()
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'pending', email: 'lena@example.com' })
    expect(attemptsOf(app.db, id).every(({ outcome }) => outcome !== null)).toBe(true)
  })

  it('does not change an order whose buyer was faster', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await expect(change(id, { email: 'lena@example.com' })).rejects.toThrow('was paid in the meantime')
    expect(till.order(id)).toMatchObject({ status: 'processing', email: 'ada@example.com' })
  })

  it('changes nothing while the gateway does not answer, and the page can still be paid', async () => {
    const { id, sessionId } = await till.redirect()
    till.sandbox.addFault({ target: 'checkout.sessions.expire', fault: '500', times: -1 })
    await expect(change(id, { email: 'lena@example.com' })).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    till.sandbox.clearFaults()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'processing', email: 'ada@example.com' })
  })

  it('leaves an order that was cancelled in the meantime', async () => {
    const { id } = await till.redirect()
    write(app.db, (tx) => moveOrder(tx, id, 'cancelled', { by: 'buyer', reason: 'cancelled' }, till.clock.now()))
    await expect(change(id, { email: 'lena@example.com' })).rejects.toThrow('is cancelled, so it cannot be changed')
  })
})

describe('changing the lines of an order that waits for its payment', () => {
  it('leaves a subscription whose first period costs nothing to its buyer, who must give a card', async () => {
    const setPercent = app.db.sqlite.prepare("UPDATE coupons SET percent_bps = ? WHERE code = 'TEN'")
    setPercent.run(10_000)
    const { id, sessionId } = await till.redirect({ slug: 'club', body: { couponCode: 'TEN' } })
    expect([till.order(id).totalMinor, sessionId]).toEqual([0, expect.any(String)])
    await change(id, {}, { lines: [{ line: 1, quantity: 2 }] })
    setPercent.run(1000)
    expect(till.order(id)).toMatchObject({ status: 'pending', totalMinor: 0, paidAt: null })
  })

  const mug = (quantity: number) => ({ productId: till.productId('mug'), quantity })
  const last = (quantity: number) => ({ productId: till.productId('last'), quantity })
  const linesOf = (id: number) =>
    itemsOf(app.db, id).map(({ name, quantity, totalMinor }) => [name, quantity, totalMinor])

  it('changes quantities, adds, removes, and charges the new total on a new page', async () => {
    const { id } = await till.redirect({ body: { couponCodes: ['TEN'] } })
    expect(await change(id, {}, { lines: [{ line: 1, quantity: 3 }], add: [last(1)] })).toEqual(['lines', 'totalMinor'])
    expect(linesOf(id)).toEqual([
      ['Mug', 3, 3375],
      ['Last one', 1, 450]
    ])
    expect(till.order(id)).toMatchObject({
      status: 'pending',
      subtotalMinor: 4250,
      discountMinor: 425,
      totalMinor: 3825
    })
    expect(till.stockOf('last')).toBe(0)
    await change(id, {}, { lines: [{ line: 2, quantity: 0 }] })
    expect([linesOf(id), till.stockOf('last')]).toEqual([[['Mug', 3, 3375]], 1])
    await change(id, {}, { add: [mug(1)] })
    expect(linesOf(id)).toEqual([['Mug', 4, 4500]])
    const url = await choosePayment(app, id, byCard, whoGave('ada@example.com'))
    expect(url).toEqual(expect.stringContaining('http'))
    await till.sandbox.payCheckout(till.attempt(id).objectId ?? '', { waitMs: 0 })
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'processing', totalMinor: 4500 })
  })

  it('lets a transfer be of the new total', async () => {
    const { id } = await till.redirect()
    app.db.orm.update(paymentAttempts).set({ outcome: 'expired' }).where(eq(paymentAttempts.orderId, id)).run()
    write(app.db, (tx) => {
      createAttempt(tx, getOrder(tx, id), { gateway: 'manual', kind: 'manual', livemode: false }, till.clock.now())
      moveOrder(tx, id, 'on-hold', { by: 'buyer', reason: 'pays by hand' }, till.clock.now())
    })
    await change(id, {}, { lines: [{ line: 1, quantity: 2 }] })
    expect(till.attempt(id)).toMatchObject({ kind: 'manual', outcome: null, amountMinor: 2500 })
  })

  it.each<[string, Partial<LineEdits>, object]>([
    ['a line that does not exist', { lines: [{ line: 2, quantity: 1 }] }, { lines: ['The order has no line 2.'] }],
    [
      'a line that is given twice',
      { lines: [1, 2].map((quantity) => ({ line: 1, quantity })) },
      { lines: ['Line 1 is given twice.'] }
    ],
    [
      'nothing that is left',
      { lines: [{ line: 1, quantity: 0 }] },
      { lines: ['Nothing would be left. Cancel the order instead.'] }
    ],
    ['more than there is', { add: [last(2)] }, { 'items.0.quantity': ['There are not enough left in stock.'] }]
  ])('is refused for %s and changes nothing', async (_title, lines, fieldErrors) => {
    const { id } = await till.redirect()
    const before = [till.order(id), linesOf(id), till.stockOf('last')]
    await expect(change(id, {}, lines)).rejects.toMatchObject({ details: { fieldErrors } })
    expect([till.order(id), linesOf(id), till.stockOf('last')]).toEqual(before)
  })
})
