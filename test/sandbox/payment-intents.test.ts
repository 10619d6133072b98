import type { Stripe } from 'stripe'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBench, refusalOf } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench()
})

afterEach(() => bench.close())

const return_url = 'http://front.test/back?cart=1'

async function pay(
  payment_method: string,
  terms: Partial<Stripe.PaymentIntentCreateParams> = {}
): Promise<Stripe.PaymentIntent> {
  const intent = await bench.stripe.paymentIntents.create({
    amount: 2500,
    currency: 'eur',
    metadata: { order_id: '7' },
    ...terms
  })
  return bench.stripe.paymentIntents.confirm(intent.id, { payment_method, return_url })
}

const eventTypes = async (): Promise<string[]> => {
  await bench.sandbox.deliverDue()
  return bench.received.map(({ type }) => type)
}

describe('a PaymentIntent', () => {
  test('is created, then confirmed, and charged once', async () => {
    const created = await bench.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'EUR',
      metadata: { order_id: '7' }
    })
    expect(created).toMatchObject({
      status: 'requires_payment_method',
      currency: 'eur',
      amount_received: 0,
      livemode: false
    })
    const paid = await bench.stripe.paymentIntents.confirm(created.id, { payment_method: 'pm_card_visa', return_url })
    expect(paid).toMatchObject({ status: 'succeeded', amount_received: 2500, metadata: { order_id: '7' } })
    expect(bench.sandbox.ledger().charges).toMatchObject([
      { id: paid.latest_charge, paid: true, amount: 2500, payment_intent: paid.id }
    ])
    expect(await eventTypes()).toEqual(['payment_intent.created', 'charge.succeeded', 'payment_intent.succeeded'])
    const again = await refusalOf(
      bench.stripe.paymentIntents.confirm(created.id, { payment_method: 'pm_card_visa', return_url })
    )
    expect(again).toMatchObject({
      statusCode: 400,
      code: 'payment_intent_unexpected_state',
      payment_intent: { id: created.id }
    })
  })

  test.each([
    ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline'],
    ['pm_card_chargeDeclined', 'card_declined', 'generic_decline'],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['pm_card_visa_chargeDeclinedLostCard', 'card_declined', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'card_declined', 'stolen_card'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error', 'processing_error'],
    ['pm_card_visa_chargeDeclinedVelocityLimitExceeded', 'card_declined', 'card_velocity_exceeded'],
    ['pm_card_chargeDeclinedFraudulent', 'card_declined', 'fraudulent'],
    ['pm_card_radarBlock', 'card_declined', 'fraudulent'],
    ['pm_sandbox_decline_merchant_blacklist', 'card_declined', 'merchant_blacklist'],
    ['pm_sandbox_code_fraud', 'fraud', '']
  ])('with %s is declined with %s and can then be paid with another card', async (card, code, decline_code) => {
    const error = await refusalOf(pay(card))
    expect(error).toMatchObject({ type: 'StripeCardError', rawType: 'card_error', statusCode: 402, code })
    expect(error.decline_code).toBe(decline_code)
    const id = error.payment_intent?.id ?? ''
    expect(await bench.stripe.paymentIntents.retrieve(id)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code },
      latest_charge: error.charge
    })
    const paid = await bench.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa', return_url })
    expect(paid.status).toBe('succeeded')
  })

  test.each(['pm_nope', 'pm_card_nope', 'tok_visa', 'pm_sandbox_decline_BAD'])(
    'refuses %s, which is not a payment method',
    async (id) => {
      expect(await refusalOf(pay(id))).toMatchObject({
        statusCode: 400,
        rawType: 'invalid_request_error',
        code: 'resource_missing',
        param: 'payment_method'
      })
      expect(bench.sandbox.ledger().charges).toEqual([])
    }
  )

  test('accepts a card token, and a confirmation token once', async () => {
    const make = async (): Promise<string> =>
      (await bench.stripe.paymentIntents.create({ amount: 900, currency: 'eur' })).id
    const byToken = await bench.stripe.paymentIntents.confirm(await make(), {
      payment_method_data: {
        type: 'card',
        card: { token: 'tok_visa' }
      } as Stripe.PaymentIntentConfirmParams.PaymentMethodData,
      return_url
    })
    expect(byToken.status).toBe('succeeded')
    const token = await bench.stripe.testHelpers.confirmationTokens.create({ payment_method: 'pm_card_visa' })
    const confirm = async (id: string): Promise<Stripe.PaymentIntent> =>
      bench.stripe.paymentIntents.confirm(id, { confirmation_token: token.id, return_url })
    expect((await confirm(await make())).status).toBe('succeeded')
    expect(await refusalOf(confirm(await make()))).toMatchObject({ code: 'payment_intent_confirmation_token_invalid' })
  })

  test('waits for the bank, and is charged once on approval and never on refusal', async () => {
    const waiting = await pay('pm_card_authenticationRequired')
    expect(waiting).toMatchObject({
      status: 'requires_action',
      next_action: {
        type: 'redirect_to_url',
        redirect_to_url: { return_url, url: `http://shop.test/sandbox/3ds/${waiting.id}` }
      }
    })
    const back = await bench.page(`/sandbox/3ds/${waiting.id}`, { outcome: 'approve' })
    const location = new URL(back.headers.get('location') ?? '')
    expect(back.status).toBe(303)
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      cart: '1',
      payment_intent: waiting.id,
      redirect_status: 'succeeded'
    })
    expect(bench.received.at(-1)?.type).toBe('payment_intent.succeeded')
    await bench.page(`/sandbox/3ds/${waiting.id}`, { outcome: 'approve' })
    const refused = await pay('pm_card_threeDSecure2Required')
    const no = await bench.page(`/sandbox/3ds/${refused.id}`, { outcome: 'fail' })
    expect(new URL(no.headers.get('location') ?? '').searchParams.get('redirect_status')).toBe('failed')
    expect(await bench.stripe.paymentIntents.retrieve(refused.id)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_authentication_failure' }
    })
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })

  test('declines a card that requires authentication when error_on_requires_action is set', async () => {
    const { id } = await bench.stripe.paymentIntents.create({ amount: 900, currency: 'eur' })
    const confirming = { payment_method: 'pm_card_authenticationRequired', return_url, error_on_requires_action: true }
    expect(await refusalOf(bench.stripe.paymentIntents.confirm(id, confirming))).toMatchObject({
      code: 'authentication_required',
      decline_code: 'authentication_not_handled'
    })
  })

  test.each([
    ['pm_sandbox_processing', 'succeeded', 'payment_intent.succeeded'],
    ['pm_sandbox_processing_fail', 'requires_payment_method', 'payment_intent.payment_failed']
  ])('with %s is processing first and later %s', async (card, status, event) => {
    const intent = await pay(card)
    expect(intent.status).toBe('processing')
    expect(await refusalOf(bench.stripe.paymentIntents.cancel(intent.id))).toMatchObject({
      code: 'payment_intent_unexpected_state'
    })
    bench.advance(5_000)
    expect((await bench.stripe.paymentIntents.retrieve(intent.id)).status).toBe(status)
    expect((await eventTypes()).at(-1)).toBe(event)
    expect(bench.sandbox.ledger().charges).toHaveLength(1)
  })
})

describe('a PaymentIntent before it is paid', () => {
  test('cannot be confirmed after it was canceled', async () => {
    const { id } = await bench.stripe.paymentIntents.create({ amount: 900, currency: 'eur' })
    expect(await bench.stripe.paymentIntents.cancel(id)).toMatchObject({ status: 'canceled' })
    expect(
      await refusalOf(bench.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa', return_url }))
    ).toMatchObject({
      code: 'payment_intent_unexpected_state'
    })
  })

  test('requires a return_url when its payment methods may redirect', async () => {
    const { id } = await bench.stripe.paymentIntents.create({ amount: 900, currency: 'eur' })
    expect(await refusalOf(bench.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' }))).toMatchObject({
      statusCode: 400
    })
  })

  test('can be updated before it is paid, with its metadata merged key by key', async () => {
    const { id } = await bench.stripe.paymentIntents.create({
      amount: 900,
      currency: 'eur',
      metadata: { a: '1', b: '2' }
    })
    const updated = await bench.stripe.paymentIntents.update(id, { amount: 1200, metadata: { a: '', c: '3' } })
    expect(updated).toMatchObject({ amount: 1200, metadata: { b: '2', c: '3' } })
    expect(updated.metadata).not.toHaveProperty('a')
  })

  test.each([
    [{ amount: 'abc' }, { code: 'parameter_invalid_integer', param: 'amount' }],
    [{ amount: 12.5 }, { code: 'parameter_invalid_integer', param: 'amount' }],
    [{ amount: 0 }, { code: 'parameter_invalid_integer', param: 'amount' }],
    [{ amount: 49 }, { code: 'amount_too_small', param: 'amount' }],
    [{ amount: 100_000_000 }, { code: 'amount_too_large', param: 'amount' }],
    [{ amount: undefined }, { code: 'parameter_missing', param: 'amount' }],
    [{ currency: 'xxx' }, { param: 'currency' }],
    [{ currency: '' }, { code: 'parameter_invalid_empty', param: 'currency' }],
    [{ confirm: 'yes' }, { param: 'confirm' }],
    [{ metadata: { a: { b: 'c' } } }, { param: 'metadata[a]' }],
    [{ metadata: { k: 'x'.repeat(501) } }, { param: 'metadata[k]' }],
    [{ shipping: { name: 'L' } }, { code: 'parameter_missing', param: 'shipping[address]' }],
    [{ return_url: 'http://front.test' }, { param: 'return_url' }],
    [{ customer: 'cus_nope' }, { code: 'resource_missing', param: 'customer' }],
    [{ capture_method: 'manual' }, { param: 'capture_method' }],
    [{ expand: ['nonsense'] }, { param: 'expand' }],
    [{ toString: 1 }, { code: 'parameter_unknown', param: 'toString' }]
  ])("with %j is refused with Stripe's error", async (wrong, refusal) => {
    const params = { amount: 900, currency: 'eur', ...wrong } as Stripe.PaymentIntentCreateParams
    expect(await refusalOf(bench.stripe.paymentIntents.create(params))).toMatchObject({
      statusCode: 400,
      rawType: 'invalid_request_error',
      ...refusal
    })
    expect(bench.sandbox.ledger().intents).toEqual([])
  })

  test('is listed newest first, page by page', async () => {
    for (const amount of [100, 200, 300]) await bench.stripe.paymentIntents.create({ amount, currency: 'eur' })
    const first = await bench.stripe.paymentIntents.list({ limit: 2 })
    expect([first.data.map(({ amount }) => amount), first.has_more]).toEqual([[300, 200], true])
    const amounts: number[] = []
    for await (const { amount } of bench.stripe.paymentIntents.list({ limit: 1 })) amounts.push(amount)
    expect(amounts).toEqual([300, 200, 100])
    expect(await refusalOf(bench.stripe.paymentIntents.list({ starting_after: 'pi_nope' }))).toMatchObject({
      code: 'resource_missing'
    })
  })
})

describe('refunds', () => {
  test('in parts add up to at most the payment', async () => {
    const intent = await pay('pm_card_visa')
    const part = await bench.stripe.refunds.create({ payment_intent: intent.id, amount: 1000 })
    expect(part).toMatchObject({
      status: 'succeeded',
      amount: 1000,
      payment_intent: intent.id,
      charge: intent.latest_charge
    })
    expect(await refusalOf(bench.stripe.refunds.create({ payment_intent: intent.id, amount: 1501 }))).toMatchObject({
      statusCode: 400,
      param: 'amount'
    })
    expect(await bench.stripe.refunds.create({ payment_intent: intent.id })).toMatchObject({ amount: 1500 })
    expect(await refusalOf(bench.stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_already_refunded'
    })
    expect(bench.sandbox.ledger().charges).toMatchObject([{ amount_refunded: 2500, refunded: true }])
    expect((await bench.stripe.refunds.list({ payment_intent: intent.id })).data).toHaveLength(2)
    expect(await eventTypes()).toContain('charge.refunded')
  })

  test('are refused for an unpaid PaymentIntent', async () => {
    const { id } = await bench.stripe.paymentIntents.create({ amount: 900, currency: 'eur' })
    expect(await refusalOf(bench.stripe.refunds.create({ payment_intent: id }))).toMatchObject({ statusCode: 400 })
    expect(await refusalOf(bench.stripe.refunds.create({}))).toMatchObject({ code: 'parameter_missing' })
  })

  test('can succeed or fail after a delay', async () => {
    const pending = await bench.stripe.refunds.create({ payment_intent: (await pay('pm_card_pendingRefund')).id })
    const failing = await bench.stripe.refunds.create({ payment_intent: (await pay('pm_card_refundFail')).id })
    expect([pending.status, failing.status]).toEqual(['pending', 'succeeded'])
    bench.advance(5_000)
    expect(await bench.stripe.refunds.retrieve(pending.id)).toMatchObject({ status: 'succeeded' })
    expect(await bench.stripe.refunds.retrieve(failing.id)).toMatchObject({ status: 'failed' })
    expect(bench.sandbox.ledger().charges.map(({ amount_refunded }) => amount_refunded)).toEqual([2500, 0])
    expect(await eventTypes()).toEqual(expect.arrayContaining(['refund.updated', 'refund.failed']))
  })
})

describe('a dispute', () => {
  test('follows the payment of its test card, blocks refunds, and is lost with losing evidence', async () => {
    const intent = await pay('pm_card_createDispute')
    const [dispute] = (await bench.stripe.disputes.list({ payment_intent: intent.id })).data
    expect(dispute).toMatchObject({ status: 'needs_response', reason: 'fraudulent', amount: 2500 })
    expect(await refusalOf(bench.stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_disputed'
    })
    const lost = await bench.stripe.disputes.update(dispute?.id ?? '', {
      evidence: { uncategorized_text: 'losing_evidence' }
    })
    expect(lost.status).toBe('lost')
    expect(await eventTypes()).toEqual(expect.arrayContaining(['charge.dispute.created', 'charge.dispute.closed']))
  })

  test('can be opened and won by the control functions', async () => {
    const intent = await pay('pm_card_visa')
    const dispute = bench.sandbox.openDispute(intent.id)
    expect(bench.sandbox.decideDispute(dispute.id, 'won')).toMatchObject({ status: 'won' })
    expect((await eventTypes()).slice(-4)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed'
    ])
  })
})

describe('the account', () => {
  test('answers the health check of the key, the clock and the webhook', async () => {
    const { lastResponse } = await bench.stripe.balance.retrieve()
    expect(Date.parse(lastResponse.headers['date'] ?? '')).toBe(Math.floor(bench.now() / 1000) * 1000)
    expect((await bench.stripe.webhookEndpoints.list()).data).toMatchObject([
      { status: 'enabled', url: 'http://shop.test/api/v1/webhooks/stripe' }
    ])
  })

  test('refuses a live key without repeating it', async () => {
    const { createStripeClient } = await import('../../src/platform/stripe-client.ts')
    const live = await createStripeClient({ secretKey: 'sk_live_real', httpClient: bench.sandbox.httpClient })
    const error = await refusalOf(live.balance.retrieve())
    expect(error).toMatchObject({ type: 'StripeAuthenticationError', statusCode: 401 })
    expect(error.message).not.toContain('sk_live')
  })
})
