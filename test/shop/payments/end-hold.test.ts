import { describe, expect, it } from 'vitest'
import { writeWhenFree, write } from '../../../src/platform/db/database.ts'
import { cancelReplaced } from '../../../src/shop/checkout/held-orders.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { createAttempt, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import { cancelUnpaidOrders, cancelOrder, endHold, endHolds } from '../../../src/shop/payments/end-hold.ts'
import { readyGateway } from '../../../src/shop/payments/gateway.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()

const end = (id: number) => endHold(till.shop.app, id)
const cancel = (id: number) => cancelOrder(till.shop.app, id, 'operator')
const lastMove = (id: number) => historyOf(till.shop.app.db, id).at(-1)
const pageOf = async (sessionId: string) => (await till.stripe.checkout.sessions.retrieve(sessionId)).status
const change = (id: number, sql: string) =>
  till.shop.app.db.sqlite.prepare(`UPDATE payment_attempts SET ${sql} WHERE order_id = ?`).run(id)

/** The same shop, started without the gateway's key. */
const withoutKey = () => {
  const { app } = till.shop
  return { ...app, cards: { ...readyGateway(app), client: undefined } }
}

async function paidUnheard() {
  const { id, sessionId } = await till.redirect()
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  return id
}

async function atTheBank() {
  const { data } = await till.handOff('pm_sandbox_processing')
  return Number(data.orderId)
}

/** The shop has forgotten what the gateway calls the payment, or never heard of it. */
async function withoutObject() {
  const { id, sessionId } = await till.redirect()
  change(id, 'object_id = NULL')
  return { id, sessionId }
}

describe('the end of a hold', () => {
  it('closes the page and cancels the order, with the reason in its history', async () => {
    const { id, sessionId } = await till.redirect()
    await end(id)
    expect(await pageOf(sessionId)).toBe('expired')
    expect(till.attempt(id)).toMatchObject({ outcome: 'expired', settledAt: till.clock.now() })
    expect(lastMove(id)).toMatchObject({ to: 'cancelled', by: 'hold', reason: 'the payment page expired' })
  })

  it('cancels an order whose payment the gateway cannot be asked about', async () => {
    const { id } = await withoutObject()
    await end(id)
    expect(till.attempt(id)).toMatchObject({ outcome: 'abandoned', settledAt: till.clock.now() })
    expect(lastMove(id)).toMatchObject({ to: 'cancelled', by: 'hold', reason: 'it was not paid in time' })
  })

  it('does not call a gateway without a payment of the order', async () => {
    const { id, sessionId } = await till.redirect()
    change(id, "gateway = 'stripe'")
    await end(id)
    expect(till.attempt(id).outcome).toBe('abandoned')
    expect(await pageOf(sessionId)).toBe('open')
  })

  it("leaves an order while the gateway's key is missing", async () => {
    const [{ id, sessionId }, waiting] = [await till.redirect(), await atTheBank()]
    for (const orderId of [id, waiting]) {
      await endHold(withoutKey(), orderId)
      expect(till.order(orderId).status).toBe('pending')
      expect(till.attempt(orderId).outcome).toBeNull()
    }
    expect(await pageOf(sessionId)).toBe('open')
    await end(id)
    expect([till.order(id).status, await pageOf(sessionId)]).toEqual(['cancelled', 'expired'])
  })

  it.each(['processing', 'requires_capture', 'complete'])(
    'leaves an order whose payment had the status %s at a gateway that the shop no longer uses',
    async (status) => {
      const { id } = await till.redirect()
      change(id, `gateway = 'stripe', gateway_status = '${status}'`)
      for (const shop of [till.shop.app, { ...till.shop.app, cards: null }]) await endHold(shop, id)
      expect(till.order(id).status).toBe('pending')
      expect(till.attempt(id).outcome).toBeNull()
    }
  )

  it('leaves an order whose payment has arrived or waits for the bank', async () => {
    const [paid, waiting] = [await paidUnheard(), await atTheBank()]
    await end(paid)
    expect(till.order(paid).status).toBe('processing')
    await end(waiting)
    expect(till.order(waiting).status).toBe('pending')
    expect(till.attempt(waiting).outcome).toBeNull()
  })

  it('leaves an order that starts another payment in the meantime', async () => {
    const { id } = await till.redirect()
    const arrived = till.slowDown('checkout.sessions.expire')
    const ending = end(id)
    await arrived
    const cards = { gateway: 'sandbox', kind: 'payment_intent', livemode: false } as const
    write(till.shop.app.db, (tx) => createAttempt(tx, till.order(id), cards, till.clock.now()))
    await ending
    expect(till.order(id).status).toBe('pending')
  })
})

describe('a round over the expired holds', () => {
  async function overdue(): Promise<number> {
    const { id } = await till.redirect()
    till.shop.app.db.sqlite.prepare('UPDATE orders SET hold_ends_at = ? WHERE id = ?').run(till.clock.now() - 1, id)
    return id
  }
  const rest = () => till.shop.app.db.sqlite.prepare("UPDATE orders SET hold_ends_at = NULL WHERE status = 'pending'")

  it('continues after a hold that could not be ended, and logs it', async () => {
    rest().run()
    const [first, second] = [await overdue(), await overdue()]
    till.sandbox.addFault({ target: 'checkout.sessions.expire', fault: '500', times: 3 })
    await endHolds(till.shop.app)
    expect([till.order(first).status, till.order(second).status]).toEqual(['pending', 'cancelled'])
    expect(till.logged).toMatchObject([
      { message: 'a hold could not be ended', fields: { orderId: first, error: expect.anything() } }
    ])
  })

  it('stops when the gateway does not answer', async () => {
    rest().run()
    const ids = [await overdue(), await overdue()]
    till.sandbox.addFault({ target: '*', fault: 'reset', times: -1 })
    await endHolds(till.shop.app)
    expect(till.logged).toHaveLength(1)
    expect(ids.map((id) => till.order(id).status)).toEqual(['pending', 'pending'])
  })
})

describe('an order that an operator cancels', () => {
  it('is called off at the gateway first', async () => {
    const { id, sessionId } = await till.redirect()
    await cancel(id)
    expect(await pageOf(sessionId)).toBe('expired')
    expect(till.order(id).status).toBe('cancelled')
    expect(historyOf(till.shop.app.db, id).map(({ to, by }) => [to, by])).toEqual([
      ['pending', 'checkout'],
      ['cancelled', 'operator']
    ])
  })

  it('is cancelled when the gateway does not know its payment', async () => {
    const { id } = await withoutObject()
    await cancel(id)
    expect(lastMove(id)).toMatchObject({ to: 'cancelled', by: 'operator', reason: 'cancelled' })
  })

  it('is called off when a checkout stores what the gateway calls the payment at the same time', async () => {
    const { id, sessionId } = await withoutObject()
    const { id: attemptId } = till.attempt(id)
    const stored = writeWhenFree(till.shop.app.db, (tx) => updateAttempt(tx, attemptId, { objectId: sessionId }, 0))
    await Promise.all([stored, cancel(id)])
    expect([till.order(id).status, till.attempt(id).outcome]).toEqual(['cancelled', 'expired'])
    expect(await pageOf(sessionId)).toBe('expired')
  })

  it('stays while its gateway cannot be asked, and the error names the missing setting', async () => {
    const { id, sessionId } = await till.redirect()
    const cancelIn = (shop: typeof till.shop.app) => cancelOrder(shop, id, 'operator')
    for (const shop of [withoutKey(), { ...till.shop.app, cards: null }])
      await expect(cancelIn(shop)).rejects.toMatchObject({
        code: 'DEPENDENCY_UNAVAILABLE',
        message: expect.stringMatching(/without SHOPSTEAD_PAYMENTS=sandbox\.$/)
      })
    change(id, "gateway = 'stripe'")
    await expect(cancel(id)).rejects.toThrow('without SHOPSTEAD_PAYMENTS=stripe and SHOPSTEAD_STRIPE_SECRET_KEY.')
    expect([till.order(id).status, till.attempt(id).outcome]).toEqual(['pending', null])
    expect(await pageOf(sessionId)).toBe('open')
  })

  it('stays for a newer order and for a command about unpaid orders when it was paid since it was listed', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const id = Number(data.orderId)
    write(till.shop.app.db, (tx) => cancelReplaced(tx, [id], till.shop.app.clock.now()))
    const report = await cancelUnpaidOrders(till.shop.app, [id], 'operator', () => undefined)
    expect(report).toEqual({ cancelled: [], failed: [{ orderId: id, message: expect.stringContaining('was paid') }] })
    expect(till.order(id).status).toBe('processing')
  })

  it('stays when its payment waits for the bank', async () => {
    const id = await atTheBank()
    await expect(cancel(id)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(till.order(id).status).toBe('pending')
  })

  it('stays when it has been paid', async () => {
    const id = await paidUnheard()
    await expect(cancel(id)).rejects.toMatchObject({
      code: 'TRANSITION_REFUSED',
      details: { from: 'processing', to: 'cancelled' }
    })
    expect(till.order(id).status).toBe('processing')
  })

  it('stays while the gateway does not answer', async () => {
    const { id } = await till.redirect()
    till.sandbox.addFault({ target: '*', fault: 'reset', times: -1 })
    await expect(cancel(id)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    expect(till.order(id).status).toBe('pending')
  })

  it('is cancelled without asking the gateway when it waits for no payment', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const id = Number(data.orderId)
    change(id, 'outcome = NULL')
    till.sandbox.addFault({ target: '*', fault: 'reset', times: -1 })
    await cancel(id)
    expect(till.order(id).status).toBe('cancelled')
    expect(till.attempt(id).outcome).toBeNull()
  })
})
