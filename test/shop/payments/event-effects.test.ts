import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { applyEvent } from '../../../src/shop/payments/webhook.ts'
import { readEvent, idOf, lookUp } from '../../../src/shop/payments/gateway-state.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { eventOf, openQuietTill } from './till.ts'

const till = await openQuietTill()

const hear = (type: string, object: object, fields: object = {}) =>
  applyEvent(till.shop.app, till.stripe, readEvent(eventOf(type, object, fields)), 'webhook')

/** A paid order that the shop takes for unpaid still, as it was before its attempt heard the gateway's answer. */
async function unheard(): Promise<{ id: number; intent: string; attempt: AttemptRow }> {
  const { data } = await till.handOff('pm_card_visa')
  const id = Number(data.orderId)
  const attempt = till.attempt(id)
  forget(id)
  return { id, intent: attempt.objectId ?? '', attempt }
}

function forget(id: number): void {
  const { sqlite } = till.shop.app.db
  sqlite.prepare("UPDATE orders SET status = 'pending', paid_at = NULL WHERE id = ?").run(id)
  sqlite
    .prepare(
      `UPDATE payment_attempts SET outcome = NULL, gateway_status = NULL, settled_at = NULL, object_id = NULL,
         payment_intent_id = NULL WHERE order_id = ?`
    )
    .run(id)
}

const about = ({ token }: AttemptRow) => ({ attempt: token })
const warnings = () => openWarnings(till.shop.app.db)

describe('an event that arrives before the response with the id of its object', () => {
  it('pays the order of an intent', async () => {
    const { id, intent, attempt } = await unheard()
    expect(await hear('payment_intent.succeeded', { id: intent, metadata: about(attempt) })).toBe('applied')
    expect(till.order(id).status).toBe('processing')
    expect(till.attempt(id)).toMatchObject({ objectId: intent, outcome: 'paid' })
  })

  it('pays the order of a page, when it is about the page', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    const attempt = till.attempt(id)
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    forget(id)
    expect(await hear('payment_intent.succeeded', { id: intent, metadata: about(attempt) })).toBe('ignored')
    expect(till.order(id).status).toBe('pending')
    expect(await hear('checkout.session.completed', { id: sessionId, metadata: about(attempt) })).toBe('applied')
    expect(till.order(id).status).toBe('processing')
    expect(till.attempt(id)).toMatchObject({ objectId: sessionId, outcome: 'paid' })
  })

  it('records the payment first when it is about a refund of an intent', async () => {
    const { id, intent } = await unheard()
    const { id: refundId } = await till.stripe.refunds.create({ payment_intent: intent })
    expect(await hear('refund.created', { id: refundId })).toBe('applied')
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual([
      'pending',
      'processing',
      'processing',
      'refunded'
    ])
  })

  it('must be delivered again when it is about a refund of an unknown page', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    forget(id)
    const { id: refundId } = await till.stripe.refunds.create({ payment_intent: idOf(intent) ?? '' })
    await expect(hear('refund.created', { id: refundId })).rejects.toThrow('not been settled')
    expect(till.order(id)).toMatchObject({ status: 'pending', refundedMinor: 0 })
  })
})

/** A page on which a month of the club has been paid, of which the shop has not heard, and the intent beneath. */
async function unheardMonth() {
  const { id, sessionId } = await till.redirect({ slug: 'club' })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  const state = await lookUp(till.stripe, till.attempt(id))
  return { id, intent: state?.paymentIntentId ?? '', subscription: state?.subscription?.id ?? '' }
}

describe("an event of a subscription's first payment, without the shop's metadata", () => {
  it('records the payment first when it is about a refund, whichever pages are open', async () => {
    const [gone, before] = [await till.redirect({ slug: 'club' }), await unheardMonth()]
    const { sqlite } = till.shop.app.db
    sqlite.prepare("UPDATE payment_attempts SET object_id = 'cs_gone' WHERE order_id = ?").run(gone.id)
    const { id, intent, subscription } = await unheardMonth()
    const { id: refundId } = await till.stripe.refunds.create({ payment_intent: intent })
    expect(await hear('refund.created', { id: refundId })).toBe('applied')
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual(['pending', 'completed', 'refunded'])
    expect([gone, before].map((other) => till.order(other.id).status)).toEqual(['pending', 'pending'])
    await till.settle()
    expect((await till.stripe.subscriptions.retrieve(subscription)).status).toBe('canceled')
  })

  it('is ignored when only its amount is the same', async () => {
    const { id } = await unheardMonth()
    const { id: theirs } = await till.stripe.paymentIntents.create({
      amount: 800,
      currency: 'eur',
      confirm: true,
      payment_method: 'pm_card_visa',
      return_url: 'https://site.example'
    })
    const { id: refundId } = await till.stripe.refunds.create({ payment_intent: theirs })
    expect(await hear('refund.created', { id: refundId })).toBe('ignored')
    expect(till.order(id).status).toBe('pending')
  })

  it('is applied when the payment is recorded during the search', async () => {
    const { id, intent } = await unheardMonth()
    const { id: refundId } = await till.stripe.refunds.create({ payment_intent: intent })
    const { checkout, invoicePayments, invoices, refunds, subscriptions, paymentIntents } = till.stripe
    const retrieve = async (asked: string) => {
      await hear('checkout.session.completed', { id: till.attempt(id).objectId })
      return paymentIntents.retrieve(asked)
    }
    const parts = { checkout, invoicePayments, invoices, refunds, subscriptions }
    const slow = { ...parts, paymentIntents: { retrieve } } as unknown as Stripe
    const event = readEvent(eventOf('refund.created', { id: refundId }))
    expect(await applyEvent(till.shop.app, slow, event, 'webhook')).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
  })
})

/** A paid intent of other software on the same Stripe account. */
const foreignIntent = (metadata: Record<string, string>) =>
  till.stripe.paymentIntents.create({
    amount: 1250,
    currency: 'eur',
    confirm: true,
    payment_method: 'pm_card_visa',
    return_url: 'https://site.example',
    metadata
  })

describe('an event of other software on the same Stripe account', () => {
  it.each([
    ['a WooCommerce order', { order_id: '1' }],
    ['an order of another Shopstead', { shopstead_shop: 'another', shopstead_order: '1', shopstead_attempt: 'theirs' }],
    ['an attempt that an older Shopstead made', { attempt: 'theirs' }],
    ['nothing', {}]
  ])('is ignored without a warning when it names %s', async (_what, metadata) => {
    const { id } = await foreignIntent(metadata)
    expect(await hear('payment_intent.succeeded', { id })).toBe('ignored')
    expect(warnings()).toEqual([])
  })

  it('is reported when it pays an order of this shop that the database does not have', async () => {
    const { shopId } = till.shop.app.keys
    const { id } = await foreignIntent({ shopstead_shop: shopId, shopstead_order: '4711', shopstead_attempt: 'lost' })
    expect(await hear('payment_intent.succeeded', { id })).toBe('ignored')
    expect(warnings()).toMatchObject([
      {
        orderId: null,
        kind: 'foreign_object',
        objectId: id,
        message: expect.stringContaining('order 4711 of this shop')
      }
    ])
  })

  it('is ignored when its object has no id', async () => {
    expect(await hear('payment_intent.succeeded', { id: null, metadata: { order_id: '1' } })).toBe('ignored')
  })
})

describe('an event that does not concern the shop', () => {
  it('has a type with a similar name', async () => {
    const { id, intent, attempt } = await unheard()
    const object = { id: intent, metadata: about(attempt), payment_intent: intent }
    for (const type of ['treasury.payment_intent.made', 'payment_intents', 'treasury.refund.made', 'xcharge.dispute.'])
      expect([type, await hear(type, object)]).toEqual([type, 'ignored'])
    expect(till.order(id).status).toBe('pending')
    expect(till.attempt(id).objectId).toBeNull()
  })

  it('is of the other mode, and a warning names the mode', async () => {
    const { id, intent, attempt } = await unheard()
    const object = { id: intent, metadata: about(attempt) }
    expect(await hear('payment_intent.succeeded', object, { livemode: true, id: 'evt_live' })).toBe('ignored')
    expect(till.order(id).status).toBe('pending')
    expect(warnings().find(({ objectId }) => objectId === 'evt_live')).toMatchObject({
      orderId: null,
      kind: 'mismatch',
      message:
        "Event evt_live (payment_intent.succeeded) is from Stripe's live mode, but this shop uses a test key. It was ignored."
    })
  })

  it('is about a refund or a dispute without a payment, or without an attempt of the shop', async () => {
    const { id: theirs } = await till.stripe.paymentIntents.create({
      amount: 1250,
      currency: 'eur',
      confirm: true,
      payment_method: 'pm_card_visa',
      return_url: 'https://site.example'
    })
    for (const intent of [null, 'pi_gone', theirs])
      for (const type of ['refund.created', 'charge.refunded', 'charge.dispute.created'])
        expect(await hear(type, { id: 'some_1', payment_intent: intent })).toBe('ignored')
  })

  it('is about a dispute without an id', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const { objectId } = till.attempt(Number(data.orderId))
    expect(await hear('charge.dispute.created', { id: null, payment_intent: objectId })).toBe('ignored')
  })

  it('is about a payment that does not match its order', async () => {
    const { intent, attempt, id } = await unheard()
    till.shop.app.db.sqlite.prepare('UPDATE payment_attempts SET amount_minor = 1 WHERE order_id = ?').run(id)
    expect(await hear('payment_intent.succeeded', { id: intent, metadata: about(attempt) })).toBe('ignored')
    expect(warnings().find(({ objectId }) => objectId === intent)).toMatchObject({ kind: 'mismatch', orderId: id })
  })
})

describe('a subscription', () => {
  async function subscribe() {
    const { id, sessionId } = await till.redirect({ slug: 'club' })
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await hear('checkout.session.completed', { id: sessionId })
    const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
    const statusNow = async () => (await till.stripe.subscriptions.retrieve(idOf(subscription) ?? '')).status
    return { id, intent: till.attempt(id).paymentIntentId ?? '', statusNow }
  }

  it('continues after a partial refund of its payment, and ends after a full one', async () => {
    const { id, intent, statusNow } = await subscribe()
    const first = await till.stripe.refunds.create({ payment_intent: intent, amount: 300 })
    expect(await hear('refund.created', { id: first.id, payment_intent: intent })).toBe('applied')
    expect(till.order(id).refundedMinor).toBe(300)
    expect(await statusNow()).toBe('active')
    const second = await till.stripe.refunds.create({ payment_intent: intent, amount: 500 })
    expect(await hear('refund.created', { id: second.id, payment_intent: intent })).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
    await till.settle()
    expect(await statusNow()).toBe('canceled')
  })

  it('continues while its payment is disputed, and ends when the dispute is lost', async () => {
    const { id, intent, statusNow } = await subscribe()
    const { id: disputeId } = till.sandbox.openDispute(intent)
    const dispute = { id: disputeId, payment_intent: intent }
    expect(await hear('charge.dispute.created', dispute)).toBe('applied')
    expect(till.order(id).status).toBe('on-hold')
    expect(await statusNow()).toBe('active')
    till.sandbox.decideDispute(disputeId, 'lost')
    expect(await hear('charge.dispute.closed', dispute)).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
    await till.settle()
    expect(await statusNow()).toBe('canceled')
  })
})
