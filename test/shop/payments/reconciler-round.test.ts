import { eq, isNull } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { applyEvent } from '../../../src/shop/payments/webhook.ts'
import { readEvent } from '../../../src/shop/payments/gateway-state.ts'
import { createAttempt } from '../../../src/shop/payments/attempts.ts'
import { pageUrls } from '../../../src/shop/payments/gateway-page.ts'
import { reconcile } from '../../../src/shop/payments/reconcile.ts'
import type { ReconcileOptions } from '../../../src/shop/payments/reconcile.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { paymentAttempts, refunds } from '../../../src/shop/payments/schema.ts'
import { eventOf, openQuietTill } from './till.ts'
import { metadataOf } from '../../../src/shop/payments/gateway-state.ts'
import { until } from '../../support/until.ts'

const till = await openQuietTill()
beforeEach(() => {
  const { orm } = till.shop.app.db
  orm.update(paymentAttempts).set({ outcome: 'abandoned' }).where(isNull(paymentAttempts.outcome)).run()
  orm.update(refunds).set({ state: 'done' }).run()
  // What happened before is not listed any more.
  till.clock.advance(60 * 60_000)
})

const round = (underWay: ReconcileOptions['underWay'], shop = till.shop.app, more: Partial<ReconcileOptions> = {}) =>
  reconcile(shop, {
    ...more,
    ...(underWay === undefined ? {} : { underWay }),
    events: { since: till.clock.now() }
  })
/** What happened so far is not in the round's list of events. */
const noEventsSince = () => till.clock.advance(11 * 60_000)
const nothing = { attempts: 0, settled: 0, refunds: 0, failed: 0 }
const change = (orderId: number, set: Partial<AttemptRow>) =>
  void till.shop.app.db.orm
    .update(paymentAttempts)
    .set({ updatedAt: till.clock.now(), ...set })
    .where(eq(paymentAttempts.orderId, orderId))
    .run()
const changeOrder = (id: number, set: Partial<typeof orders.$inferInsert>) =>
  void till.shop.app.db.orm.update(orders).set(set).where(eq(orders.id, id)).run()
const pageOf = async (sessionId: string) => (await till.stripe.checkout.sessions.retrieve(sessionId)).status
const lastMove = (id: number) => historyOf(till.shop.app.db, id).at(-1)

/** An order with a second attempt, of which the gateway has not heard yet. */
async function unheardOf(kind: AttemptRow['kind'] = 'checkout_session'): Promise<AttemptRow> {
  const { id } = await till.redirect()
  till.shop.app.db.orm.delete(paymentAttempts).where(eq(paymentAttempts.orderId, id)).run()
  const how = { gateway: 'sandbox', kind, livemode: false } as const
  return write(till.shop.app.db, (tx) => createAttempt(tx, till.order(id), how, till.clock.now()))
}

/** A refund of a paid order that was written down and never asked for. */
async function askedRefund(): Promise<number> {
  const { data } = await till.handOff('pm_card_visa')
  const orderId = Number(data.orderId)
  const at = till.clock.now()
  const facts = { orderId, attemptId: till.attempt(orderId).id, amountMinor: 1250, currency: 'EUR' }
  till.shop.app.db.orm
    .insert(refunds)
    .values({
      ...facts,
      gatewayKey: `refund-${orderId}`,
      state: 'requested',
      by: 'operator',
      reason: 'refunded',
      createdAt: at,
      updatedAt: at
    })
    .run()
  return orderId
}

describe('a round of the reconciler', () => {
  it('reports zeros when there is nothing to do', async () => {
    expect(await round('leave')).toMatchObject(nothing)
  })

  it('does nothing when no gateway is configured', async () => {
    await till.redirect()
    const { app } = till.shop
    if (app.cards === null) throw new Error('this shop takes no cards')
    expect(await round('take', { ...app, cards: null })).toEqual({ ...nothing, events: 0 })
    expect(await round('take', { ...app, cards: { ...app.cards, client: undefined } })).toEqual({
      ...nothing,
      events: 0
    })
  })

  it('counts the attempts that it checked and settled, and records itself as the actor', async () => {
    const open = await till.redirect()
    const paid = await till.redirect()
    await till.sandbox.payCheckout(paid.sessionId, { waitMs: 0 })
    noEventsSince()
    expect(await round('leave')).toMatchObject({ attempts: 2, settled: 1, failed: 0 })
    expect(lastMove(paid.id)).toMatchObject({ to: 'processing', by: 'reconciler' })
    expect(till.attempt(open.id).outcome).toBeNull()
  })

  it('leaves the attempts of another gateway', async () => {
    const { id } = await till.redirect()
    change(id, { gateway: 'stripe' })
    expect(await round('take')).toMatchObject(nothing)
  })

  it('finishes a requested refund', async () => {
    const id = await askedRefund()
    expect(await round('take')).toMatchObject({ refunds: 1, failed: 0 })
    expect(till.order(id).status).toBe('refunded')
  })

  it('leaves a refund that may just be in progress', async () => {
    await askedRefund()
    expect(await round('leave')).toMatchObject({ refunds: 0 })
    till.clock.advance(24_999)
    expect(await round('wait')).toMatchObject({ refunds: 0 })
    till.clock.advance(1)
    expect(await round('leave')).toMatchObject({ refunds: 1 })
  })

  it('reports which work failed, and does the rest', async () => {
    const { id } = await till.redirect()
    till.sandbox.addFault({ target: 'checkout.sessions.retrieve', fault: 'html', times: 3 })
    const refunded = await askedRefund()
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 0, refunds: 1, failed: 1 })
    expect(till.order(refunded).status).toBe('refunded')
    expect(till.logged).toMatchObject([
      { message: 'could not be reconciled', fields: { what: `order ${id}`, error: expect.anything() } }
    ])
  })

  it.each([
    ['refunds.list', async () => `refund of order ${await askedRefund()}`],
    ['events.list', async () => 'events'],
    ['subscriptions.retrieve', async () => unwantedSubscription()]
  ])('reports that %s failed', async (target, begin) => {
    const what = await begin()
    noEventsSince()
    till.sandbox.addFault({ target, fault: 'html' })
    expect(await round('take')).toMatchObject({ failed: 1 })
    expect(till.logged).toMatchObject([{ fields: { what } }])
  })

  it('counts each event that could not be applied', async () => {
    const { data } = await till.handOff('pm_card_visa')
    await till.stripe.refunds.create({ payment_intent: till.attempt(Number(data.orderId)).objectId ?? '' })
    till.sandbox.addFault({ target: 'refunds.list', fault: '402', times: -1 })
    const { failed } = await round('leave')
    expect(failed).toBeGreaterThan(0)
    expect(till.logged.filter(({ message }) => message.includes('event'))).toHaveLength(failed)
  })

  it('ends subscriptions at the gateway that have ended in the shop', async () => {
    await unwantedSubscription()
    expect(await round('leave')).toMatchObject({ failed: 0 })
    expect(till.sandbox.ledger().subscriptions.map(({ status }) => status)).not.toContain('active')
  })
})

async function unwantedSubscription(): Promise<string> {
  const visitor = till.shop.visitor()
  await visitor.register({ email: `ada.${till.clock.now()}@example.com` })
  const { id, sessionId } = await till.redirect({ slug: 'club', visitor })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  const event = readEvent(eventOf('checkout.session.completed', { id: sessionId }))
  await applyEvent(till.shop.app, till.stripe, event, 'webhook')
  till.shop.app.db.orm
    .update(subscriptions)
    .set({ cancelledAt: till.clock.now() })
    .where(eq(subscriptions.orderId, id))
    .run()
  return 'subscriptions'
}

describe('an attempt that a checkout may still be working on', () => {
  const ofIntent = { kind: 'payment_intent' } as const
  it.each<[string, Partial<AttemptRow>, number, number]>([
    ['a page that is being opened', { objectId: null, gatewayStatus: null }, 0, 0],
    ['a page whose answer was lost', { objectId: null, gatewayStatus: 'unknown' }, 0, 1],
    ['a page that is open', { gatewayStatus: null }, 0, 1],
    ['an intent that was just created', { ...ofIntent, gatewayStatus: null }, 0, 0],
    ['an intent without a card', { ...ofIntent, gatewayStatus: 'requires_payment_method' }, 0, 0],
    ['an intent that is about to be confirmed', { ...ofIntent, gatewayStatus: 'requires_confirmation' }, 0, 0],
    ['an intent that the buyer must authenticate', { ...ofIntent, gatewayStatus: 'requires_action' }, 0, 1],
    ['an intent that changed less than 25 seconds ago', { ...ofIntent, gatewayStatus: null }, 24_999, 0],
    ['an intent that changed 25 seconds ago', { ...ofIntent, gatewayStatus: null }, 25_000, 1],
    ['an intent with a time in the future', { ...ofIntent, gatewayStatus: null }, -25_000, 1]
  ])('%s: is left to the checkout if that may still be running', async (_what, attempt, agoMs, attempts) => {
    const { id } = await till.redirect()
    change(id, { ...attempt, updatedAt: till.clock.now() - agoMs })
    expect((await round('leave')).attempts).toBe(attempts)
    change(id, { ...attempt, updatedAt: till.clock.now() - agoMs, outcome: null })
    expect((await round(undefined)).attempts).toBe(attempts)
    change(id, { ...attempt, updatedAt: till.clock.now() - agoMs, outcome: null })
    expect((await round('take')).attempts).toBe(1)
  })

  it('is left when it was created after the shop opened', async () => {
    const { orderId } = await unheardOf('payment_intent')
    const refunded = await askedRefund()
    const takeSince = (openSince: number) => round('take', till.shop.app, { openSince })
    expect(await takeSince(till.clock.now())).toMatchObject({ attempts: 0, settled: 0, refunds: 0 })
    expect(await takeSince(till.clock.now() + 1)).toMatchObject({ attempts: 1, settled: 1, refunds: 1 })
    expect(till.order(orderId).status).toBe('failed')
    expect(till.order(refunded).status).toBe('refunded')
  })

  it('is settled when its time lies in the future', async () => {
    const { orderId } = await unheardOf('payment_intent')
    change(orderId, { updatedAt: till.clock.now() + 1 })
    expect(await round('take', till.shop.app, { openSince: till.clock.now() })).toMatchObject({ settled: 1 })
  })

  it('is waited for with underWay "wait", for as long as a checkout can run', async () => {
    const { orderId } = await unheardOf()
    let isOver = false
    let looks = 0
    const clock = { now: () => (looks += 1) && till.clock.now() }
    const waiting = round('wait', { ...till.shop.app, clock }).finally(() => void (isOver = true))
    const before = looks
    await until('a second look', () => isOver || looks > before)
    expect(isOver).toBe(false)
    change(orderId, { outcome: 'abandoned' })
    expect((await waiting).attempts).toBe(0)
  })

  it('is not waited for at another gateway', async () => {
    const { orderId } = await unheardOf()
    change(orderId, { gateway: 'stripe' })
    const started = performance.now()
    expect((await round('wait')).attempts).toBe(0)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('an attempt that the gateway does not know', () => {
  it('is requested again with the URLs of its order', async () => {
    const attempt = await unheardOf()
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 0, failed: 0 })
    const { objectId } = till.attempt(attempt.orderId)
    const { successUrl, cancelUrl } = pageUrls(till.shop.app, till.order(attempt.orderId))
    expect(await till.stripe.checkout.sessions.retrieve(objectId ?? '')).toMatchObject({
      success_url: successUrl,
      cancel_url: cancelUrl,
      status: 'open'
    })
  })

  it('fails permanently when its page is refused', async () => {
    const { orderId } = await unheardOf()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: '402', times: 3 })
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 1, failed: 0 })
    expect(lastMove(orderId)).toMatchObject({ to: 'failed', by: 'reconciler', reason: 'the payment page was refused' })
  })

  it.each(['409', '429', 'html'] as const)('stays open when the response is %s', async (fault) => {
    const { orderId } = await unheardOf()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault, times: 4 })
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 0, failed: 1 })
    expect(till.order(orderId).status).toBe('pending')
  })

  it('fails permanently as an intent, because only its checkout can confirm it', async () => {
    const { orderId } = await unheardOf('payment_intent')
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 1, failed: 0 })
    expect(till.attempt(orderId)).toMatchObject({ outcome: 'failed', objectId: null })
    expect(lastMove(orderId)).toMatchObject({
      to: 'failed',
      by: 'reconciler',
      reason: 'the payment was never confirmed'
    })
  })
})

describe('an open payment', () => {
  it.each([
    ['stays open during its hold', () => ({ holdEndsAt: till.clock.now() + 1 }), 'open'],
    ['stays open without a hold', () => ({ holdEndsAt: null }), 'open'],
    ['expires when its hold is over', () => ({ holdEndsAt: till.clock.now() }), 'expired'],
    ['expires when its order is cancelled', () => ({ status: 'cancelled' as const }), 'expired']
  ])('on a page %s', async (_when, set, status) => {
    const { id, sessionId } = await till.redirect()
    changeOrder(id, set())
    await round('leave')
    expect(await pageOf(sessionId)).toBe(status)
  })

  it('stays open at the bank while its order is pending, and is called off when the order is cancelled', async () => {
    const { data } = await till.handOff('pm_card_authenticationRequired')
    const id = Number(data.orderId)
    const statusOf = async () => (await till.stripe.paymentIntents.retrieve(till.attempt(id).objectId ?? '')).status
    await round('take')
    expect(await statusOf()).toBe('requires_action')
    changeOrder(id, { status: 'cancelled' })
    await round('take')
    expect(await statusOf()).toBe('canceled')
  })

  it('is called off when its intent was never confirmed', async () => {
    const attempt = await unheardOf('payment_intent')
    const intent = await till.stripe.paymentIntents.create({
      amount: attempt.amountMinor,
      currency: 'eur',
      payment_method: 'pm_card_visa',
      metadata: metadataOf(till.shop.app, attempt)
    })
    change(attempt.orderId, { objectId: intent.id })
    await round('take')
    expect((await till.stripe.paymentIntents.retrieve(intent.id)).status).toBe('canceled')
    expect(till.order(attempt.orderId).status).toBe('failed')
  })

  it('is left to the bank while the bank decides', async () => {
    const { data } = await till.handOff('pm_sandbox_processing')
    const id = Number(data.orderId)
    changeOrder(id, { status: 'cancelled' })
    expect(await round('take')).toMatchObject({ attempts: 1, settled: 0, failed: 0 })
    expect((await till.stripe.paymentIntents.retrieve(till.attempt(id).objectId ?? '')).status).toBe('processing')
  })
})
