import { afterEach, expect, it, vi } from 'vitest'
import { createClient, createPaymentForm } from '../../src/client/client.ts'

afterEach(() => void vi.unstubAllGlobals())

/** A form of a fake gateway, and how many checkouts it has sent. */
async function openForm(redirectUrl?: string) {
  const element = { mount() {}, unmount() {} }
  const elements = { create: () => element, update() {}, submit: async () => ({}) }
  const createConfirmationToken = async () => ({ confirmationToken: { id: 'ctoken_1' } })
  vi.stubGlobal('Stripe', () => ({ elements: () => elements, createConfirmationToken }))
  const sent = { checkouts: 0 }
  const shop = createClient({
    fetch: async (url) => {
      if (url.includes('/checkout-session')) sent.checkouts += 1
      const config = { publishableKey: 'pk_test_1', scriptUrl: '/stripe.js', methodConfiguration: null }
      const order = { orderId: 7, orderToken: 't', status: 'processing', redirectUrl }
      return Response.json({ data: { nonce: 'n', currencyDecimals: 2, ...config, ...order } })
    }
  })
  return { form: await createPaymentForm(shop, { total: 12.5, currency: 'EUR' }), sent }
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
