import { describe, expect, it } from 'vitest'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import { attemptsOf } from '../../../src/shop/payments/attempts.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { write } from '../../../src/platform/db/database.ts'
import { openQuietTill } from '../payments/till.ts'

const till = await openQuietTill()
const { app } = till.shop
const change = (id: number, edits: object) => changeOrder(app, id, edits, 'operator')

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
