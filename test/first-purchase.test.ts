import { afterAll, beforeAll, expect, test } from 'vitest'
import { startShop } from './support/running-shop.ts'
import type { RunningShop } from './support/running-shop.ts'
import { quay } from './support/addresses.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())

type Order = Record<string, unknown> & { status: string; lineItems: unknown[] }

test('a visitor registers, buys through an affiliate, pays in the sandbox and finds the order with its attribution', async () => {
  const ada = shop.visitor()
  const { data: anonymous } = await ada.get('/nonce')
  expect(anonymous).toEqual({ nonce: expect.any(String), headerName: 'X-Nonce', userLoggedIn: false, user: null })

  const registered = await ada.register()
  expect(registered.status).toBe(201)
  expect(registered.meta).toMatchObject({ nextStep: 'NONE' })
  expect(registered.data).toMatchObject({ next: '/api/v1/me', flags: { isLoggedIn: true } })

  const { data: offers } = await ada.get<{ offers: { productId: number; name: string }[] }>('/store/offers')
  const mug = offers.offers.find((offer) => offer.name === 'Mug')
  const created = await ada.post<{ checkoutUrl: string; orderId: string; orderToken: string }>(
    '/store/checkout-session?utm_source=newsletter&utm_medium=email',
    {
      items: [{ productId: mug?.productId, quantity: 2 }],
      shippingAddress: quay,
      returnUrl: 'https://site.example/thanks?x=1'
    }
  )
  expect(created.status).toBe(200)
  expect(created.data.orderId).toMatch(/^\d+$/)

  const page = await ada.fetch(onLoopback(created.data.checkoutUrl))
  expect(page.status).toBe(200)
  const paid = await ada.form(onLoopback(created.data.checkoutUrl), { payment_method: 'pm_card_visa' })
  expect(paid.status).toBe(303)
  const { orderId, orderToken } = created.data
  expect(await ada.comeBack(paid)).toBe(
    `https://site.example/thanks?x=1&orderId=${orderId}&orderToken=${orderToken}&result=success`
  )

  const { data } = await ada.get<{ orders: Order[] }>('/orders')
  expect(data.orders).toHaveLength(1)
  expect(data.orders[0]).toMatchObject({
    id: Number(created.data.orderId),
    status: 'processing',
    total: 25,
    lineItems: [{ name: 'Mug', quantity: 2, total: 25 }],
    affiliateRef: '',
    orderAttributionSourceType: 'utm',
    orderAttributionUtmSource: 'newsletter',
    marketingUtmMedium: 'email'
  })

  const { data: me } = await ada.get<{ entitlements: { ordersSummary: unknown } }>('/me')
  expect(me.entitlements.ordersSummary).toMatchObject({ totalOrders: 1 })
})

test('logging out ends the session and its cookie, and logging in starts another', async () => {
  const visitor = shop.visitor()
  await visitor.register({ email: 'grace@example.com' })
  expect((await visitor.post('/auth/logout')).data).toEqual({ loggedOut: true })
  // The device cookie stays: this browser keeps its own allowance of failed logins.
  expect([...visitor.cookies.keys()]).toEqual(['shopstead_device'])
  expect((await visitor.get('/me')).status).toBe(401)
  const back = await visitor.post('/auth/login', { username: 'grace', password: 'tidal-basalt-93', rememberMe: true })
  expect(back.status).toBe(200)
  expect((await visitor.get('/me')).status).toBe(200)
})

/** The public URL names localhost, which may resolve to another address than the one that is listened on. */
function onLoopback(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:')
}
