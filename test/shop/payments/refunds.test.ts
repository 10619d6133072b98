import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { eventOf, openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
})
beforeEach(() => till.sandbox.clearFaults())
afterAll(() => till.close())

async function buy(paymentToken = 'pm_card_visa', quantity = 2): Promise<{ id: number; intent: string }> {
  const { data } = await till.handOff(paymentToken, { quantity, body: { customer: { email: 'ada@example.com' } } })
  await till.deliver()
  const id = Number(data.orderId)
  return { id, intent: till.attempt(id).objectId ?? '' }
}

const refund = (id: number, amountMinor?: number) => refundOrder(till.shop.app, id, { amountMinor }, 'operator')
const refundsAt = (intent: string) =>
  till.sandbox
    .ledger()
    .refunds.filter(({ payment_intent }) => payment_intent === intent)
    .map(({ amount }) => amount)

describe('a refund by the shop', () => {
  it('moves the order to refunded and returns the money when it is full', async () => {
    const { id, intent } = await buy()
    expect(await refund(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
    expect(refundsAt(intent)).toEqual([2500])
    await till.deliver()
    expect(till.order(id).refundedMinor).toBe(2500)
  })

  it("leaves the order's state until the last part", async () => {
    const { id, intent } = await buy()
    expect(await refund(id, 600)).toMatchObject({ status: 'processing', refundedMinor: 600 })
    await till.deliver()
    expect(await refund(id, 1900)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
    expect(refundsAt(intent)).toEqual([600, 1900])
  })

  it('does not exceed the paid amount', async () => {
    const { id, intent } = await buy()
    await refund(id, 2000)
    await expect(refund(id, 501)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    await refund(id, 500)
    await expect(refund(id)).rejects.toMatchObject({ code: 'TRANSITION_REFUSED' })
    expect(refundsAt(intent)).toEqual([2000, 500])
  })

  it('is made once when it is requested twice at the same time', async () => {
    const { id, intent } = await buy()
    const both = await Promise.allSettled([refund(id), refund(id)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(refundsAt(intent)).toEqual([2500])
  })

  it('is found when the response was lost, and made once', async () => {
    const { id, intent } = await buy()
    till.loseWebhooks()
    till.sandbox.addFault({ target: 'refunds.create', fault: 'reset', moment: 'after', times: 3 })
    await expect(refund(id)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    expect(till.order(id).status).toBe('processing')
    await expect(refund(id, 100)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(refund(id)).rejects.toMatchObject({ code: 'CONFLICT' })
    till.sandbox.clearFaults()
    // Long after the gateway has forgotten the key.
    till.clock.advance(30 * 60 * 60_000)
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
    expect(refundsAt(intent)).toEqual([2500])
    expect(historyOf(till.shop.app.db, id).at(-1)).toMatchObject({ by: 'operator' })
  })

  it('is requested again when it never reached the gateway', async () => {
    const { id, intent } = await buy()
    till.sandbox.addFault({ target: 'refunds.create', fault: 'reset', moment: 'before', times: 3 })
    await expect(refund(id)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    expect(refundsAt(intent)).toEqual([])
    await till.settle()
    expect(till.order(id).status).toBe('refunded')
    expect(refundsAt(intent)).toEqual([2500])
  })

  it('leaves the order when the gateway refuses it, and can be tried again', async () => {
    const { id } = await buy()
    till.sandbox.addFault({ target: 'refunds.create', fault: '402' })
    await expect(refund(id)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(till.order(id).status).toBe('processing')
    expect((await refund(id)).status).toBe('refunded')
  })

  it('counts when a slow bank has finished it, and is never made twice', async () => {
    const { id, intent } = await buy('pm_card_pendingRefund')
    till.loseWebhooks()
    expect(await refund(id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    await till.settle()
    await till.settle()
    expect(refundsAt(intent)).toEqual([2500])
    till.clock.advance(60_000)
    await till.deliver()
    await till.settle()
    expect(till.order(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
    expect(refundsAt(intent)).toEqual([2500])
  })

  it('causes a warning when the bank reports a failure later', async () => {
    const { id } = await buy('pm_card_refundFail')
    await refund(id)
    till.clock.advance(60_000)
    await till.deliver()
    expect(openWarnings(till.shop.app.db)).toContainEqual(
      expect.objectContaining({ kind: 'refund_failed', orderId: id })
    )
  })

  it('does not call the gateway for a payment by hand', async () => {
    const before = till.sandbox.ledger().refunds.length
    const { id } = await till.redirect()
    till.shop.app.db.sqlite.prepare("UPDATE orders SET status = 'processing', paid_at = 1 WHERE id = ?").run(id)
    expect((await refund(id)).status).toBe('refunded')
    expect(till.sandbox.ledger().refunds).toHaveLength(before)
  })
})

describe("a refund in the gateway's dashboard", () => {
  it('is applied for each part, once', async () => {
    const { id, intent } = await buy()
    await till.stripe.refunds.create({ payment_intent: intent, amount: 700 })
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'processing', refundedMinor: 700 })
    await till.webhook(eventOf('charge.refunded', { id: 'ch_x', payment_intent: intent }))
    expect(till.order(id).refundedMinor).toBe(700)
    await till.stripe.refunds.create({ payment_intent: intent })
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
  })

  it('is found when its webhook was lost', async () => {
    const { id, intent } = await buy()
    till.loseWebhooks()
    await till.stripe.refunds.create({ payment_intent: intent })
    await till.settle()
    expect(till.order(id).status).toBe('refunded')
  })

  it('records a payment first that was not noticed yet', async () => {
    till.loseWebhooks()
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId)
    till.sandbox.clearFaults()
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    await till.stripe.refunds.create({ payment_intent: intent as string })
    await till.deliver()
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual(['pending', 'processing', 'refunded'])
  })

  it('leaves the order when its payment never counted', async () => {
    till.loseWebhooks()
    const { id, sessionId } = await till.redirect()
    till.shop.app.db.sqlite.prepare('UPDATE payment_attempts SET amount_minor = 1 WHERE order_id = ?').run(id)
    await till.sandbox.payCheckout(sessionId)
    till.sandbox.clearFaults()
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    await till.stripe.refunds.create({ payment_intent: intent as string })
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'pending', refundedMinor: 0, paidAt: null })
  })
})

describe('a dispute', () => {
  it('puts the order on hold, and restores its state when it is won', async () => {
    const { id, intent } = await buy()
    const { id: disputeId } = till.sandbox.openDispute(intent)
    await till.deliver()
    expect(till.order(id).status).toBe('on-hold')
    expect(openWarnings(till.shop.app.db)).toContainEqual(expect.objectContaining({ kind: 'dispute', orderId: id }))
    till.sandbox.decideDispute(disputeId, 'won')
    await till.deliver()
    expect(till.order(id).status).toBe('processing')
    expect(openWarnings(till.shop.app.db)).not.toContainEqual(expect.objectContaining({ objectId: disputeId }))
  })

  it('refunds the order when it is lost', async () => {
    const { id, intent } = await buy()
    await refund(id, 500)
    const { id: disputeId } = till.sandbox.openDispute(intent)
    await till.deliver()
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
  })

  it('puts the order on hold once, however often and in whatever order the events arrive', async () => {
    const { id, intent } = await buy()
    till.loseWebhooks()
    const { id: disputeId } = till.sandbox.openDispute(intent)
    till.sandbox.decideDispute(disputeId, 'won')
    const dispute = { id: disputeId, payment_intent: intent }
    for (const type of ['closed', 'created', 'updated', 'created'])
      expect((await till.webhook(eventOf(`charge.dispute.${type}`, dispute))).status).toBe(200)
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual(['pending', 'processing'])
  })

  it('refunds a cancelled order that was paid, and leaves it cancelled', async () => {
    const { id, intent } = await buy()
    till.shop.app.db.sqlite.prepare("UPDATE orders SET status = 'cancelled' WHERE id = ?").run(id)
    const { id: disputeId } = till.sandbox.openDispute(intent)
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'cancelled', refundedMinor: 2500 })
  })
})
