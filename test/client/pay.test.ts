import { afterEach, expect, it, vi } from 'vitest'
import { createClient, createPaymentForm } from '../../src/client/client.ts'

afterEach(() => void vi.unstubAllGlobals())

/** A form of a fake gateway, and how many checkouts it has sent. */
async function openForm(redirectUrl?: string) {
  const element = { mount() {}, unmount() {} }
  const elements = { create: () => element, update() {}, submit: async () => ({}) }
  let tokens = 0
  const createConfirmationToken = async () => ({ confirmationToken: { id: `ctoken_${(tokens += 1)}` } })
  vi.stubGlobal('Stripe', () => ({ elements: () => elements, createConfirmationToken }))
  const sent = { checkouts: 0, tokens: [] as unknown[], keys: [] as unknown[] }
  /** What the next checkouts get instead of an order. */
  const answers: ('lost' | '402')[] = []
  const shop = createClient({
    repeatAfterMs: [],
    fetch: async (url, { headers, body }) => {
      if (url.includes('/checkout-session')) {
        sent.checkouts += 1
        sent.tokens.push((JSON.parse(typeof body === 'string' ? body : '') as { paymentToken: string }).paymentToken)
        sent.keys.push(new Headers(headers).get('idempotency-key'))
        const answer = answers.shift()
        if (answer === 'lost') throw new TypeError('the connection broke')
        const error = { code: 'CHECKOUT_FAILED', message: 'The card was declined.', details: {} }
        if (answer === '402') return Response.json({ error }, { status: 402 })
      }
      const config = { publishableKey: 'pk_test_1', scriptUrl: '/stripe.js', methodConfiguration: null }
      const order = { orderId: 7, orderToken: 't', status: 'processing', redirectUrl }
      return Response.json({ data: { nonce: 'n', currencyDecimals: 2, ...config, ...order } })
    }
  })
  return { form: await createPaymentForm(shop, { total: 12.5, currency: 'EUR' }), sent, answers }
}

const body = (quantity: number) => ({ items: [{ productId: 1, quantity }], returnUrl: 'https://shop.example/thanks' })

it('a click while the next page loads does not pay again, and another cart does', async () => {
  const { form, sent } = await openForm()
  const [first, joined] = await Promise.all([form.pay(body(1)), form.pay(body(1))])
  expect(await form.pay(body(1))).toBe(first)
  expect(joined).toBe(first)
  expect(first.nextUrl).toBe('https://shop.example/thanks?orderId=7&orderToken=t&result=success')
  expect(sent.checkouts).toBe(1)
  await form.pay(body(2))
  expect(sent.checkouts).toBe(2)
})

it('a buyer who comes back from their bank can pay again with the same form', async () => {
  const { form, sent } = await openForm('https://bank.example/3ds')
  expect((await form.pay(body(1))).nextUrl).toBe('https://bank.example/3ds')
  await form.pay(body(1))
  expect(sent.checkouts).toBe(2)
})

it('a payment whose answer was lost goes on with its token and key, and a refused one begins anew', async () => {
  const { form, sent, answers } = await openForm()
  answers.push('lost', '402')
  await expect(form.pay(body(1))).rejects.toThrow('cannot be reached')
  await expect(form.pay(body(1))).rejects.toThrow('declined')
  await form.pay(body(1))
  expect(sent.tokens).toEqual(['ctoken_1', 'ctoken_1', 'ctoken_2'])
  const [lost, again, anew] = sent.keys
  expect([again === lost, anew === lost]).toEqual([true, false])
})
