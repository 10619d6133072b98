import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())
beforeEach(() => {
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value)
  })
})
afterEach(() => void vi.unstubAllGlobals())

const handoff = { strategy: 'token_handoff', returnUrl: 'https://site.example/thanks?from=shop' } as const
const items = [{ productId: 1, quantity: 1 }]
const client = () => createClient({ baseUrl: `${shop.url}/api/secure` })

/** The page that a browser shows; its history entry changes with replaceState. */
function openPage(href: string): { href: string } {
  const location = { href }
  const history = {
    state: { own: 1 } as unknown,
    replaceState(state: unknown, _unused: string, url: string) {
      history.state = state
      location.href = url
    }
  }
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', history)
  return location
}

it('finishes a payment that came back from the bank, with the state that the gateway reports', async () => {
  shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
  const site = client()
  const other = await site.checkout({ ...handoff, items, paymentToken: 'pm_card_authenticationRequired' })
  const [{ productId }, quantity] = [{ productId: 1 }, 2]
  const answer = await site.checkout({
    ...handoff,
    items: [{ productId, quantity }],
    paymentToken: 'pm_card_authenticationRequired'
  })
  expect(other.paymentId).not.toBe(answer.paymentId)
  const bank = (answer.redirectUrl ?? '').replace('//localhost:', '//127.0.0.1:')
  const back = await shop.visitor().form(bank, { outcome: 'approve' })
  const page = openPage(back.headers.get('location') ?? '')
  expect(page.href).toContain('payment_intent_client_secret=')
  const finished = await site.payments.finish(page)
  expect(finished).toMatchObject({
    result: 'success',
    orderToken: answer.orderToken,
    order: { id: answer.orderId, status: 'processing' }
  })
  // The token and the secret are gone from the address, and a reload still knows the order.
  expect(page.href).toBe('https://site.example/thanks?from=shop')
  expect((await site.payments.finish(page)).order.id).toBe(answer.orderId)
  expect(globalThis).toMatchObject({ history: { state: { own: 1 } } })
})

it('finishes a redirect by the token in the address, on a server too', async () => {
  const { orderToken } = await client().checkout({ items })
  const address = { href: `https://site.example/thanks?orderId=1&orderToken=${orderToken}&result=success` }
  expect((await client().payments.finish(address)).result).toBe('pending')
  const page = openPage(address.href)
  await client().payments.finish(page)
  expect(page.href).toBe('https://site.example/thanks')
})

it('finds no order for an address that names none', async () => {
  const page = openPage('https://site.example/thanks?payment_intent=pi_other')
  await expect(client().payments.finish(page)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(client().payments.finish({ href: 'https://a.example/?orderToken=..%2Fme' })).rejects.toMatchObject({
    code: 'NOT_FOUND'
  })
})
