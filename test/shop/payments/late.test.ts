import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { createAttempt } from '../../../src/shop/payments/attempts.ts'
import { openCheckoutPage } from '../../../src/shop/payments/gateway-page.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
})
beforeEach(() => till.sandbox.clearFaults())
afterAll(() => till.close())

const warnings = () => openWarnings(till.shop.app.db).map(({ kind, orderId }) => ({ kind, orderId }))
const hour = 60 * 60_000

function cancel(id: number): void {
  write(till.shop.app.db, (tx) => moveOrder(tx, id, 'cancelled', { by: 'operator', reason: 'test' }, till.clock.now()))
}

/** Paid on a page that was open when the order was cancelled. */
async function payLate(slug: string, meanwhile?: () => Promise<unknown>): Promise<number> {
  const { id, sessionId } = await till.redirect({ slug })
  cancel(id)
  await meanwhile?.()
  await till.sandbox.payCheckout(sessionId)
  return id
}

describe('a payment of a cancelled order', () => {
  it('revives the order while its stock is available', async () => {
    const id = await payLate('last')
    expect(till.order(id).status).toBe('processing')
    expect(till.stockOf('last')).toBe(0)
    await refundOrder(till.shop.app, id, {}, 'operator')
    expect(till.stockOf('last')).toBe(1)
  })

  it('puts the order on hold when its stock is gone, with a warning until an operator decides', async () => {
    const other = () => till.handOff('pm_card_visa', { slug: 'last' })
    const id = await payLate('last', other)
    expect(till.order(id)).toMatchObject({ status: 'on-hold', paidAt: till.clock.now() })
    expect(warnings()).toContainEqual({ kind: 'late_payment', orderId: id })
    await refundOrder(till.shop.app, id, {}, 'operator')
    expect(till.order(id).status).toBe('refunded')
    expect(warnings()).not.toContainEqual({ kind: 'late_payment', orderId: id })
  })
})

describe('the end of a hold', () => {
  it('closes the page first, so that a released order cannot be paid', async () => {
    const { id, sessionId } = await till.redirect()
    till.clock.advance(hour)
    await till.settle()
    expect(till.order(id).status).toBe('cancelled')
    expect(await till.stripe.checkout.sessions.retrieve(sessionId)).toMatchObject({ status: 'expired' })
    expect((await till.sandbox.payCheckout(sessionId)).outcome.kind).toBe('expired')
  })

  it('finds a payment whose webhook was lost, and keeps the order', async () => {
    till.loseWebhooks()
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId)
    till.clock.advance(hour)
    await till.settle()
    expect(till.order(id).status).toBe('processing')
  })

  it('does nothing while the gateway does not answer', async () => {
    const { id } = await till.redirect()
    till.clock.advance(hour)
    till.sandbox.addFault({ target: '*', fault: '503', times: -1 })
    await till.settle()
    expect(till.order(id).status).toBe('pending')
    till.sandbox.clearFaults()
    await till.settle()
    expect(till.order(id).status).toBe('cancelled')
  })

  it('calls off a payment that the buyer never confirmed at the bank', async () => {
    const { data } = await till.handOff('pm_card_authenticationRequired')
    const id = Number(data.orderId)
    till.clock.advance(hour)
    await till.settle()
    expect(['cancelled', 'failed']).toContain(till.order(id).status)
    const page = String(data.redirectUrl).replace('//localhost:', '//127.0.0.1:')
    await till.shop.visitor().form(page, { outcome: 'approve' })
    await till.deliver()
    expect(till.order(id).paidAt).toBeNull()
    expect(till.sandbox.ledger().charges.filter((charge) => charge.metadata.shopstead_order === String(id))).toEqual([])
  })

  it('is not delayed by a payment of a gateway that the shop no longer uses', async () => {
    const { id } = await till.redirect()
    till.shop.app.db.sqlite.prepare("UPDATE payment_attempts SET gateway = 'stripe' WHERE order_id = ?").run(id)
    till.shop.app.db.sqlite.prepare('UPDATE orders SET hold_ends_at = 0 WHERE id = ?').run(id)
    await till.settle()
    expect(till.order(id).status).toBe('cancelled')
    expect(till.attempt(id).outcome).toBe('abandoned')
  })

  it('is not delayed by a page that the gateway does not know', async () => {
    const { id } = await till.redirect()
    till.shop.app.db.sqlite.prepare("UPDATE payment_attempts SET object_id = 'cs_gone' WHERE order_id = ?").run(id)
    till.clock.advance(hour)
    await till.settle()
    expect(till.order(id).status).toBe('cancelled')
  })
})

describe('an order that is paid twice', () => {
  async function payTwice() {
    const { id, sessionId } = await till.redirect()
    const { app } = till.shop
    const cards = { gateway: 'sandbox', kind: 'checkout_session', livemode: false } as const
    const second = write(app.db, (tx) => createAttempt(tx, till.order(id), cards, till.clock.now()))
    const { objectId } = await openCheckoutPage(app, second)
    await till.sandbox.payCheckout(sessionId)
    await till.sandbox.payCheckout(objectId ?? '')
    return { id, sessionId, secondId: objectId ?? '' }
  }

  it('is paid once and causes a warning', async () => {
    const { id } = await payTwice()
    expect(till.order(id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    expect(warnings()).toContainEqual({ kind: 'paid_twice', orderId: id })
  })

  it('stays paid when the second payment is refunded, and the warning closes', async () => {
    const { id, secondId } = await payTwice()
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(secondId)
    await till.stripe.refunds.create({ payment_intent: idOf(intent) ?? '' })
    await till.deliver()
    expect(till.order(id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    expect(warnings()).not.toContainEqual({ kind: 'paid_twice', orderId: id })
  })

  it('is refunded with the payment that counts', async () => {
    const { id, sessionId } = await payTwice()
    await refundOrder(till.shop.app, id, {}, 'operator')
    expect(till.order(id).status).toBe('refunded')
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    expect(till.sandbox.ledger().refunds.at(-1)).toMatchObject({ payment_intent: intent, amount: 1250 })
  })
})
