import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { applyEvent } from '../../../src/shop/payments/apply-event.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { lookUp } from '../../../src/shop/payments/look-up.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { eventOf, openQuietTill } from './till.ts'

const till = await openQuietTill()

const hear = (type: string, object: object, fields: object = {}) =>
  applyEvent(till.shop.app, till.stripe, eventOf(type, object, fields) as unknown as Stripe.Event, 'webhook')

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

describe('an event that is quicker than the answer which would have told its object', () => {
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

  it('is about a refund of an intent: the payment is recorded first', async () => {
    const { id, intent } = await unheard()
    await till.stripe.refunds.create({ payment_intent: intent })
    expect(await hear('refund.created', { id: 're_1', payment_intent: intent })).toBe('applied')
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual([
      'pending',
      'processing',
      'processing',
      'refunded'
    ])
  })

  it('is about a refund of a page that is not known yet: it has to come again', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    forget(id)
    await till.stripe.refunds.create({ payment_intent: idOf(intent) ?? '' })
    await expect(hear('refund.created', { id: 're_1', payment_intent: intent })).rejects.toThrow('not been settled')
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

describe("an event of a subscription's first payment, which names nothing of ours", () => {
  it('is about a refund: the payment is recorded first, whichever pages are open', async () => {
    const [gone, before] = [await till.redirect({ slug: 'club' }), await unheardMonth()]
    const { sqlite } = till.shop.app.db
    sqlite.prepare("UPDATE payment_attempts SET object_id = 'cs_gone' WHERE order_id = ?").run(gone.id)
    const { id, intent, subscription } = await unheardMonth()
    await till.stripe.refunds.create({ payment_intent: intent })
    expect(await hear('refund.created', { id: 're_1', payment_intent: intent })).toBe('applied')
    expect(historyOf(till.shop.app.db, id).map(({ to }) => to)).toEqual(['pending', 'completed', 'refunded'])
    expect((await till.stripe.subscriptions.retrieve(subscription)).status).toBe('canceled')
    expect([gone, before].map((other) => till.order(other.id).status)).toEqual(['pending', 'pending'])
  })

  it('is let pass when it only costs the same', async () => {
    const { id } = await unheardMonth()
    const { id: theirs } = await till.stripe.paymentIntents.create({
      amount: 800,
      currency: 'eur',
      confirm: true,
      payment_method: 'pm_card_visa',
      return_url: 'https://site.example'
    })
    await till.stripe.refunds.create({ payment_intent: theirs })
    expect(await hear('refund.created', { id: 're_1', payment_intent: theirs })).toBe('ignored')
    expect(till.order(id).status).toBe('pending')
  })

  it('is applied when the payment is recorded while it is looked for', async () => {
    const { id, intent } = await unheardMonth()
    await till.stripe.refunds.create({ payment_intent: intent })
    const { checkout, refunds, subscriptions, paymentIntents } = till.stripe
    const retrieve = async (asked: string) => {
      await hear('checkout.session.completed', { id: till.attempt(id).objectId })
      return paymentIntents.retrieve(asked)
    }
    const slow = { checkout, refunds, subscriptions, paymentIntents: { retrieve } } as unknown as Stripe
    const event = eventOf('refund.created', { id: 're_1', payment_intent: intent }) as unknown as Stripe.Event
    expect(await applyEvent(till.shop.app, slow, event, 'webhook')).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
  })
})

describe('an event of a payment that was made elsewhere', () => {
  it.each([
    ['its metadata names an order', { id: 'cs_elsewhere_1', metadata: { order_id: '1' } }],
    ['its metadata names an attempt', { id: 'cs_elsewhere_2', metadata: { attempt: 'guessed' } }],
    ['its reference names an order', { id: 'cs_elsewhere_3', client_reference_id: '1' }]
  ])('is warned of when %s', async (_how, object) => {
    const { id } = object
    expect(await hear('checkout.session.completed', object)).toBe('ignored')
    expect(warnings().filter(({ objectId }) => objectId === id)).toMatchObject([
      {
        orderId: null,
        kind: 'foreign_object',
        message: `${id} names an order, but was not started by this shop: nothing was done.`
      }
    ])
  })

  it.each([
    ['names nothing', { id: 'pi_elsewhere', metadata: {}, client_reference_id: null }],
    ['names an order but has no id', { id: null, metadata: { order_id: '1' } }]
  ])('is let pass when it %s', async (_what, object) => {
    const before = warnings().length
    expect(await hear('payment_intent.succeeded', object)).toBe('ignored')
    expect(warnings()).toHaveLength(before)
  })
})

describe('an event that is not ours to apply', () => {
  it('is one whose type only sounds like ours', async () => {
    const { id, intent, attempt } = await unheard()
    const object = { id: intent, metadata: about(attempt), payment_intent: intent }
    for (const type of ['treasury.payment_intent.made', 'payment_intents', 'treasury.refund.made', 'xcharge.dispute.'])
      expect([type, await hear(type, object)]).toEqual([type, 'ignored'])
    expect(till.order(id).status).toBe('pending')
    expect(till.attempt(id).objectId).toBeNull()
  })

  it('is one of the other mode: a warning says which', async () => {
    const { id, intent, attempt } = await unheard()
    const object = { id: intent, metadata: about(attempt) }
    expect(await hear('payment_intent.succeeded', object, { livemode: true, id: 'evt_live' })).toBe('ignored')
    expect(till.order(id).status).toBe('pending')
    expect(warnings().find(({ objectId }) => objectId === 'evt_live')).toMatchObject({
      orderId: null,
      kind: 'mismatch',
      message: 'The event payment_intent.succeeded (evt_live) is of live mode, this shop is not: nothing was done.'
    })
  })

  it('is a refund or a dispute without a payment, or of a payment that no attempt of ours made', async () => {
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

  it('is a dispute without an id', async () => {
    const { data } = await till.handOff('pm_card_visa')
    const { objectId } = till.attempt(Number(data.orderId))
    expect(await hear('charge.dispute.created', { id: null, payment_intent: objectId })).toBe('ignored')
  })

  it('is one about a payment that does not fit its order', async () => {
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

  it('goes on when a part of its money goes back, and ends when all of it has', async () => {
    const { id, intent, statusNow } = await subscribe()
    const first = await till.stripe.refunds.create({ payment_intent: intent, amount: 300 })
    expect(await hear('refund.created', { id: first.id, payment_intent: intent })).toBe('applied')
    expect(till.order(id).refundedMinor).toBe(300)
    expect(await statusNow()).toBe('active')
    const second = await till.stripe.refunds.create({ payment_intent: intent, amount: 500 })
    expect(await hear('refund.created', { id: second.id, payment_intent: intent })).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
    expect(await statusNow()).toBe('canceled')
  })

  it('goes on while its payment is disputed, and ends when the dispute is lost', async () => {
    const { id, intent, statusNow } = await subscribe()
    const { id: disputeId } = till.sandbox.openDispute(intent)
    const dispute = { id: disputeId, payment_intent: intent }
    expect(await hear('charge.dispute.created', dispute)).toBe('applied')
    expect(till.order(id).status).toBe('on-hold')
    expect(await statusNow()).toBe('active')
    till.sandbox.decideDispute(disputeId, 'lost')
    expect(await hear('charge.dispute.closed', dispute)).toBe('applied')
    expect(till.order(id).status).toBe('refunded')
    expect(await statusNow()).toBe('canceled')
  })
})
