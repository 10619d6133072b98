import { describe, expect, it } from 'vitest'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { historyOf, itemsOf } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { attemptsOf } from '../../../src/shop/payments/attempts.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()
const { app } = till.shop
const visitor = till.shop.visitor()
await visitor.register()

/** Every version from before 2025-03-31 names an invoice's subscription at its top level. */
const oldVersion = '2024-06-20'

/** A paid month of the club, heard of. */
async function subscribe(buyer = visitor): Promise<{ orderId: number; subscription: string }> {
  till.sandbox.clearFaults()
  const { id: orderId, sessionId } = await till.redirect({ slug: 'club', visitor: buyer })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  await till.deliver()
  const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
  return { orderId, subscription: idOf(subscription) ?? '' }
}

const renewalsOf = (orderId: number): OrderRow[] =>
  app.db.orm
    .select()
    .from(orders)
    .all()
    .filter(({ renewalOf }) => renewalOf === orderId)

const benefitOf = (orderId: number) =>
  app.db.orm
    .select()
    .from(subscriptions)
    .all()
    .find((row) => row.orderId === orderId)

async function renew(subscription: string): Promise<string> {
  till.sandbox.renewSubscription(subscription, 'paid')
  await till.deliver()
  const { latest_invoice: invoice } = await till.stripe.subscriptions.retrieve(subscription)
  return idOf(invoice) ?? ''
}

const statusAt = async (subscription: string) => (await till.stripe.subscriptions.retrieve(subscription)).status
const intentOf = (orderId: number) => attemptsOf(app.db, orderId)[0]?.paymentIntentId ?? ''

describe('a paid renewal', () => {
  it('is an order of its own, with its payment, its lines, its receipt and a link to the first order', async () => {
    const { orderId, subscription } = await subscribe()
    const invoice = await renew(subscription)
    const [renewal] = renewalsOf(orderId)
    if (renewal === undefined) throw new Error('the renewal has no order')
    expect(renewal).toMatchObject({ status: 'completed', totalMinor: 800, userId: till.order(orderId).userId })
    expect(itemsOf(app.db, renewal.id)).toMatchObject([{ name: 'Club', quantity: 1, totalMinor: 800, grants: [] }])
    expect(attemptsOf(app.db, renewal.id)).toMatchObject([{ kind: 'invoice', objectId: invoice, outcome: 'paid' }])
    expect(intentOf(renewal.id)).toMatch(/^pi_/)
    expect(historyOf(app.db, renewal.id).map(({ to }) => to)).toEqual(['pending', 'completed'])
    const receipts = app.db.orm.select().from(mails).all()
    expect(receipts.filter(({ data }) => data['orderId'] === renewal.id)).toMatchObject([{ template: 'order_receipt' }])
  })

  it('is recorded once, however often and by whichever event Stripe reports it', async () => {
    const { orderId, subscription } = await subscribe()
    till.sandbox.addFault({ target: 'webhook:*', fault: 'twice', times: -1 })
    await renew(subscription)
    await till.settle()
    expect(renewalsOf(orderId)).toHaveLength(1)
    await renew(subscription)
    expect(renewalsOf(orderId)).toHaveLength(2)
  })

  it('is recorded when the webhook endpoint uses an API version from before 2025-03-31', async () => {
    const { orderId, subscription } = await subscribe()
    const before = benefitOf(orderId)?.currentPeriodEnd ?? 0
    till.sandbox.useVersions({ endpoint: oldVersion })
    await renew(subscription)
    till.sandbox.useVersions({ endpoint: '2026-10-28.endive' })
    expect(renewalsOf(orderId)).toHaveLength(1)
    expect(benefitOf(orderId)?.currentPeriodEnd).toBeGreaterThan(before)
  })

  it('is recovered by the reconciler when the account lists events at an older API version', async () => {
    const { orderId, subscription } = await subscribe()
    till.loseWebhooks()
    await renew(subscription)
    expect(renewalsOf(orderId)).toHaveLength(0)
    till.sandbox.useVersions({ account: oldVersion })
    await till.settle()
    till.sandbox.useVersions({ account: '2026-10-28.endive' })
    expect(renewalsOf(orderId)).toHaveLength(1)
  })

  it("is recorded for a guest's order, too", async () => {
    const { orderId, subscription } = await subscribe(till.shop.visitor())
    await renew(subscription)
    expect(renewalsOf(orderId)).toMatchObject([{ userId: null, email: 'ada@example.com', status: 'completed' }])
  })
})

describe('a refund of a renewal', () => {
  it('counts for the renewal and leaves the subscription when it is partial and made in the dashboard', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const [renewal] = renewalsOf(orderId)
    await till.stripe.refunds.create({ payment_intent: intentOf(renewal?.id ?? 0), amount: 300 })
    await till.deliver()
    expect(till.order(renewal?.id ?? 0)).toMatchObject({ refundedMinor: 300, status: 'completed' })
    expect(till.order(orderId).refundedMinor).toBe(0)
    await till.settle()
    expect(await statusAt(subscription)).toBe('active')
  })

  it('counts even when the renewal itself was never reported', async () => {
    const { orderId, subscription } = await subscribe()
    till.loseWebhooks()
    const invoice = await renew(subscription)
    const { data } = await till.stripe.invoicePayments.list({ invoice })
    const { id: refundId } = await till.stripe.refunds.create({
      payment_intent: idOf(data[0]?.payment.payment_intent) ?? '',
      amount: 300
    })
    till.sandbox.clearFaults()
    await till.webhook({
      id: `evt_${refundId}`,
      object: 'event',
      type: 'refund.created',
      livemode: false,
      created: Math.floor(till.clock.now() / 1000),
      data: { object: { id: refundId } }
    })
    expect(renewalsOf(orderId)).toMatchObject([{ refundedMinor: 300, status: 'completed' }])
  })

  it('revokes the newest period and ends the subscription at Stripe when it is full', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const [renewal] = renewalsOf(orderId)
    await refundOrder(app, renewal?.id ?? 0, {}, 'operator')
    expect(till.order(renewal?.id ?? 0).status).toBe('refunded')
    expect(till.order(orderId).status).toBe('completed')
    expect(benefitOf(orderId)?.currentPeriodEnd).toBeLessThanOrEqual(till.clock.now())
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })
})

describe('a paid renewal that Stripe reports before the first payment is recorded', () => {
  it('is refused until the first payment is recorded, and is an order after that', async () => {
    till.sandbox.clearFaults()
    const { id: orderId, sessionId } = await till.redirect({ slug: 'club', visitor })
    till.loseWebhooks()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.deliver()
    const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
    const invoice = await renew(idOf(subscription) ?? '')
    till.sandbox.clearFaults()
    const event = {
      id: 'evt_renewal_before_first_payment',
      object: 'event',
      type: 'invoice.paid',
      livemode: false,
      created: Math.floor(till.clock.now() / 1000),
      data: { object: { id: invoice } }
    }
    expect((await till.webhook(event)).status).toBe(500)
    expect(renewalsOf(orderId)).toEqual([])
    await till.settle()
    expect(till.order(orderId).status).toBe('completed')
    expect((await till.webhook(event)).status).toBe(200)
    expect(renewalsOf(orderId)).toMatchObject([{ status: 'completed', totalMinor: 800 }])
  })
})

describe('a refund of the first order', () => {
  it('refunds the first charge only and keeps the period that a renewal paid for', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const paidUntil = benefitOf(orderId)?.currentPeriodEnd
    await refundOrder(app, orderId, {}, 'operator')
    expect(till.order(orderId)).toMatchObject({ status: 'refunded', refundedMinor: 800 })
    expect(benefitOf(orderId)).toMatchObject({ cancelledAt: null, currentPeriodEnd: paidUntil })
    await till.settle()
    expect(await statusAt(subscription)).toBe('active')
    expect(renewalsOf(orderId)).toMatchObject([{ refundedMinor: 0 }])
  })
})

describe('a dispute of a renewal', () => {
  it('warns, and ends the subscription at Stripe when it is lost', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const [renewal] = renewalsOf(orderId)
    const { id: disputeId } = till.sandbox.openDispute(intentOf(renewal?.id ?? 0))
    await till.deliver()
    expect(till.order(renewal?.id ?? 0).status).toBe('on-hold')
    expect(openWarnings(app.db)).toMatchObject([{ kind: 'dispute', objectId: disputeId, orderId: renewal?.id }])
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    expect(till.order(renewal?.id ?? 0).status).toBe('refunded')
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })

  it('ends the subscription at Stripe when it is lost after a later renewal was paid, and keeps the paid period', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const [first] = renewalsOf(orderId)
    await renew(subscription)
    const paidUntil = benefitOf(orderId)?.currentPeriodEnd
    const { id: disputeId } = till.sandbox.openDispute(intentOf(first?.id ?? 0))
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    await till.settle()
    await till.deliver()
    expect(await statusAt(subscription)).toBe('canceled')
    expect(benefitOf(orderId)?.currentPeriodEnd).toBe(paidUntil)
  })
})

describe('a dispute of the first order', () => {
  it('ends the subscription at Stripe when it is lost after a renewal was paid', async () => {
    const { orderId, subscription } = await subscribe()
    await renew(subscription)
    const { id: disputeId } = till.sandbox.openDispute(intentOf(orderId))
    till.sandbox.decideDispute(disputeId, 'lost')
    await till.deliver()
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })
})

describe("a cancellation in Stripe's portal", () => {
  it('is seen when flexible billing sets cancel_at and leaves cancel_at_period_end false', async () => {
    const { orderId, subscription } = await subscribe()
    const { items } = await till.stripe.subscriptions.retrieve(subscription)
    await till.stripe.subscriptions.update(subscription, { cancel_at: items.data[0]?.current_period_end ?? 0 })
    await till.deliver()
    const { cancel_at_period_end: atPeriodEnd } = await till.stripe.subscriptions.retrieve(subscription)
    expect(atPeriodEnd).toBe(false)
    expect(benefitOf(orderId)?.cancelAtPeriodEnd).toBe(true)
    await till.stripe.subscriptions.update(subscription, { cancel_at: '' })
    await till.deliver()
    expect(benefitOf(orderId)?.cancelAtPeriodEnd).toBe(false)
  })
})
