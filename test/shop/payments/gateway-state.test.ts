import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { idOf, periodEndOf, stateOfIntent, stateOfSession } from '../../../src/shop/payments/gateway-state.ts'

const intent = (changes: object = {}): Stripe.PaymentIntent =>
  ({
    id: 'pi_1',
    status: 'succeeded',
    amount: 1250,
    amount_received: 1200,
    currency: 'eur',
    livemode: true,
    metadata: { shopstead_attempt: 'token' },
    receipt_email: null,
    payment_method: null,
    next_action: null,
    last_payment_error: null,
    ...changes
  }) as unknown as Stripe.PaymentIntent

const session = (changes: object = {}): Stripe.Checkout.Session =>
  ({
    id: 'cs_1',
    status: 'complete',
    payment_status: 'paid',
    payment_intent: 'pi_1',
    invoice: null,
    subscription: null,
    amount_total: 1250,
    currency: 'eur',
    livemode: false,
    metadata: { shopstead_attempt: 'token' },
    customer_details: { email: 'ada@shop.example' },
    customer_email: 'other@shop.example',
    url: 'https://pay.example/cs_1',
    ...changes
  }) as unknown as Stripe.Checkout.Session

const subscription = (status: string, ...ends: number[]): Stripe.Subscription =>
  ({
    id: 'sub_1',
    status,
    items: { data: ends.map((end) => ({ current_period_end: end })) }
  }) as unknown as Stripe.Subscription

describe('a PaymentIntent', () => {
  it('is paid with the received amount and the email', () => {
    expect(stateOfIntent(intent({ receipt_email: 'ada@shop.example' }))).toEqual({
      objectId: 'pi_1',
      paymentIntentId: 'pi_1',
      verdict: 'paid',
      status: 'succeeded',
      amountMinor: 1200,
      currency: 'EUR',
      livemode: true,
      token: 'token',
      email: 'ada@shop.example',
      redirectUrl: null,
      url: null,
      failure: null,
      card: null,
      subscription: null
    })
  })

  it.each([
    ['processing', 'waiting'],
    ['requires_capture', 'waiting'],
    ['requires_action', 'action'],
    ['requires_confirmation', 'open'],
    ['requires_payment_method', 'open'],
    ['canceled', 'failed'],
    ['a_future_status', 'waiting']
  ])('is read from status %s as %s, with the requested amount', (status, verdict) => {
    expect(stateOfIntent(intent({ status }))).toMatchObject({ verdict, status, amountMinor: 1250 })
  })

  it('is failed with the reason after a decline', () => {
    const error = { type: 'card_error', code: 'card_declined' }
    const declined = intent({ status: 'requires_payment_method', last_payment_error: error })
    expect(stateOfIntent(declined)).toMatchObject({
      verdict: 'failed',
      failure: { kind: 'refused', error: { code: 'card_declined' } }
    })
  })

  it('takes the email from the card if the intent has none', () => {
    const card = { id: 'pm_1', billing_details: { email: 'card@shop.example' } }
    expect(stateOfIntent(intent({ payment_method: card })).email).toBe('card@shop.example')
    expect(stateOfIntent(intent({ payment_method: card, receipt_email: 'ada@shop.example' })).email).toBe(
      'ada@shop.example'
    )
    for (const payment_method of ['pm_1', null, { id: 'pm_1' }, { id: 'pm_1', billing_details: {} }])
      expect(stateOfIntent(intent({ payment_method })).email).toBeNull()
  })

  it('contains the redirect URL of the bank, if there is one', () => {
    const url = 'https://bank.example/confirm'
    expect(stateOfIntent(intent({ next_action: { redirect_to_url: { url } } })).redirectUrl).toBe(url)
    for (const next_action of [null, {}, { redirect_to_url: { url: null } }])
      expect(stateOfIntent(intent({ next_action })).redirectUrl).toBeNull()
    for (const metadata of [{}, null]) expect(stateOfIntent(intent({ metadata })).token).toBeNull()
  })
})

describe('a Checkout Session', () => {
  it('is paid with its total', () => {
    expect(stateOfSession(session())).toEqual({
      objectId: 'cs_1',
      paymentIntentId: 'pi_1',
      verdict: 'paid',
      status: 'paid',
      amountMinor: 1250,
      currency: 'EUR',
      livemode: false,
      token: 'token',
      email: 'ada@shop.example',
      redirectUrl: null,
      url: 'https://pay.example/cs_1',
      failure: null,
      card: null,
      subscription: null
    })
  })

  it.each([
    [{ payment_status: 'no_payment_required' }, 'paid', 'complete'],
    [{ payment_status: 'paid', status: 'expired' }, 'paid', 'paid'],
    [{ payment_status: 'unpaid', status: 'expired' }, 'expired', 'expired'],
    [{ payment_status: 'unpaid', status: 'open' }, 'open', 'open'],
    [{ payment_status: 'unpaid', status: null }, 'open', 'unpaid'],
    [{ payment_status: 'unpaid' }, 'waiting', 'complete'],
    [{ payment_status: 'unpaid', payment_intent: null }, 'waiting', 'complete'],
    [{ payment_status: 'unpaid', payment_intent: intent({ status: 'processing' }) }, 'waiting', 'complete'],
    [{ payment_status: 'unpaid', payment_intent: intent({ status: 'canceled' }) }, 'failed', 'complete'],
    [{ payment_status: 'unpaid', subscription: subscription('incomplete', 1) }, 'waiting', 'complete'],
    [{ payment_status: 'unpaid', subscription: subscription('incomplete_expired', 1) }, 'failed', 'complete'],
    [{ payment_status: 'unpaid', subscription: 'sub_1' }, 'waiting', 'complete']
  ])('is read from %o as %s', (changes, verdict, status) => {
    expect(stateOfSession(session(changes))).toMatchObject({ verdict, status })
  })

  it('contains the id of its payment, which a subscription has under its invoice', () => {
    const invoice = (payment_intent: unknown) => ({ id: 'in_1', payments: { data: [{ payment: { payment_intent } }] } })
    const known = (changes: object) => stateOfSession(session(changes)).paymentIntentId
    expect(known({ payment_intent: intent({ id: 'pi_2' }) })).toBe('pi_2')
    expect(known({ payment_intent: 'pi_1', invoice: invoice('pi_3') })).toBe('pi_1')
    expect(known({ payment_intent: null, invoice: invoice('pi_3') })).toBe('pi_3')
    expect(known({ payment_intent: null, invoice: invoice(intent({ id: 'pi_4' })) })).toBe('pi_4')
    for (const none of ['in_1', null, { id: 'in_1' }, { id: 'in_1', payments: { data: [] } }, invoice(undefined)])
      expect(known({ payment_intent: null, invoice: none })).toBeNull()
  })

  it('is read without amount, currency, metadata and email', () => {
    const bare = { amount_total: null, currency: null, metadata: null, customer_details: null, customer_email: null }
    expect(stateOfSession(session(bare))).toMatchObject({ amountMinor: 0, currency: '', token: null, email: null })
    expect(stateOfSession(session({ customer_details: null })).email).toBe('other@shop.example')
    expect(stateOfSession(session({ customer_details: { email: null } })).email).toBe('other@shop.example')
  })

  it('contains the end of the paid period of its subscription', () => {
    expect(stateOfSession(session({ subscription: subscription('active', 10, 30, 20) })).subscription).toEqual({
      id: 'sub_1',
      periodEnd: 30_000
    })
    expect(stateOfSession(session({ subscription: 'sub_1' })).subscription).toBeNull()
    expect(periodEndOf(subscription('active'))).toBe(0)
  })
})

describe('a reference', () => {
  it('is read as an id, expanded or not', () => {
    expect(['pi_1', { id: 'pi_2' }, null, undefined].map(idOf)).toEqual(['pi_1', 'pi_2', null, null])
  })
})
