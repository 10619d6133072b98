import { describe, expect, it, onTestFinished } from 'vitest'
import { metadataOf } from '../../../src/shop/payments/gateway-state.ts'
import { write } from '../../../src/platform/db/database.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { createAttempt, getAttempt, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { payByToken } from '../../../src/shop/payments/token-handoff.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()

const returnUrl = 'https://site.example/thanks'
const pay = (attempt: AttemptRow, paymentToken = 'pm_card_visa', shop = till.shop.app) =>
  payByToken(shop, attempt, { paymentToken, returnUrl })
const now = ({ id }: AttemptRow) => getAttempt(till.shop.app.db, id)
const intentsOf = ({ token }: AttemptRow) =>
  till.sandbox.ledger().intents.filter(({ metadata }) => metadata.shopstead_attempt === token)
const set = ({ id }: AttemptRow, change: Partial<AttemptRow>) =>
  write(till.shop.app.db, (tx) => updateAttempt(tx, id, change, till.clock.now()))
const cancel = ({ orderId }: AttemptRow) =>
  write(till.shop.app.db, (tx) =>
    moveOrder(tx, orderId, 'cancelled', { by: 'operator', reason: 'test' }, till.clock.now())
  )

/** An attempt of which the gateway has not heard yet. */
async function begin(): Promise<AttemptRow> {
  const { id } = await till.redirect({ body: { customer: {} } })
  const { db } = till.shop.app
  db.sqlite.prepare('DELETE FROM payment_attempts WHERE order_id = ?').run(id)
  const how = { gateway: 'sandbox', kind: 'payment_intent', livemode: false } as const
  return write(db, (tx) => createAttempt(tx, till.order(id), how, till.clock.now()))
}

/** `meanwhile` runs while the gateway executes the step. */
async function payWhile(
  attempt: AttemptRow,
  step: 'create' | 'confirm',
  meanwhile: () => unknown
): Promise<PromiseSettledResult<unknown> | undefined> {
  const arrived = till.slowDown(`payment_intents.${step}`)
  const paying = Promise.allSettled([pay(attempt)])
  await arrived
  meanwhile()
  const [settled] = await paying
  return settled
}

describe('the intent of an order', () => {
  it("has the order's amount and its metadata", async () => {
    const attempt = await begin()
    expect(await pay(attempt)).toMatchObject({ verdict: 'paid' })
    expect(intentsOf(attempt)).toMatchObject([
      {
        amount: 1250,
        currency: 'eur',
        description: `Order ${attempt.orderId}`,
        metadata: metadataOf(till.shop.app, attempt),
        status: 'succeeded'
      }
    ])
    expect(now(attempt)).toMatchObject({
      objectId: intentsOf(attempt)[0]?.id,
      paymentIntentId: intentsOf(attempt)[0]?.id,
      outcome: 'paid'
    })
  })

  it.each(['pm_card_visa', 'tok_visa', 'ctoken_visa'])(
    'is paid once by %s, however often it is requested',
    async (token) => {
      const attempt = await begin()
      const first = await pay(attempt, token)
      expect(await pay(attempt, token)).toMatchObject({ verdict: 'paid', objectId: first.objectId })
      // As a crash between the charge and its answer leaves it.
      const { createKey, confirmKey } = attempt
      set(attempt, { objectId: null, paymentIntentId: null, outcome: null, createKey, confirmKey })
      const { sqlite } = till.shop.app.db
      sqlite.prepare("UPDATE orders SET status = 'pending', paid_at = NULL WHERE id = ?").run(attempt.orderId)
      expect(await pay(attempt, token)).toMatchObject({ verdict: 'paid', objectId: first.objectId })
      expect(intentsOf(attempt)).toHaveLength(1)
    }
  )

  it('is stored before anything can be charged', async () => {
    const attempt = await begin()
    const seen: (string | null)[] = []
    await payWhile(attempt, 'confirm', () => seen.push(now(attempt).objectId, now(attempt).gatewayStatus))
    expect(seen).toEqual([intentsOf(attempt)[0]?.id, 'requires_confirmation'])
  })

  it("provides the card's email if the order has none", async () => {
    const { id } = await till.stripe.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_visa' },
      billing_details: { email: 'card@example.com' }
    })
    const attempt = await begin()
    await pay(attempt, id)
    expect(till.order(attempt.orderId).email).toBe('card@example.com')
  })
})

describe('a payment that was ended', () => {
  it('does not start when it ended before its intent was created', async () => {
    const attempt = await begin()
    set(attempt, { outcome: 'abandoned' })
    await expect(pay(attempt)).rejects.toMatchObject({
      code: 'CHECKOUT_FAILED',
      status: 502,
      details: { step: 'create_intent' }
    })
    expect(intentsOf(attempt)).toEqual([])
  })

  it.each([
    ['when its order was cancelled', cancel],
    ['when its attempt was abandoned', (attempt: AttemptRow) => set(attempt, { outcome: 'abandoned' })]
  ])('is not confirmed %s while its intent was created', async (_how, giveUp) => {
    const attempt = await begin()
    expect(await payWhile(attempt, 'create', () => giveUp(attempt))).toMatchObject({
      reason: { code: 'CHECKOUT_FAILED', status: 502, details: { step: 'confirm_intent' } }
    })
    expect(intentsOf(attempt)).toMatchObject([{ status: 'requires_confirmation' }])
    expect(now(attempt).objectId).toBeNull()
  })

  it('reports that nothing was charged when it was cancelled at the gateway', async () => {
    const attempt = await begin()
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'html' })
    await expect(pay(attempt)).rejects.toMatchObject({ status: 504 })
    await till.stripe.paymentIntents.cancel(now(attempt).objectId ?? '')
    await expect(pay(attempt)).rejects.toMatchObject({ status: 502, details: { step: 'confirm_intent' } })
    expect(till.order(attempt.orderId).status).toBe('failed')
  })

  it("reports the bank's reason when it is requested again after a decline", async () => {
    const attempt = await begin()
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'html', moment: 'after' })
    await expect(pay(attempt, 'pm_card_visa_chargeDeclined')).rejects.toMatchObject({ status: 504 })
    await expect(pay(attempt, 'pm_card_visa_chargeDeclined')).rejects.toMatchObject({
      status: 402,
      details: { gatewayError: { code: 'card_declined' } }
    })
    expect(till.order(attempt.orderId).status).toBe('failed')
  })
})

describe('a payment whose response was lost', () => {
  it('continues where it stopped, and is a late payment if its order was cancelled', async () => {
    const attempt = await begin()
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'html', moment: 'after' })
    await expect(pay(attempt)).rejects.toMatchObject({ status: 504 })
    expect(now(attempt)).toMatchObject({ gatewayStatus: 'unknown', outcome: null })
    cancel(attempt)
    expect(await pay(attempt)).toMatchObject({ verdict: 'paid' })
    expect(till.order(attempt.orderId).status).toBe('processing')
  })

  it('belongs to the request that continues it', async () => {
    const attempt = await begin()
    set(attempt, { gatewayStatus: 'unknown' })
    till.clock.advance(1_000)
    const seen: unknown[] = []
    await payWhile(attempt, 'create', () => seen.push(now(attempt).gatewayStatus, now(attempt).updatedAt))
    expect(seen).toEqual([null, till.clock.now()])
  })
})

describe('an outcome that cannot be saved', () => {
  const errors: unknown[] = []
  const shopThatTells = () => {
    const error = (message: string, fields: unknown) => void errors.push({ message, fields })
    return { ...till.shop.app, log: { ...till.shop.app.log, error } }
  }

  it('is reported as unknown when the disk is full, because the buyer might pay twice', async () => {
    const attempt = await begin()
    const { sqlite } = till.shop.app.db
    const arrived = till.slowDown('payment_intents.confirm')
    const paying = Promise.allSettled([pay(attempt, 'pm_card_visa', shopThatTells())])
    await arrived
    sqlite.pragma('query_only = 1')
    onTestFinished(() => void sqlite.pragma('query_only = 0'))
    const [settled] = await paying
    expect(settled).toMatchObject({
      reason: { code: 'CHECKOUT_FAILED', status: 504, details: { step: 'confirm_intent' } }
    })
    expect(errors).toEqual([
      { message: 'an outcome could not be saved', fields: { orderId: attempt.orderId, error: expect.anything() } }
    ])
    expect(intentsOf(attempt)).toMatchObject([{ status: 'succeeded' }])
  })

  it('is thrown as it is when it is a bug', async () => {
    const attempt = await begin()
    const { sqlite } = till.shop.app.db
    sqlite.exec(
      `CREATE TEMP TRIGGER refuse BEFORE UPDATE OF paid_at ON orders BEGIN SELECT raise(ABORT, 'refused'); END`
    )
    onTestFinished(() => void sqlite.exec('DROP TRIGGER IF EXISTS refuse'))
    await expect(pay(attempt)).rejects.toThrow('refused')
  })
})
