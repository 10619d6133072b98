import { describe, expect, it } from 'vitest'
import { callOff, lookUp, unlessMissing } from '../../../src/shop/payments/gateway-state.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()

const page = (objectId: string) => ({ kind: 'checkout_session', objectId }) as const
const intent = (objectId: string) => ({ kind: 'payment_intent', objectId }) as const

async function openPage(slug = 'mug') {
  return page((await till.redirect({ slug })).sessionId)
}

async function handedOver(token: string) {
  const { data } = await till.handOff(token)
  return intent(till.attempt(Number(data.orderId)).objectId ?? '')
}

describe('the state of an attempt', () => {
  it('is undefined before the gateway knows the attempt', async () => {
    for (const kind of ['checkout_session', 'payment_intent'] as const) {
      const attempt = { kind, objectId: null }
      expect(await lookUp(till.stripe, attempt)).toBeUndefined()
      expect(await callOff(till.stripe, attempt)).toBeUndefined()
    }
  })

  it('contains the email of the card that paid', async () => {
    const { id } = await till.stripe.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_visa' },
      billing_details: { email: 'card@example.com' }
    })
    expect(await lookUp(till.stripe, await handedOver(id))).toMatchObject({
      verdict: 'paid',
      email: 'card@example.com'
    })
  })

  it('contains the subscription of a page, and the payment of its invoice', async () => {
    const attempt = await openPage('club')
    await till.sandbox.payCheckout(attempt.objectId, { waitMs: 0 })
    expect(await lookUp(till.stripe, attempt)).toMatchObject({
      verdict: 'paid',
      paymentIntentId: expect.stringMatching(/^pi_/),
      subscription: { id: expect.stringMatching(/^sub_/), periodEnd: expect.any(Number) }
    })
  })

  it('contains the payment of a page that failed', async () => {
    const attempt = await openPage()
    await till.sandbox.payCheckout(attempt.objectId, { paymentMethod: 'pm_sandbox_processing_fail', waitMs: 0 })
    expect(await lookUp(till.stripe, attempt)).toMatchObject({ verdict: 'waiting' })
    till.clock.advance(60_000)
    await till.sandbox.deliverDue()
    expect(await lookUp(till.stripe, attempt)).toMatchObject({ verdict: 'failed' })
  })
})

describe('an attempt that is called off', () => {
  it('cannot be paid any more', async () => {
    expect(await callOff(till.stripe, await openPage())).toMatchObject({ verdict: 'expired' })
    const asked = await handedOver('pm_card_authenticationRequired')
    expect(await callOff(till.stripe, asked)).toMatchObject({ verdict: 'failed', status: 'canceled' })
  })

  it('is paid when the buyer was faster', async () => {
    const attempt = await openPage()
    await till.sandbox.payCheckout(attempt.objectId, { waitMs: 0 })
    expect(await callOff(till.stripe, attempt)).toMatchObject({ verdict: 'paid' })
    expect(await callOff(till.stripe, await handedOver('pm_card_visa'))).toMatchObject({ verdict: 'paid' })
  })

  it('is undefined when the gateway does not know it', async () => {
    for (const gone of [page('cs_gone'), intent('pi_gone')]) expect(await callOff(till.stripe, gone)).toBeUndefined()
  })

  it.each([
    ['page', () => openPage()],
    ['payment that waits for its buyer', () => handedOver('pm_card_authenticationRequired')]
  ])('is not called off while the gateway refuses and the %s is open', async (_what, begin) => {
    const attempt = await begin()
    for (const target of ['checkout.sessions.expire', 'payment_intents.cancel'])
      till.sandbox.addFault({ target, fault: '429', times: 3 })
    await expect(callOff(till.stripe, attempt)).rejects.toMatchObject({ statusCode: 429 })
  })

  it('throws when the gateway does not answer', async () => {
    const attempt = await openPage()
    await till.sandbox.payCheckout(attempt.objectId, { waitMs: 0 })
    till.sandbox.addFault({ target: 'checkout.sessions.expire', fault: 'html', times: 3 })
    await expect(callOff(till.stripe, attempt)).rejects.toThrow()
  })
})

describe('an object that may be missing', () => {
  it('is undefined when the gateway does not know it, and throws other errors', async () => {
    const { stripe } = till
    expect(await unlessMissing(stripe.subscriptions.retrieve('sub_gone'))).toBeUndefined()
    const attempt = await handedOver('pm_card_visa')
    expect(await unlessMissing(stripe.paymentIntents.retrieve(attempt.objectId))).toMatchObject({
      status: 'succeeded'
    })
    await expect(unlessMissing(Promise.reject(new Error('the line broke')))).rejects.toThrow('the line broke')
  })
})
