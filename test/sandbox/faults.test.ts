import type { Stripe } from 'stripe'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { serveSandbox } from '../../src/sandbox/http/socket.ts'
import type { SandboxServer } from '../../src/sandbox/http/socket.ts'
import { collectGarbage } from '../support/garbage.ts'
import { createBench, refusalOf, sessionParams } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

let bench: Bench
let server: SandboxServer
let overSocket: Stripe

beforeEach(async () => {
  bench = await createBench()
  server = await serveSandbox(bench.sandbox)
  overSocket = await createStripeClient({
    secretKey: 'sk_test_x',
    apiBase: server.origin,
    maxNetworkRetries: 0
  })
})

afterEach(async () => {
  await server.close()
  bench.close()
})

const payment = {
  amount: 900,
  currency: 'eur',
  confirm: true,
  payment_method: 'pm_card_visa',
  return_url: 'http://front.test/'
}
const charges = (): number => bench.sandbox.ledger().charges.length

/** The time limit of a call that gets no answer. The other calls have the usual limit, also on a busy machine. */
const unanswered = { timeout: 300 }

const clients = {
  'in process': async () =>
    createStripeClient({
      secretKey: 'sk_test_x',
      httpClient: bench.sandbox.httpClient,
      maxNetworkRetries: 0
    }),
  'over a socket': async () => overSocket
}

describe.each(Object.entries(clients))('stripe-node %s', (_where, client) => {
  test('pays a PaymentIntent', async () => {
    const stripe = await client()
    const paid = await stripe.paymentIntents.create(payment)
    expect(paid).toMatchObject({ status: 'succeeded', amount_received: 900 })
    expect(paid.lastResponse.headers['request-id']).toMatch(/^req_/)
    expect(await stripe.events.list({ type: 'charge.succeeded' })).toMatchObject({
      data: [{ data: { object: { amount: 900 } } }]
    })
  })

  test.each([
    ['timeout', 'StripeConnectionError'],
    ['truncated', 'StripeConnectionError'],
    ['stalled', 'StripeConnectionError'],
    ['html', 'StripeAPIError'],
    ['500', 'StripeAPIError'],
    ['503', 'StripeAPIError'],
    ['429', 'StripeRateLimitError'],
    ['409', 'StripeAPIError'],
    ['402', 'StripeCardError'],
    ['401', 'StripeAuthenticationError']
  ] as const)(
    'meets %s before and after the effect, and gets the real answer under the same key',
    async (fault, type) => {
      const stripe = await client()
      bench.sandbox.addFault({ target: 'payment_intents.create', fault, moment: 'before' })
      const options = { idempotencyKey: 'order-7' }
      const failing = fault === 'timeout' || fault === 'stalled' ? { ...options, ...unanswered } : options
      expect(await refusalOf(stripe.paymentIntents.create(payment, failing))).toMatchObject({ type })
      expect(charges()).toBe(0)
      bench.sandbox.addFault({ target: 'payment_intents.create', fault, moment: 'after' })
      expect(await refusalOf(stripe.paymentIntents.create(payment, failing))).toMatchObject({ type })
      expect(charges()).toBe(1)
      const replay = await stripe.paymentIntents.create(payment, options)
      expect(replay.status).toBe('succeeded')
      expect(replay.lastResponse.headers['idempotent-replayed']).toBe('true')
      expect(charges()).toBe(1)
      expect(bench.sandbox.listFaults()).toEqual([])
    }
  )

  test('times out even when garbage is collected while it waits', async () => {
    const stripe = await client()
    bench.sandbox.addFault({ target: 'payment_intents.create', fault: 'timeout', moment: 'before' })
    const collecting = setInterval(collectGarbage, 20)
    onTestFinished(() => clearInterval(collecting))
    const refusal = await refusalOf(stripe.paymentIntents.create(payment, unanswered))
    expect(refusal).toMatchObject({ type: 'StripeConnectionError' })
  })

  test('retries after a reset without a second charge', async () => {
    const stripe = await client()
    bench.sandbox.addFault({ target: 'payment_intents.create', fault: 'reset', moment: 'after' })
    const paid = await stripe.paymentIntents.create(payment)
    expect(paid.status).toBe('succeeded')
    expect(charges()).toBe(1)
  })

  test('gets a stored 500 again under its key', async () => {
    const stripe = await client()
    bench.sandbox.addFault({ target: 'payment_intents.*', fault: '500', moment: 'kept' })
    const options = { idempotencyKey: 'order-8' }
    expect(await refusalOf(stripe.paymentIntents.create(payment, options))).toMatchObject({ statusCode: 500 })
    expect(await refusalOf(stripe.paymentIntents.create(payment, options))).toMatchObject({ statusCode: 500 })
    expect(charges()).toBe(1)
  })
})

describe('an idempotency key', () => {
  test('belongs to one endpoint and one set of parameters', async () => {
    const options = { idempotencyKey: 'k1' }
    await bench.stripe.paymentIntents.create(payment, options)
    const other = { ...payment, amount: 901 }
    expect(await refusalOf(bench.stripe.paymentIntents.create(other, options))).toMatchObject({
      statusCode: 400,
      rawType: 'idempotency_error'
    })
    expect(await refusalOf(bench.stripe.coupons.create({ percent_off: 5 }, options))).toMatchObject({
      rawType: 'idempotency_error'
    })
    expect(charges()).toBe(1)
  })

  test('is refused while its request runs, and gets the same answer afterwards', async () => {
    bench.sandbox.addFault({ target: 'payment_intents.create', fault: 'slow', delayMs: 1_000 })
    const options = { idempotencyKey: 'k2' }
    const first = bench.stripe.paymentIntents.create(payment, options)
    await expect.poll(() => bench.sandbox.listFaults(), { interval: 5 }).toEqual([])
    const second = await refusalOf(overSocket.paymentIntents.create(payment, options))
    expect(second).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' })
    const { id } = await first
    expect((await overSocket.paymentIntents.create(payment, options)).id).toBe(id)
    expect(charges()).toBe(1)
  })

  test('stores a decline but not the refusal of a malformed request', async () => {
    const declined = { ...payment, payment_method: 'pm_card_chargeDeclined' }
    const decline = async (): Promise<Stripe.errors.StripeError> =>
      refusalOf(bench.stripe.paymentIntents.create(declined, { idempotencyKey: 'k3' }))
    expect((await decline()).payment_intent?.id).toBe((await decline()).payment_intent?.id)
    expect(charges()).toBe(1)
    const key = { idempotencyKey: 'k4' }
    expect(await refusalOf(bench.stripe.paymentIntents.create({ ...payment, amount: -1 }, key))).toMatchObject({
      statusCode: 400
    })
    expect(await bench.stripe.paymentIntents.create(payment, key)).toMatchObject({ status: 'succeeded' })
  })

  test('expires after a day', async () => {
    const options = { idempotencyKey: 'k5' }
    await bench.stripe.paymentIntents.create(payment, options)
    bench.advance(25 * 3_600_000)
    await bench.stripe.paymentIntents.create(payment, options)
    expect(charges()).toBe(2)
  })
})

describe('a webhook', () => {
  const pay = async (): Promise<void> => {
    const { url } = await bench.stripe.checkout.sessions.create(sessionParams())
    await bench.page(new URL(url ?? '').pathname, {})
  }
  const seen = (): string[] => bench.received.map(({ type }) => type)
  const target = 'webhook:checkout.session.completed'

  test('can be lost while its event stays in the list', async () => {
    bench.sandbox.addFault({ target, fault: 'lost' })
    await pay()
    bench.advance(100 * 3_600_000)
    await bench.sandbox.deliverDue()
    expect(seen()).not.toContain('checkout.session.completed')
    const listed = await bench.stripe.events.list({ types: ['checkout.session.completed'] })
    expect(listed.data).toMatchObject([{ type: 'checkout.session.completed', pending_webhooks: 1 }])
    const undelivered = await bench.stripe.events.list({ delivery_success: false })
    expect(undelivered.data.map(({ type }) => type)).toEqual(['checkout.session.completed'])
    const delivered = await bench.stripe.events.list({ delivery_success: true })
    expect(delivered.data.map(({ pending_webhooks }) => pending_webhooks)).toEqual(delivered.data.map(() => 0))
  })

  test('can arrive late', async () => {
    bench.sandbox.addFault({ target, fault: 'late', delayMs: 60_000 })
    await pay()
    expect(seen()).not.toContain('checkout.session.completed')
    bench.advance(60_000)
    await bench.sandbox.deliverDue()
    expect(seen()).toContain('checkout.session.completed')
  })

  test('can arrive twice with the same event', async () => {
    bench.sandbox.addFault({ target, fault: 'twice' })
    await pay()
    await bench.sandbox.deliverDue()
    const ids = bench.received.filter(({ type }) => type === 'checkout.session.completed').map(({ id }) => id)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  test('can arrive after later events', async () => {
    bench.sandbox.addFault({ target: 'webhook:payment_intent.*', fault: 'out_of_order', times: -1 })
    await pay()
    bench.advance(2_000)
    await bench.sandbox.deliverDue()
    expect(seen().indexOf('payment_intent.succeeded')).toBeGreaterThan(seen().indexOf('checkout.session.completed'))
    bench.sandbox.clearFaults()
    expect(bench.sandbox.listFaults()).toEqual([])
  })

  test('is sent again when the answer is not 2xx', async () => {
    bench.answer.status = 500
    await pay()
    const before = bench.received.length
    bench.answer.status = 200
    bench.advance(5_000)
    await bench.sandbox.deliverDue()
    expect(bench.received).toHaveLength(before * 2)
    bench.advance(5_000)
    expect(await bench.sandbox.deliverDue()).toBe(0)
    const events = await bench.stripe.events.list()
    expect(events.data.every(({ pending_webhooks }) => pending_webhooks === 0)).toBe(true)
  })

  test('is sent in the background once the sandbox is started', async () => {
    bench.sandbox.start()
    await overSocket.paymentIntents.create(payment)
    await expect.poll(seen).toContain('payment_intent.succeeded')
  })
})

describe('two processes on one file', () => {
  test('share one Stripe: one takes the payment, the other sends the webhooks', async () => {
    const other = await createBench({ file: bench.file, clock: bench })
    try {
      const { id } = await bench.stripe.checkout.sessions.create(sessionParams())
      expect(other.sandbox.findCheckout({ clientReferenceId: '7' })?.id).toBe(id)
      expect(other.sandbox.findCheckout({ metadata: { key: 'order_id', value: '7' } })?.id).toBe(id)
      bench.sandbox.start()
      const { outcome, delivered } = await other.sandbox.payCheckout(id)
      expect([outcome.kind, delivered]).toEqual(['complete', true])
      expect(bench.received.map(({ type }) => type)).toContain('checkout.session.completed')
      expect(other.received).toEqual([])
    } finally {
      other.close()
    }
  })
})

describe('a fault', () => {
  test('is refused when its target or its kind does not exist', () => {
    expect(() => bench.sandbox.addFault({ target: 'payment_intents.conform', fault: '500' })).toThrow(
      /^The target must be \*, webhook:\* or one of account\.retrieve, /
    )
    expect(() => bench.sandbox.addFault({ target: 'webhook:*', fault: '500' })).toThrow(
      'The fault of a webhook must be one of late, twice, out_of_order, lost.'
    )
  })

  test('skips and then affects the requested number of requests', async () => {
    bench.sandbox.addFault({ target: 'balance.*', fault: '503', skip: 1, times: 2 })
    const codes: number[] = []
    for (let at = 0; at < 4; at += 1) {
      const answer = await bench.sandbox.handleApi({
        method: 'GET',
        path: '/v1/balance',
        headers: { authorization: 'Bearer sk_test_x' },
        body: ''
      })
      codes.push('status' in answer ? answer.status : 0)
    }
    expect(codes).toEqual([200, 503, 503, 200])
  })
})
