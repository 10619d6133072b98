import { describe, expect, it, onTestFinished } from 'vitest'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { metadataOf } from '../../../src/shop/payments/gateway-state.ts'
import { startDeadline } from '../../../src/shop/payments/gateway.ts'
import {
  afterFailedConfirm,
  afterFailedCreate,
  findIntent,
  nothingCharged,
  settleFailure
} from '../../../src/shop/payments/token-handoff.ts'
import type { HandoffRun } from '../../../src/shop/payments/token-handoff.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()

type Begun = HandoffRun & { orderId: number; intentId: string }

/** An order whose intent has been made and not been confirmed, or has become what `then` makes of it. */
async function begin(then: (intentId: string) => Promise<unknown> = async () => undefined): Promise<Begun> {
  const { data } = await till.handOff('pm_sandbox_processing')
  const orderId = Number(data.orderId)
  const { id: intentId } = await till.stripe.paymentIntents.create({
    amount: 1250,
    currency: 'eur',
    payment_method: 'pm_card_visa',
    metadata: metadataOf(till.shop.app, till.attempt(orderId))
  })
  till.shop.app.db.sqlite
    .prepare(
      'UPDATE payment_attempts SET object_id = ?, payment_intent_id = ?, gateway_status = NULL WHERE order_id = ?'
    )
    .run(intentId, intentId, orderId)
  await then(intentId)
  const run = {
    shop: till.shop.app,
    stripe: till.stripe,
    deadline: startDeadline(),
    attempt: till.attempt(orderId),
    paymentToken: 'pm_sandbox_processing'
  }
  return { ...run, orderId, intentId }
}

const charge = (id: string) => till.stripe.paymentIntents.confirm(id, { return_url: 'https://site.example' })
const decline = (id: string) =>
  till.stripe.paymentIntents.confirm(id, {
    payment_method: 'pm_card_visa_chargeDeclined',
    return_url: 'https://site.example'
  })
const statusAt = async ({ intentId }: Begun) => (await till.stripe.paymentIntents.retrieve(intentId)).status
const nothingAnswers = () => void till.sandbox.addFault({ target: '*', fault: 'html', times: -1 })

const noAnswer = { type: 'StripeConnectionError', message: 'the line broke' }
const brokenAnswer = { type: 'StripeAPIError', rawType: 'api_error', statusCode: 500, requestId: 'req_broken' }
const declined = { rawType: 'card_error', code: 'card_declined', statusCode: 402, requestId: 'req_declined' }
const failed = (status: number, step: string) => ({ code: 'CHECKOUT_FAILED', status, details: { step } })

describe('an intent that could not be created', () => {
  it('charges nothing and fails the order when the gateway failed', async () => {
    const run = await begin()
    expect(await afterFailedCreate(run, brokenAnswer)).toMatchObject(failed(502, 'create_intent'))
    expect(historyOf(run.shop.db, run.orderId).at(-1)).toMatchObject({
      to: 'failed',
      by: 'checkout',
      reason: 'the payment failed: api_error'
    })
    expect(till.logged).toMatchObject([
      {
        fields: {
          orderId: run.orderId,
          step: 'create_intent',
          kind: 'broken',
          code: 'api_error',
          gatewayRequestId: 'req_broken'
        }
      }
    ])
  })

  it('is reported as refused when the gateway refused the card', async () => {
    const run = await begin()
    expect(await afterFailedCreate(run, declined)).toMatchObject(failed(402, 'create_intent'))
    expect(historyOf(run.shop.db, run.orderId).at(-1)?.reason).toBe('the payment failed: card_declined')
  })

  it('leaves the order to the reconciler when the gateway did not answer', async () => {
    const run = await begin()
    till.clock.advance(1_000)
    expect(await afterFailedCreate(run, noAnswer)).toMatchObject(failed(504, 'create_intent'))
    expect(till.order(run.orderId).status).toBe('pending')
    expect(till.attempt(run.orderId)).toMatchObject({
      outcome: null,
      gatewayStatus: 'unknown',
      updatedAt: till.clock.now()
    })
  })
})

describe('a confirmation with an error', () => {
  it('is not called off without a response, because it may still arrive', async () => {
    const run = await begin()
    await expect(afterFailedConfirm(run, noAnswer)).rejects.toMatchObject(failed(504, 'confirm_intent'))
    expect(till.order(run.orderId).status).toBe('pending')
    expect(await statusAt(run)).toBe('requires_confirmation')
  })

  it('is final with a card error that contains the intent, without another call', async () => {
    const run = await begin()
    nothingAnswers()
    const error = { ...declined, payment_intent: { status: 'requires_payment_method' } }
    await expect(afterFailedConfirm(run, error)).rejects.toMatchObject(failed(402, 'confirm_intent'))
    expect(till.order(run.orderId).status).toBe('failed')
  })

  it.each([
    ['contains no intent', declined],
    ['contains an intent with another status', { ...declined, payment_intent: { status: 'requires_confirmation' } }]
  ])('is called off before the buyer gets the failure, with a card error that %s', async (_what, error) => {
    const run = await begin()
    await expect(afterFailedConfirm(run, error)).rejects.toMatchObject(failed(402, 'confirm_intent'))
    expect(await statusAt(run)).toBe('canceled')
    expect(till.order(run.orderId).status).toBe('failed')
  })

  it.each([
    ['a 500', brokenAnswer],
    ['a card error', declined]
  ])('counts as a payment with %s when the charge went through', async (_what, error) => {
    const run = await begin(charge)
    expect(await afterFailedConfirm(run, error)).toMatchObject({ verdict: 'paid', objectId: run.intentId })
    expect(till.logged).toEqual([])
  })

  it('is called off after a 500, so that it can never charge', async () => {
    const run = await begin()
    await expect(afterFailedConfirm(run, brokenAnswer)).rejects.toMatchObject(failed(502, 'confirm_intent'))
    expect(await statusAt(run)).toBe('canceled')
    expect(till.order(run.orderId).status).toBe('failed')
  })

  it('has failed after a 500 when the card was declined', async () => {
    const run = await begin((id) => decline(id).catch(() => undefined))
    till.sandbox.addFault({ target: 'payment_intents.cancel', fault: 'html', times: -1 })
    await expect(afterFailedConfirm(run, brokenAnswer)).rejects.toMatchObject(failed(502, 'confirm_intent'))
    expect(till.order(run.orderId).status).toBe('failed')
  })

  it('is unknown with its first error when the intent cannot be read', async () => {
    const run = await begin()
    nothingAnswers()
    await expect(afterFailedConfirm(run, brokenAnswer)).rejects.toMatchObject({
      status: 504,
      details: { step: 'confirm_intent', gatewayRequestId: 'req_broken' }
    })
    expect(till.order(run.orderId).status).toBe('pending')
    expect(till.attempt(run.orderId).gatewayStatus).toBe('unknown')
  })

  it('counts as a payment when the charge went through while it was called off', async () => {
    const run = await begin()
    const arrived = till.slowDown('payment_intents.cancel')
    const judged = afterFailedConfirm(run, brokenAnswer)
    await arrived
    await charge(run.intentId)
    expect(await judged).toMatchObject({ verdict: 'paid' })
  })
})

describe('the intent of an attempt', () => {
  it('is returned with its current state', async () => {
    const run = await begin()
    expect(await findIntent(run)).toMatchObject({ objectId: run.intentId, verdict: 'open' })
  })

  it('is unknown when it cannot be read', async () => {
    const run = await begin()
    nothingAnswers()
    await expect(findIntent(run)).rejects.toMatchObject(failed(504, 'confirm_intent'))
  })

  it('causes a bug report when it is missing', async () => {
    const run = await begin()
    const attempt = { ...run.attempt, objectId: null }
    await expect(findIntent({ ...run, attempt })).rejects.toThrow('has no intent')
  })
})

describe('a failure', () => {
  it('changes nothing when it is unknown and the attempt was settled in the meantime', async () => {
    const run = await begin()
    const { sqlite } = run.shop.db
    sqlite.prepare("UPDATE payment_attempts SET outcome = 'paid' WHERE id = ?").run(run.attempt.id)
    await afterFailedCreate(run, noAnswer)
    expect(till.attempt(run.orderId)).toMatchObject({ outcome: 'paid', gatewayStatus: null })
  })

  it('is reported and logged when it cannot be stored', async () => {
    const run = await begin()
    const { sqlite } = run.shop.db
    const errors: unknown[] = []
    const error = (message: string, fields: unknown) => void errors.push({ message, fields })
    const shop = { ...run.shop, log: { ...run.shop.log, error } }
    sqlite.pragma('query_only = 1')
    onTestFinished(() => void sqlite.pragma('query_only = 0'))
    expect(await settleFailure(shop, run.attempt, 'create_intent', nothingCharged)).toMatchObject({ status: 502 })
    expect(errors).toEqual([
      { message: 'a failure could not be saved', fields: { orderId: run.orderId, error: expect.anything() } }
    ])
    sqlite.pragma('query_only = 0')
    expect(till.order(run.orderId).status).toBe('pending')
  })

  it('throws for an attempt that does not exist', async () => {
    const run = await begin()
    const missing = { ...run.attempt, id: 1_000_000 }
    await expect(settleFailure(run.shop, missing, 'create_intent', nothingCharged)).rejects.toThrow('is missing')
  })

  it('contains no gateway fields when the gateway sent none', async () => {
    const run = await begin()
    expect(await settleFailure(run.shop, run.attempt, 'confirm_intent', nothingCharged)).toMatchObject({
      details: {
        gatewayError: { type: '', decline_code: null, param: '', message: '' },
        gatewayRequestId: ''
      }
    })
  })
})
