import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { confirmPayment } from '../../../src/shop/orders/transition.ts'
import { applyEvent } from '../../../src/shop/payments/webhook.ts'
import { readEvent, idOf } from '../../../src/shop/payments/gateway-state.ts'
import { eventOf, openQuietTill } from './till.ts'

const day = 24 * 60 * 60_000

const till = await openQuietTill()
const visitor = till.shop.visitor()
await visitor.register()

type Subscribed = { orderId: number; gatewayId: string; endsAt: number }

/** A paid order of a month of the club; the shop has heard of its payment unless `heard` says no. */
async function subscribe({ heard = true } = {}): Promise<Subscribed> {
  const { id: orderId, sessionId } = await till.redirect({ slug: 'club', visitor })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  if (heard) await hear('checkout.session.completed', { id: sessionId })
  const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
  const gatewayId = idOf(subscription) ?? ''
  const { items } = await till.stripe.subscriptions.retrieve(gatewayId)
  return { orderId, gatewayId, endsAt: (items.data[0]?.current_period_end ?? 0) * 1000 }
}

const hear = (type: string, object: object, stripe = till.stripe) =>
  applyEvent(till.shop.app, stripe, readEvent(eventOf(type, object)), 'webhook')
const rowOf = ({ orderId }: Subscribed) =>
  till.shop.app.db.orm
    .select()
    .from(subscriptions)
    .all()
    .find((row) => row.orderId === orderId)

/** What the shop makes of it when the gateway says `changes` of a subscription. */
function hearOf({ gatewayId }: Subscribed, changes: object, type = 'customer.subscription.updated') {
  const { stripe } = till
  const retrieve = async (...asked: Parameters<Stripe['subscriptions']['retrieve']>) => ({
    ...(await stripe.subscriptions.retrieve(...asked)),
    ...changes
  })
  return hear(type, { id: gatewayId }, { subscriptions: { retrieve } } as unknown as Stripe)
}

const periodTo = (at: number) => ({ items: { data: [{ current_period_end: at / 1000 }] } })

describe('an event of a subscription', () => {
  it('extends the period when a renewal is paid, whichever event arrives', async () => {
    const mine = await subscribe()
    const [later, last] = [mine.endsAt + 30 * day, mine.endsAt + 60 * day]
    expect(await hearOf(mine, periodTo(later))).toBe('applied')
    expect(rowOf(mine)?.currentPeriodEnd).toBe(later)
    const { latest_invoice: invoice } = till.sandbox.renewSubscription(mine.gatewayId, 'paid')
    expect(await hear('invoice.paid', { id: idOf(invoice) })).toBe('applied')
    expect(await hearOf(mine, periodTo(last))).toBe('applied')
    expect(rowOf(mine)).toMatchObject({ currentPeriodEnd: last, pastDueSince: null, cancelledAt: null })
  })

  it.each([
    ['its invoice is open', { latest_invoice: { status: 'open' } }],
    ['its invoice is not expanded', { latest_invoice: 'in_1' }],
    ['it has no invoice', { latest_invoice: null }],
    ['it is not active', { status: 'past_due' }]
  ])('does not extend the period while %s', async (_why, changes) => {
    const mine = await subscribe()
    expect(await hearOf(mine, { ...periodTo(mine.endsAt + 30 * day), ...changes })).toBe('applied')
    expect(rowOf(mine)?.currentPeriodEnd).toBe(mine.endsAt)
  })

  it('marks a failed renewal while the gateway reports it, until it is paid', async () => {
    const mine = await subscribe()
    for (const status of ['past_due', 'unpaid']) {
      await hearOf(mine, { status })
      expect(rowOf(mine)?.pastDueSince).toBe(till.clock.now())
      await hearOf(mine, {})
      expect(rowOf(mine)?.pastDueSince).toBeNull()
    }
  })

  it('stores that it ends with the period, and that it does not end after all', async () => {
    const mine = await subscribe()
    await hearOf(mine, { cancel_at_period_end: true })
    expect(rowOf(mine)?.cancelAtPeriodEnd).toBe(true)
    await hearOf(mine, {})
    expect(rowOf(mine)?.cancelAtPeriodEnd).toBe(false)
  })
})

describe('an event of an ended subscription', () => {
  it.each(['canceled', 'incomplete_expired'])(
    'ends the subscription with status %s, which is not asked about again',
    async (status) => {
      const mine = await subscribe()
      expect(await hearOf(mine, { status, ...periodTo(mine.endsAt + 30 * day) })).toBe('applied')
      expect(rowOf(mine)).toMatchObject({
        cancelledAt: till.clock.now(),
        gatewayId: null,
        currentPeriodEnd: mine.endsAt
      })
    }
  )
})

describe('an event of a subscription that is ignored', () => {
  it('arrives before the first payment is recorded', async () => {
    const mine = await subscribe({ heard: false })
    expect(await hearOf(mine, {})).toBe('ignored')
    expect(till.order(mine.orderId).status).toBe('pending')
    expect(rowOf(mine)).toBeUndefined()
  })

  it('belongs to a payment beside the one that pays the order', async () => {
    const mine = await subscribe({ heard: false })
    const byHand = { by: 'operator', reason: 'a transfer' }
    write(till.shop.app.db, (tx) => confirmPayment(tx, mine.orderId, byHand, till.clock.now()))
    const before = rowOf(mine)
    await till.settle()
    expect(till.attempt(mine.orderId).outcome).toBe('paid')
    expect(await hearOf(mine, periodTo(mine.endsAt + 30 * day))).toBe('ignored')
    expect(rowOf(mine)).toEqual({ ...before, gatewayId: null })
  })

  it.each([
    ['nothing of this shop', {}],
    ['an unknown attempt', { attempt: 'guessed' }]
  ])('has metadata that names %s', async (_what, metadata) => {
    const mine = await subscribe()
    expect(await hearOf(mine, { metadata, status: 'canceled' })).toBe('ignored')
    expect(rowOf(mine)?.cancelledAt).toBeNull()
  })

  it('has an invoice without a subscription', async () => {
    for (const parent of [null, {}, { subscription_details: null }])
      expect(await hear('invoice.paid', { id: 'in_1', parent })).toBe('ignored')
  })

  it("names a subscription that the gateway does not know; one of this shop's is delivered again", async () => {
    expect(await hear('customer.subscription.updated', { id: 'sub_gone' })).toBe('ignored')
    const mine = await subscribe()
    const gone = `${mine.gatewayId}_gone`
    till.shop.app.db.orm.update(subscriptions).set({ gatewayId: gone }).run()
    await expect(hear('customer.subscription.updated', { id: gone })).rejects.toThrow('No such subscription')
  })
})
