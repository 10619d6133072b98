import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { choosePayment } from '../../../src/shop/checkout/order-form.ts'
import { whoGave } from '../../support/visitors.ts'
import { reconcile } from '../../../src/shop/payments/reconcile.ts'
import { openTill } from './till.ts'
import type { Till } from './till.ts'
import { until } from '../../support/until.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
})
beforeEach(() => till.sandbox.clearFaults())
afterAll(() => till.close())

const sessionsOf = (id: number) =>
  till.sandbox.ledger().sessions.filter(({ client_reference_id }) => client_reference_id === String(id))

describe('the reconciler', () => {
  it('settles a payment whose webhooks were lost', async () => {
    till.loseWebhooks()
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId)
    await till.settle({ underWay: 'leave' })
    expect(till.order(id).status).toBe('processing')
  })

  it('leaves a payment page open while its order waits for payment', async () => {
    const { id, sessionId } = await till.redirect()
    await till.settle()
    expect(till.order(id).status).toBe('pending')
    expect((await till.stripe.checkout.sessions.retrieve(sessionId)).status).toBe('open')
  })

  it('closes the page of an order that was cancelled', async () => {
    const { id, sessionId } = await till.redirect()
    till.shop.app.db.sqlite.prepare("UPDATE orders SET status = 'cancelled' WHERE id = ?").run(id)
    await till.settle({ underWay: 'leave' })
    expect((await till.stripe.checkout.sessions.retrieve(sessionId)).status).toBe('expired')
    expect(till.attempt(id).outcome).toBe('expired')
  })

  it('closes the page that a corrected email replaced, when it could not be closed at once', async () => {
    const { id, sessionId } = await till.redirect()
    const choice = {
      method: 'card',
      email: 'ada.quill@example.com',
      firstName: null,
      lastName: null,
      replaces: true
    } as const
    till.sandbox.addFault({ target: 'checkout.sessions.expire', fault: '500', times: 3 })
    const buyer = whoGave(String(till.order(id).email))
    await expect(choosePayment(till.shop.app, id, choice, buyer)).rejects.toMatchObject({ code: 'CHECKOUT_FAILED' })
    expect(sessionsOf(id).map((session) => session.id)).toEqual([sessionId])
    till.sandbox.clearFaults()
    await till.settle()
    expect((await till.stripe.checkout.sessions.retrieve(sessionId)).status).toBe('expired')
    expect(till.order(id)).toMatchObject({ status: 'pending', email: 'ada.quill@example.com' })
    const page = await choosePayment(till.shop.app, id, choice, whoGave('ada.quill@example.com'))
    expect(sessionsOf(id).filter(({ status }) => status === 'open')).toMatchObject([{ url: page }])
  })

  it('finds the page whose response was lost, and opens no second one', async () => {
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: 'reset', moment: 'after', times: 3 })
    await expect(till.redirect({ body: {} })).rejects.toThrow(/CHECKOUT_FAILED/)
    const { order } = till.ofNewest()
    expect(order.status).toBe('pending')
    await till.settle({ underWay: 'leave' })
    expect(sessionsOf(order.id)).toHaveLength(1)
    expect(till.attempt(order.id)).toMatchObject({ objectId: sessionsOf(order.id)[0]?.id, outcome: null })
  })

  it('fails an order whose page is refused when it is requested again', async () => {
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: 'reset', moment: 'before', times: 3 })
    await expect(till.redirect()).rejects.toThrow(/CHECKOUT_FAILED/)
    till.sandbox.clearFaults()
    const { order } = till.ofNewest()
    // By now the page would have to end sooner than Stripe allows.
    till.clock.advance(45 * 60_000)
    await till.settle()
    expect(till.order(order.id).status).toBe('failed')
    expect(sessionsOf(order.id)).toEqual([])
  })

  it('leaves attempts of running checkouts, and settles them when the checkout has died', async () => {
    const { data } = await till.handOff('pm_card_visa')
    // Its webhook would settle the order again.
    await till.deliver()
    const { db } = till.shop.app
    const id = Number(data.orderId)
    db.sqlite.prepare("UPDATE orders SET status = 'pending', paid_at = NULL WHERE id = ?").run(id)
    db.sqlite
      .prepare(
        "UPDATE payment_attempts SET outcome = NULL, gateway_status = 'requires_confirmation' WHERE order_id = ?"
      )
      .run(id)
    await till.settle({ underWay: 'leave' })
    expect(till.order(id).status).toBe('pending')
    till.clock.advance(30_000)
    await till.settle({ underWay: 'leave' })
    expect(till.order(id).status).toBe('processing')
  })

  it('waits for running checkouts with underWay "wait"', async () => {
    till.loseWebhooks()
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'slow', delayMs: 500 })
    const paying = till.handOff('pm_card_visa')
    const newest = () => till.sandbox.ledger().intents.at(-1)
    await until('a payment that is being confirmed', () => newest()?.status === 'requires_confirmation')
    const report = await reconcile(till.shop.app, { underWay: 'wait' })
    expect(report.failed).toBe(0)
    expect((await paying).data).toMatchObject({ paymentStatus: 'succeeded', status: 'processing' })
  })

  it('applies the other events when one fails, and applies that one later', async () => {
    till.loseWebhooks()
    const broken = await till.handOff('pm_card_visa')
    const good = await till.handOff('pm_card_visa')
    const brokenId = Number(broken.data.orderId)
    const goodId = Number(good.data.orderId)
    for (const id of [brokenId, goodId])
      await till.stripe.refunds.create({ payment_intent: till.attempt(id).objectId ?? '' })
    const { objectId } = till.attempt(brokenId)
    const { sqlite } = till.shop.app.db
    // The gateway does not know what this attempt says it is, until it says something else.
    const rename = sqlite.prepare('UPDATE payment_attempts SET outcome = ?, object_id = ? WHERE order_id = ?')
    rename.run(null, 'pi_gone', brokenId)
    const events = { since: null }
    await till.settle({ underWay: 'leave', events })
    expect(till.order(goodId).status).toBe('refunded')
    expect(till.order(brokenId).status).toBe('processing')
    rename.run('paid', objectId, brokenId)
    till.clock.advance(60 * 60_000)
    await till.settle({ underWay: 'leave', events })
    expect(till.order(brokenId).status).toBe('refunded')
  })

  it('stops the round when the gateway does not answer', async () => {
    for (let orders = 0; orders < 6; orders += 1) await till.redirect()
    till.logged.length = 0
    till.sandbox.addFault({ target: '*', fault: 'html', times: -1 })
    const report = await reconcile(till.shop.app, { underWay: 'take' })
    expect(report.failed).toBeGreaterThan(6)
    expect(till.logged.filter(({ message }) => message.includes('does not answer'))).toHaveLength(1)
    expect(till.logged.filter(({ message }) => message === 'could not be reconciled')).toHaveLength(3)
  })
})
