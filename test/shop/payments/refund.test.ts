import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { refundMetadataOf } from '../../../src/shop/payments/gateway-state.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { readyGateway } from '../../../src/shop/payments/gateway.ts'
import { openRefunds, refundOrder, settleRefund } from '../../../src/shop/payments/refund.ts'
import type { RefundRow } from '../../../src/shop/payments/rows.ts'
import { paymentAttempts, refunds } from '../../../src/shop/payments/schema.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()

const refund = (id: number, amountMinor?: number) => refundOrder(till.shop.app, id, { amountMinor }, 'operator')
const rowsOf = (id: number): RefundRow[] =>
  till.shop.app.db.orm.select().from(refunds).where(eq(refunds.orderId, id)).all()
const refundsAt = (id: number) =>
  till.sandbox.ledger().refunds.filter(({ metadata }) => metadata?.shopstead_order === String(id))
const refuse = (fault: '402' | '429' | '500' | 'html') =>
  void till.sandbox.addFault({ target: 'refunds.create', fault, times: 3 })

async function buy(): Promise<number> {
  const { data } = await till.handOff('pm_card_visa', { quantity: 2 })
  return Number(data.orderId)
}

/** A refund that was written down, of whose answer nothing is known. */
async function asked(id: number, amountMinor: number): Promise<RefundRow> {
  refuse('html')
  await expect(refund(id, amountMinor)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
  till.sandbox.clearFaults()
  const row = rowsOf(id).at(-1)
  if (row === undefined) throw new Error('nothing was written down')
  return row
}

const settle = (row: RefundRow) => settleRefund(till.shop.app, till.stripe, row)

describe('a refund', () => {
  it('is stored and requested under one key', async () => {
    const id = await buy()
    till.clock.advance(1_000)
    expect(await refund(id, 600)).toMatchObject({ id, status: 'processing', refundedMinor: 600 })
    const [made] = refundsAt(id)
    expect(rowsOf(id)).toEqual([
      {
        id: expect.any(Number),
        orderId: id,
        attemptId: till.attempt(id).id,
        orderRefundId: 1,
        amountMinor: 600,
        currency: 'EUR',
        gatewayKey: made?.metadata?.shopstead_refund,
        gatewayRefundId: made?.id,
        state: 'done',
        by: 'operator',
        reason: 'refunded',
        createdAt: till.clock.now(),
        updatedAt: till.clock.now()
      }
    ])
    expect(made).toMatchObject({ amount: 600, payment_intent: till.attempt(id).paymentIntentId })
    expect(made?.metadata?.shopstead_refund).toMatch(/^refund-.{20,}$/)
    expect(await refund(id)).toMatchObject({ status: 'refunded', refundedMinor: 2500 })
    expect(new Set(refundsAt(id).map(({ metadata }) => metadata?.shopstead_refund)).size).toBe(2)
    expect(historyOf(till.shop.app.db, id).at(-1)).toMatchObject({ by: 'operator', reason: 'refunded' })
  })

  it('is recorded by hand for a payment by hand, also in parts', async () => {
    const { id } = await till.redirect()
    const { sqlite } = till.shop.app.db
    sqlite.prepare("UPDATE orders SET status = 'processing', paid_at = 1 WHERE id = ?").run(id)
    expect(await refund(id, 50)).toMatchObject({ status: 'processing', refundedMinor: 50 })
    expect(await refund(id)).toMatchObject({ status: 'refunded', refundedMinor: 1250 })
    expect(historyOf(till.shop.app.db, id).at(-1)).toMatchObject({ by: 'operator', reason: 'refunded by hand' })
    expect([rowsOf(id), refundsAt(id)]).toEqual([[], []])
  })

  it('excludes the amount of another refund in progress', async () => {
    const id = await buy()
    await asked(id, 600)
    await expect(refund(id, 1901)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await refund(id)).toMatchObject({ refundedMinor: 1900 })
    expect(refundsAt(id).map(({ amount }) => amount)).toEqual([1900])
    for (const amount of [undefined, 0, 1]) await expect(refund(id, amount)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('must be positive and at most the paid amount', async () => {
    const id = await buy()
    for (const amount of [0, -1, 0.5, 2501])
      await expect(refund(id, amount)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    expect([rowsOf(id), refundsAt(id)]).toEqual([[], []])
  })

  it("can be requested again when the gateway refused it, and contains the gateway's message", async () => {
    const id = await buy()
    refuse('402')
    await expect(refund(id)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/refused the refund: \S+/)
    })
    expect(rowsOf(id)).toMatchObject([{ state: 'failed' }])
    expect(till.logged).toMatchObject([
      {
        message: 'a refund failed',
        fields: { orderId: id, kind: 'refused', code: expect.stringMatching(/^[a-z_]+$/) }
      }
    ])
    till.sandbox.clearFaults()
    expect(await refund(id)).toMatchObject({ status: 'refunded' })
  })

  it('stays requested while Stripe limits the rate, and is made by the next reconciliation', async () => {
    const id = await buy()
    refuse('429')
    await expect(refund(id)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    expect(rowsOf(id)).toMatchObject([{ state: 'requested' }])
    await till.settle()
    expect(rowsOf(id)).toMatchObject([{ state: 'requested' }])
    till.sandbox.clearFaults()
    till.loseWebhooks()
    await till.settle()
    expect(till.order(id).status).toBe('refunded')
  })

  it('becomes a warning when Stripe refuses it while no operator waits for the answer', async () => {
    const id = await buy()
    refuse('500')
    await expect(refund(id)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    till.sandbox.clearFaults()
    refuse('402')
    await till.settle()
    expect(rowsOf(id)).toMatchObject([{ state: 'failed' }])
    expect(openWarnings(till.shop.app.db)).toMatchObject([
      { orderId: id, kind: 'refund_failed', message: expect.stringContaining('Refund it in another way') }
    ])
  })
})

describe('a refund without an answer from the gateway', () => {
  it('is unknown and not failed while the gateway fails', async () => {
    const id = await buy()
    await asked(id, 600)
    expect(rowsOf(id)).toMatchObject([{ state: 'requested', gatewayRefundId: null }])
    expect(till.logged).toMatchObject([{ fields: { orderId: id, kind: 'unknown' } }])
  })

  it('cannot be requested before the gateway has reported which payment it is for', async () => {
    const id = await buy()
    till.shop.app.db.orm
      .update(paymentAttempts)
      .set({ paymentIntentId: null })
      .where(eq(paymentAttempts.orderId, id))
      .run()
    await expect(refund(id)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect([rowsOf(id), refundsAt(id)]).toEqual([[], []])
    expect(till.logged).toEqual([])
  })

  it('is not stored when the gateway cannot be asked, so that nothing is paid out later', async () => {
    const id = await buy()
    const { app } = till.shop
    const cards = readyGateway(app)
    const keyed = { ...app.config, stripe: { ...app.config.stripe, secretKey: 'sk_test_1' } }
    const shops = [
      { ...app, cards: { ...cards, client: undefined } },
      { ...app, cards: { ...cards, name: 'stripe' as const } },
      { ...app, cards: null, config: keyed }
    ]
    for (const shop of shops)
      await expect(refundOrder(shop, id, { amountMinor: 600 }, 'operator')).rejects.toMatchObject({
        code: 'DEPENDENCY_UNAVAILABLE',
        message: expect.stringMatching(/SHOPSTEAD_PAYMENTS=sandbox\.$/)
      })
    expect(rowsOf(id)).toEqual([])
    expect(await refund(id, 600)).toMatchObject({ refundedMinor: 600 })
    await till.settle()
    expect(refundsAt(id)).toHaveLength(1)
  })

  it('is refused with the name of the missing setting', async () => {
    const id = await buy()
    const { orm } = till.shop.app.db
    orm.update(paymentAttempts).set({ gateway: 'stripe' }).where(eq(paymentAttempts.orderId, id)).run()
    await expect(refund(id)).rejects.toThrow('without SHOPSTEAD_PAYMENTS=stripe and SHOPSTEAD_STRIPE_SECRET_KEY.')
  })

  it('is recorded by hand for a card payment only on request, in a shop without cards and without a key', async () => {
    const id = await buy()
    const left = { ...till.shop.app, cards: null }
    await expect(refundOrder(left, id, {}, 'operator')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(till.order(id)).toMatchObject({ status: 'processing', refundedMinor: 0 })
    const byHand = { byHand: true }
    expect(await refundOrder(left, id, {}, 'operator', byHand)).toMatchObject({ status: 'refunded' })
    expect(historyOf(till.shop.app.db, id).at(-1)).toMatchObject({ by: 'operator', reason: 'refunded by hand' })
    expect([rowsOf(id), refundsAt(id)]).toEqual([[], []])
  })
})

describe('a refund whose outcome is open', () => {
  it('is requested again when the gateway does not know it, and is listed until then', async () => {
    const id = await buy()
    const row = await asked(id, 600)
    expect(openRefunds(till.shop.app.db)).toContainEqual(row)
    await settle(row)
    expect(till.order(id).refundedMinor).toBe(600)
    expect(refundsAt(id)).toMatchObject([{ amount: 600, metadata: { shopstead_refund: row.gatewayKey } }])
    expect(openRefunds(till.shop.app.db).map(({ orderId }) => orderId)).not.toContain(id)
  })

  it('is found by its key among other refunds of the payment', async () => {
    const id = await buy()
    const row = await asked(id, 600)
    const payment = till.attempt(id).objectId ?? ''
    await till.stripe.refunds.create({ payment_intent: payment, amount: 100 })
    await till.stripe.refunds.create({
      payment_intent: payment,
      amount: 600,
      metadata: refundMetadataOf(till.shop.app, { orderId: id, key: row.gatewayKey })
    })
    await settle(row)
    expect(refundsAt(id)).toHaveLength(1)
    expect(till.order(id).refundedMinor).toBe(700)
  })

  it('is requested again beside other refunds of the payment', async () => {
    const id = await buy()
    const row = await asked(id, 600)
    await till.stripe.refunds.create({ payment_intent: till.attempt(id).objectId ?? '', amount: 100 })
    await settle(row)
    expect(refundsAt(id)).toMatchObject([{ amount: 600, metadata: { shopstead_refund: row.gatewayKey } }])
    expect(till.order(id).refundedMinor).toBe(700)
  })

  it('is made once, however many requests run at the same time', async () => {
    const id = await buy()
    const row = await asked(id, 600)
    await Promise.allSettled([settle(row), settle(row), settle(row)])
    expect(refundsAt(id)).toHaveLength(1)
    expect(till.order(id).refundedMinor).toBe(600)
  })

  it("is found by the gateway's id when the gateway has lost the key", async () => {
    const id = await buy()
    const row = await asked(id, 600)
    const { id: name } = await till.stripe.refunds.create({
      payment_intent: till.attempt(id).objectId ?? '',
      amount: 600
    })
    const { orm } = till.shop.app.db
    orm.update(refunds).set({ gatewayRefundId: name }).where(eq(refunds.id, row.id)).run()
    await settle({ ...row, gatewayRefundId: name })
    expect(
      till.sandbox.ledger().refunds.filter(({ payment_intent: paid }) => paid === till.attempt(id).objectId)
    ).toHaveLength(1)
    expect(till.order(id).refundedMinor).toBe(600)
  })

  it('is left when another gateway holds it', async () => {
    const id = await buy()
    const row = await asked(id, 600)
    const { orm } = till.shop.app.db
    orm.update(paymentAttempts).set({ gateway: 'stripe' }).where(eq(paymentAttempts.orderId, id)).run()
    await settle(row)
    expect(refundsAt(id)).toEqual([])
    expect(rowsOf(id)).toEqual([row])
  })
})
