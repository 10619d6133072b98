import { describe, expect, it } from 'vitest'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()
const { app } = till.shop

describe('a dispute of a part of the payment', () => {
  it('refunds the disputed amount when it is lost, once, and gives the order its state back', async () => {
    till.sandbox.clearFaults()
    const { data } = await till.handOff('pm_card_visa', { quantity: 2 })
    const id = Number(data.orderId)
    const { id: disputeId } = till.sandbox.openDispute(till.attempt(id).objectId ?? '', { amount: 500 })
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'on-hold', refundedMinor: 0 })
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'processing', totalMinor: 2500, refundedMinor: 500 })
    await till.webhook({
      id: 'evt_again',
      type: 'charge.dispute.closed',
      livemode: false,
      created: Math.floor(till.clock.now() / 1000),
      data: { object: { id: disputeId } }
    })
    expect(till.order(id).refundedMinor).toBe(500)
    expect(historyOf(app.db, id).at(-1)).toMatchObject({ reason: `dispute ${disputeId} was lost in part` })
  })

  it('leaves a membership that costs more than the disputed amount', async () => {
    till.sandbox.clearFaults()
    const visitor = till.shop.visitor()
    await visitor.register()
    const { id, sessionId } = await till.redirect({ slug: 'yearbook', visitor })
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.deliver()
    const { id: disputeId } = till.sandbox.openDispute(till.attempt(id).paymentIntentId ?? '', { amount: 100 })
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'completed', refundedMinor: 100 })
    const benefit = app.db.orm.select().from(subscriptions).all()
    expect(benefit.find(({ orderId }) => orderId === id)?.cancelledAt).toBeNull()
    const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
    expect((await till.stripe.subscriptions.retrieve(idOf(subscription) ?? '')).status).toBe('active')
  })
})
