import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { paymentChecks } from '../../../src/operations/diagnosis/payment-checks.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { receiveWebhook } from '../../../src/shop/payments/webhook.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { eventOf, openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
})
beforeEach(() => {
  till.sandbox.clearFaults()
  till.logged.length = 0
})
afterAll(() => till.close())

const health = async () => paymentChecks.find(({ name }) => name === 'payment warnings')?.run(till.shop.app)
const inbox = () =>
  till.shop.app.db.sqlite
    .prepare<[], { id: string; outcome: string }>('SELECT event_id AS id, outcome FROM webhook_inbox')
    .all()

/** A paid page whose webhook never came. */
async function paidUnnoticed() {
  till.loseWebhooks()
  const opened = await till.redirect()
  await till.sandbox.payCheckout(opened.sessionId)
  till.sandbox.clearFaults()
  expect(till.order(opened.id).status).toBe('pending')
  const session = await till.stripe.checkout.sessions.retrieve(opened.sessionId)
  return { ...opened, event: eventOf('checkout.session.completed', session) }
}

describe('the signature', () => {
  it('is accepted up to five minutes before and after its timestamp', async () => {
    for (const atMs of [till.clock.now() - 290_000, till.clock.now() + 300_000]) {
      const { id, event } = await paidUnnoticed()
      expect(await till.webhook(event, { atMs })).toMatchObject({ status: 200, data: { received: true } })
      expect(till.order(id).status).toBe('processing')
      expect(historyOf(till.shop.app.db, id).at(-1)).toMatchObject({ to: 'processing', by: 'webhook' })
    }
  })

  it('is refused when it is missing, wrong, of another secret, old or ahead, and changes nothing', async () => {
    const { id, event } = await paidUnnoticed()
    const now = till.clock.now()
    const at = Math.floor(now / 1000)
    const proofAt = (time: number) =>
      createHmac('sha256', till.shop.app.cards?.webhookSecret ?? '')
        .update(`${time}.${JSON.stringify(event)}`)
        .digest('hex')
    const good = proofAt(at)
    const bad = [
      { header: '' },
      { header: 't=,v1=' },
      { header: `t=${at},v1=${'0'.repeat(64)}` },
      { header: `t=${at},t=${at - 1},v1=${good}` },
      { header: `t=${at - 1},t=${at},v1=${good}` },
      { header: `v1=${good}` },
      { header: `t=${at + 400}e-9,v1=${proofAt(at + 400)}` },
      { secret: 'whsec_another' },
      { atMs: now - 310_000 },
      { atMs: now + 310_000 }
    ]
    for (const sign of bad) {
      const { status, error } = await till.webhook(event, sign)
      expect({ sign, status, code: error?.code }).toEqual({ sign, status: 400, code: 'WEBHOOK_SIGNATURE_INVALID' })
    }
    expect(till.order(id).status).toBe('pending')
    expect(inbox().map(({ id: eventId }) => eventId)).not.toContain(event.id)
    await expect(receiveWebhook(till.shop.app, JSON.stringify(event), null)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE_INVALID'
    })
  })

  it('is not checked before the secret is set', async () => {
    const { app } = till.shop
    const { cards } = app
    if (cards === null) throw new Error('this shop takes no cards')
    const shop = { ...app, cards: { ...cards, webhookSecret: undefined } }
    await expect(receiveWebhook(shop, '{}', 't=1,v1=2')).rejects.toMatchObject({
      code: 'CHECKOUT_GATEWAY_NOT_CONFIGURED'
    })
  })
})

describe('an event', () => {
  it('is applied once, however often and however many at the same time it is delivered', async () => {
    const { id, event } = await paidUnnoticed()
    const answers = await Promise.all(Array.from({ length: 8 }, () => till.webhook(event)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(inbox().filter((row) => row.id === event.id)).toHaveLength(1)
    const moves = till.shop.app.db.sqlite.prepare('SELECT 1 FROM order_history WHERE order_id = ?').all(id)
    expect(moves).toHaveLength(2)
  })

  it("applies the object's current state at the gateway, not the copy that it contains", async () => {
    till.loseWebhooks()
    const { id, sessionId } = await till.redirect()
    const session = await till.stripe.checkout.sessions.retrieve(sessionId)
    await till.webhook(
      eventOf('checkout.session.completed', { ...session, status: 'complete', payment_status: 'paid' })
    )
    expect(till.order(id).status).toBe('pending')
  })

  it('does not fail a payment between its two steps', async () => {
    const { data } = await till.handOff('ctoken_visa')
    await till.deliver()
    const moves = till.shop.app.db.sqlite
      .prepare<[number], { to: string }>('SELECT to_status AS "to" FROM order_history WHERE order_id = ? ORDER BY id')
      .all(Number(data.orderId))
    expect(moves.map(({ to }) => to)).toEqual(['pending', 'processing'])
  })

  it('changes nothing when it arrives after the payment', async () => {
    const { id, event, sessionId } = await paidUnnoticed()
    await till.webhook(event)
    await till.webhook(eventOf('checkout.session.expired', { id: sessionId }))
    expect(till.order(id).status).toBe('processing')
    expect(till.attempt(id)).toMatchObject({ outcome: 'paid', gatewayStatus: 'paid' })
  })

  it.each([
    ['of an unknown type', eventOf('radar.early_fraud_warning.created', { id: 'issfr_1' })],
    ['without an object', eventOf('v1.billing.meter.error_report_triggered', {}, { data: undefined })],
    [
      'of the thin kind',
      {
        object: 'v2.core.event',
        id: 'evt_thin_1',
        type: 'v2.core.account.updated',
        livemode: false,
        created: '2026-01-15T12:00:00.000Z',
        related_object: { id: 'acct_1', type: 'v2.core.account', url: '/v2/core/accounts/acct_1' }
      }
    ],
    [
      'of the thin kind without an object',
      {
        object: 'v2.core.event',
        id: 'evt_thin_2',
        type: 'v1.billing.meter.no_meter_found',
        created: '2026-01-15T12:00:00Z',
        context: null
      }
    ],
    [
      'about a payment of other software',
      eventOf('payment_intent.succeeded', { id: 'pi_somebody_else', metadata: {} })
    ],
    [
      'about a refund of a payment that the gateway does not know',
      eventOf('refund.created', { id: 're_1', payment_intent: 'pi_gone' })
    ],
    [
      'about a subscription that the gateway does not know',
      eventOf('customer.subscription.updated', { id: 'sub_gone' })
    ],
    ['about an invoice that has no id yet', eventOf('invoice.upcoming', { id: null, parent: null })]
  ])('%s is accepted and ignored', async (_what, event) => {
    expect((await till.webhook(event)).status).toBe(200)
    expect(inbox().find(({ id }) => id === event.id)?.outcome).toBe('ignored')
  })

  it.each([
    ['null', null],
    ['empty', {}],
    ['without a valid id', { ...eventOf('refund.created', {}), id: null }],
    ['with an id that is half a character', { ...eventOf('refund.created', {}), id: '\uD800' }],
    ['without a valid type', { ...eventOf('refund.created', {}), type: 7 }],
    ['without a time', { ...eventOf('refund.created', {}), created: undefined }],
    ['with an object that is a list', eventOf('refund.created', [])],
    ['with an object whose id is a list', eventOf('payment_intent.succeeded', { id: ['pi_1'] })]
  ])('is rejected although it is signed when it is %s', async (_what, event) => {
    const before = inbox().length
    const { status, error } = await till.webhook(event as object)
    expect([status, error.code]).toEqual([422, 'VALIDATION_FAILED'])
    expect(inbox()).toHaveLength(before)
  })

  it('gets status 500 after an internal error and stays out of the inbox, so that it is delivered again', async () => {
    const { id, event } = await paidUnnoticed()
    till.sandbox.addFault({ target: 'checkout.sessions.retrieve', fault: '500', times: 3 })
    const { status, error } = await till.webhook(event)
    expect([status, error.code]).toEqual([500, 'INTERNAL_SERVER_ERROR'])
    expect(till.order(id).status).toBe('pending')
    await till.webhook(event)
    expect(till.order(id).status).toBe('processing')
  })
})

describe('a payment that does not match its order', () => {
  const wrongs: [string, string][] = [
    ['another amount', 'UPDATE payment_attempts SET amount_minor = amount_minor + 1 WHERE order_id = ?'],
    ['another currency', "UPDATE payment_attempts SET currency = 'USD' WHERE order_id = ?"],
    ['another mode', 'UPDATE payment_attempts SET livemode = 1 WHERE order_id = ?'],
    ['another token', "UPDATE payment_attempts SET token = 'another' WHERE order_id = ?"]
  ]
  it.each(wrongs)('(%s) leaves the order, with one warning in the log and in health', async (_what, sql) => {
    const { id, event, sessionId } = await paidUnnoticed()
    till.shop.app.db.sqlite.prepare(sql).run(id)
    expect((await till.webhook(event)).status).toBe(200)
    await till.webhook(eventOf('checkout.session.completed', { id: sessionId }))
    expect(till.order(id)).toMatchObject({ status: 'pending', paidAt: null })
    expect(openWarnings(till.shop.app.db).filter(({ orderId }) => orderId === id)).toHaveLength(1)
    expect(till.logged.filter(({ fields }) => fields.kind === 'mismatch')).toMatchObject([
      { fields: { orderId: id, object: sessionId } }
    ])
    expect(await health()).toMatchObject({ status: 'warning', message: expect.stringContaining(sessionId) })
  })

  it('(an event of the other mode) causes a warning and is not applied', async () => {
    const { id, event } = await paidUnnoticed()
    expect((await till.webhook({ ...event, livemode: true })).status).toBe(200)
    expect(till.order(id).status).toBe('pending')
    expect(till.logged).toMatchObject([{ fields: { kind: 'mismatch', object: event.id } }])
  })
})
