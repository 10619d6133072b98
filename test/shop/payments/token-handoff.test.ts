import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { metadataOf } from '../../../src/shop/payments/gateway-state.ts'
import { DeadlinePassed, startDeadline } from '../../../src/shop/payments/gateway.ts'
import { payByToken } from '../../../src/shop/payments/token-handoff.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
  // One address plays every declined buyer here.
  till.shop.app.db.sqlite
    .prepare("INSERT INTO settings (key, value, updated_at) VALUES ('limits.checkout_decline', '\"off\"', 0)")
    .run()
})
afterAll(() => till.close())

const charges = () => till.sandbox.ledger().charges.filter(({ paid }) => paid)
const chargesOf = (orderId: number) => charges().filter(({ metadata }) => metadata.shopstead_order === String(orderId))

describe('a card that is accepted', () => {
  it.each(['pm_card_visa', 'tok_visa'])('pays the order with %s', async (token) => {
    const paid = await till.handOff(token, { quantity: 2 })
    expect(paid.status).toBe(200)
    expect(paid.data).toEqual({
      orderId: expect.any(Number),
      orderToken: expect.any(String),
      statusUrl: expect.any(String),
      mode: 'test',
      strategy: 'token_handoff',
      provider: 'stripe',
      paymentId: expect.stringMatching(/^pi_/),
      paymentStatus: 'succeeded',
      status: 'processing'
    })
    expect(chargesOf(Number(paid.data.orderId))).toMatchObject([{ amount: 2500, currency: 'eur' }])
  })

  it('pays with a confirmation token, which only the second step sends', async () => {
    const paid = await till.handOff('ctoken_visa')
    expect(paid.data).toMatchObject({ paymentStatus: 'succeeded', status: 'processing' })
    const intent = await till.stripe.paymentIntents.retrieve(till.ofNewest().attempt.objectId ?? '')
    expect(intent).toMatchObject({ status: 'succeeded', amount: 1250 })
  })

  it('completes an order without items to ship immediately', async () => {
    expect((await till.handOff('pm_card_visa', { slug: 'print' })).data.status).toBe('completed')
  })

  it("is confirmed with the order's return URL, and names its order", async () => {
    await till.handOff('pm_card_authenticationRequired')
    const { order, attempt } = till.ofNewest()
    const intent = await till.stripe.paymentIntents.retrieve(attempt.objectId ?? '')
    expect(intent.next_action?.redirect_to_url?.return_url).toBe(order.returnUrl)
    expect(intent.metadata).toEqual(metadataOf(till.shop.app, attempt))
  })
})

describe('the email of a guest', () => {
  it("is the payment method's if the order has none", async () => {
    const { id } = await till.stripe.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_visa' },
      billing_details: { email: 'card@example.com' }
    })
    const { data } = await till.handOff(id)
    expect(till.order(Number(data.orderId)).email).toBe('card@example.com')
  })

  it('does not change when the order has one', async () => {
    const { data } = await till.handOff('pm_card_visa', { body: { customer: { email: 'given@example.com' } } })
    expect(till.order(Number(data.orderId)).email).toBe('given@example.com')
  })
})

describe('a payment that must be authenticated at the bank', () => {
  const begin = async () => {
    const { data } = await till.handOff('pm_card_authenticationRequired', { slug: 'mug' })
    expect(data).toMatchObject({ paymentStatus: 'requires_action', status: 'pending' })
    const page = String(data.redirectUrl).replace('//localhost:', '//127.0.0.1:')
    return { id: Number(data.orderId), page }
  }

  it('pays the order when it is approved, before the buyer returns', async () => {
    const { id, page } = await begin()
    const back = await till.shop.visitor().form(page, { outcome: 'approve' })
    expect(back.status).toBe(303)
    expect(back.headers.get('location')).toContain(`${till.order(id).returnUrl}?payment_intent=pi_`)
    expect(till.order(id).status).toBe('processing')
    expect(chargesOf(id)).toHaveLength(1)
  })

  it('fails the order without a charge when it is refused', async () => {
    const { id, page } = await begin()
    await till.shop.visitor().form(page, { outcome: 'fail' })
    await till.deliver()
    expect(till.order(id).status).toBe('failed')
    expect(chargesOf(id)).toEqual([])
  })

  it('stays pending when the buyer only returns', async () => {
    const { id } = await begin()
    await till.settle()
    expect(till.order(id).status).toBe('pending')
  })
})

describe('a payment that the bank processes slowly', () => {
  it('keeps its order after the hold, until the bank has decided', async () => {
    const { data } = await till.handOff('pm_sandbox_processing')
    expect(data).toMatchObject({ paymentStatus: 'processing', status: 'pending' })
    const id = Number(data.orderId)
    till.shop.app.db.sqlite.prepare('UPDATE orders SET hold_ends_at = ? WHERE id = ?').run(till.clock.now() - 1, id)
    await till.settle()
    expect(till.order(id).status).toBe('pending')
    till.clock.advance(60_000)
    await till.deliver()
    expect(till.order(id).status).toBe('processing')
  })

  it('fails its order when the bank refuses it', async () => {
    const { data } = await till.handOff('pm_sandbox_processing_fail')
    till.clock.advance(60_000)
    await till.deliver()
    expect(till.order(Number(data.orderId)).status).toBe('failed')
  })

  it('fails the order of a page that is complete and unpaid', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { paymentMethod: 'pm_sandbox_processing_fail' })
    expect(till.order(id).status).toBe('pending')
    till.clock.advance(60_000)
    await till.deliver()
    expect(till.order(id).status).toBe('failed')
  })
})

describe('a card that is declined', () => {
  const table: [string, string, string, string | null][] = [
    ['pm_sandbox_code_fraud', 'payment_fraud_blocked', 'fraud', null],
    ['pm_card_visa_chargeDeclined', 'payment_card_declined_generic', 'card_declined', 'generic_decline'],
    ['pm_card_visa_chargeDeclinedLostCard', 'payment_card_declined_generic', 'card_declined', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'payment_card_declined_generic', 'card_declined', 'stolen_card'],
    ['pm_sandbox_decline_fraudulent', 'payment_card_declined_generic', 'card_declined', 'fraudulent'],
    ['pm_sandbox_decline_merchant_blacklist', 'payment_card_declined_generic', 'card_declined', 'merchant_blacklist'],
    [
      'pm_card_visa_chargeDeclinedInsufficientFunds',
      'payment_insufficient_funds',
      'card_declined',
      'insufficient_funds'
    ],
    ['tok_chargeDeclinedExpiredCard', 'payment_card_expired', 'expired_card', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'payment_card_incorrect', 'incorrect_cvc', 'incorrect_cvc'],
    [
      'pm_sandbox_decline_authentication_required',
      'payment_authentication_required',
      'card_declined',
      'authentication_required'
    ],
    [
      'pm_sandbox_decline_card_velocity_exceeded',
      'payment_card_declined_generic',
      'card_declined',
      'card_velocity_exceeded'
    ]
  ]
  it.each(table)('%s answers 402 with %s', async (token, safeReason, code, declineCode) => {
    const { status, error } = await till.handOff(token)
    expect(status).toBe(402)
    expect(error.code).toBe('CHECKOUT_FAILED')
    expect(error.details).toEqual({
      safeReason,
      phase: 'payment',
      step: 'confirm_intent',
      gatewayError: {
        type: 'card_error',
        code,
        decline_code: declineCode,
        param: expect.any(String),
        message: expect.any(String)
      },
      gatewayRequestId: expect.stringMatching(/^req_/)
    })
    const { order } = till.ofNewest()
    expect(order.status).toBe('failed')
    expect(chargesOf(order.id)).toEqual([])
  })

  it('returns its stock', async () => {
    await till.handOff('pm_card_visa_chargeDeclined', { slug: 'last' })
    expect(till.stockOf('last')).toBe(1)
  })
})

describe('a token that does not exist', () => {
  it.each(['pm_nobody', 'tok_nobody', 'ctoken_nobody', 'garbage <>'])('answers 402 for %s', async (token) => {
    const { status, error } = await till.handOff(token)
    expect(status).toBe(402)
    expect(error.details).toMatchObject({
      safeReason: 'payment_failed',
      gatewayError: {
        type: 'invalid_request_error',
        code: 'resource_missing',
        decline_code: null,
        param: 'payment_method'
      }
    })
    expect(till.ofNewest().order.status).toBe('failed')
  })
})

describe('when the gateway fails', () => {
  const strike = (
    target: string,
    fault: '500' | '429' | '409' | 'reset' | 'html' | 'truncated',
    moment: 'before' | 'after'
  ) => till.sandbox.addFault({ target, fault, moment, times: 4 })

  it.each(['500', '429', '409'] as const)(
    'answers 502 after a %s of the creation: nothing was charged',
    async (fault) => {
      strike('payment_intents.create', fault, 'before')
      const { status, error } = await till.handOff('pm_card_visa')
      till.sandbox.clearFaults()
      expect(status).toBe(502)
      expect(error.details).toMatchObject({ safeReason: 'payment_gateway_unavailable', step: 'create_intent' })
      expect(till.ofNewest().order.status).toBe('failed')
    }
  )

  it.each(['500', '429', '409'] as const)(
    'answers 502 after a %s of the confirmation, which can never charge',
    async (fault) => {
      strike('payment_intents.confirm', fault, 'before')
      const { status, error } = await till.handOff('pm_card_visa')
      till.sandbox.clearFaults()
      expect(status).toBe(502)
      expect(error.details).toMatchObject({ step: 'confirm_intent' })
      const { order, attempt } = till.ofNewest()
      expect(order.status).toBe('failed')
      expect(await till.stripe.paymentIntents.retrieve(attempt.objectId ?? '')).toMatchObject({ status: 'canceled' })
    }
  )

  it('succeeds after a 500 that follows the charge, because it reads the intent', async () => {
    strike('payment_intents.confirm', '500', 'after')
    const { status, data } = await till.handOff('pm_card_visa')
    till.sandbox.clearFaults()
    expect(status).toBe(200)
    expect(data).toMatchObject({ paymentStatus: 'succeeded', status: 'processing' })
    expect(chargesOf(Number(data.orderId))).toHaveLength(1)
  })

  it.each(['reset', 'html', 'truncated'] as const)(
    'answers 504 without a response (%s) to the confirmation; the order waits and is settled',
    async (fault) => {
      till.loseWebhooks()
      strike('payment_intents.confirm', fault, 'after')
      const { status, error } = await till.handOff('pm_card_visa')
      expect(status).toBe(504)
      expect(error.details).toMatchObject({
        safeReason: 'payment_gateway_unavailable',
        gatewayError: { decline_code: null, param: '' }
      })
      expect(Object.keys(error.details)).toEqual(['safeReason', 'phase', 'step', 'gatewayError', 'gatewayRequestId'])
      const { order } = till.ofNewest()
      expect(order.status).toBe('pending')
      till.sandbox.clearFaults()
      await till.settle({ underWay: 'leave' })
      expect(till.order(order.id).status).toBe('processing')
      expect(chargesOf(order.id)).toHaveLength(1)
    }
  )

  it('answers 504 without a response before the charge, and the reconciler fails the order', async () => {
    strike('payment_intents.confirm', 'reset', 'before')
    expect((await till.handOff('pm_card_visa')).status).toBe(504)
    till.sandbox.clearFaults()
    const { order, attempt } = till.ofNewest()
    await till.settle({ underWay: 'leave' })
    expect(till.order(order.id).status).toBe('failed')
    expect(await till.stripe.paymentIntents.retrieve(attempt.objectId ?? '')).toMatchObject({ status: 'canceled' })
  })
})

describe('a repeated request after a 504', () => {
  it('continues where the first one stopped, and charges once', async () => {
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'reset', moment: 'after', times: 3 })
    const visitor = till.shop.visitor()
    const first = await till.handOff('pm_card_visa', { visitor, key: 'again-1' })
    expect(first.status).toBe(504)
    till.sandbox.clearFaults()
    const second = await till.handOff('pm_card_visa', { visitor, key: 'again-1' })
    expect(second.data).toMatchObject({ paymentStatus: 'succeeded', status: 'processing' })
    expect(chargesOf(Number(second.data.orderId))).toHaveLength(1)
  })

  it('pays with a new attempt when the first one has been ended, and charges once', async () => {
    till.sandbox.addFault({ target: 'payment_intents.create', fault: 'reset', moment: 'after', times: 3 })
    const visitor = till.shop.visitor()
    expect((await till.handOff('pm_card_visa', { visitor, key: 'again-2' })).status).toBe(504)
    till.sandbox.clearFaults()
    await till.settle()
    expect(till.ofNewest().order.status).toBe('failed')
    const second = await till.handOff('pm_card_visa', { visitor, key: 'again-2' })
    expect(second.data).toMatchObject({ orderId: till.ofNewest().order.id, status: 'processing' })
    expect(chargesOf(Number(second.data.orderId))).toHaveLength(1)
  })

  it('confirms nothing when its attempt was ended in the meantime', async () => {
    till.sandbox.addFault({ target: 'payment_intents.create', fault: 'reset', moment: 'after', times: 3 })
    await till.handOff('pm_card_visa')
    till.sandbox.clearFaults()
    await till.settle()
    const { order, attempt } = till.ofNewest()
    const again = payByToken(till.shop.app, attempt, {
      paymentToken: 'pm_card_visa',
      returnUrl: 'https://site.example'
    })
    await expect(again).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 502 })
    expect(chargesOf(order.id)).toEqual([])
  })
})

describe('a currency with two decimals that is charged in whole units', () => {
  it.each(['UGX', 'ISK'])("%s is charged with the order's amount", async (currency) => {
    const other = await openTill({
      products: [{ slug: 'mug', name: 'Mug', price: '1255.00' }],
      coupons: [{ code: 'TEN', percent: 10 }]
    })
    onTestFinished(() => other.close())
    setSetting(other.shop.app.db, 'shop.currency', currency, other.clock.now())
    const paid = await other.handOff('pm_card_visa', { body: { couponCode: 'TEN' } })
    expect(paid.data).toMatchObject({ paymentStatus: 'succeeded', status: 'processing' })
    // Ten percent are 125.50, of which the half cannot be given.
    const [charge] = other.sandbox.ledger().charges
    expect(charge).toMatchObject({ currency: currency.toLowerCase(), amount: other.ofNewest().order.totalMinor })
    expect(charge?.amount).toBeOneOf([112_900, 113_000])
  })
})

describe('the time limit of a checkout', () => {
  it('is shared by all its calls, and ends a call without a response', async () => {
    const deadline = startDeadline(50)
    const never = () => new Promise<never>(() => undefined)
    await expect(deadline.call(never)).rejects.toThrow(DeadlinePassed)
    // A timer can end a moment before the clock says so.
    const next = () => deadline.call(async () => 'asked').catch((error: unknown) => error)
    await expect.poll(next).toBeInstanceOf(DeadlinePassed)
  })

  it('leaves each call at most ten seconds', async () => {
    expect(await startDeadline().call(async ({ timeout }) => timeout)).toBe(10_000)
    expect(await startDeadline(5_000).call(async ({ timeout }) => timeout)).toBeLessThanOrEqual(5_000)
  })
})
