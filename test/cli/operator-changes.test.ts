import { afterAll, beforeAll, expect, test } from 'vitest'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { shopstead } from '../support/command-line.ts'
import { quay } from '../support/addresses.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())

test('the currency is changed with the prices until there is an order, and never after', async () => {
  const set = (value: string) => shopstead(shop.dataDir, ['settings', 'set', 'shop.currency', value, '--json'])
  expect((await set('USD')).json).toMatchObject({
    error: { code: 'CONFLICT', message: expect.stringContaining('offers convert USD --rate') }
  })
  const convert = (...words: string[]) => shopstead(shop.dataDir, ['offers', 'convert', ...words, '--yes', '--json'])
  expect((await convert('USD', '--rate', '1.10')).json).toMatchObject({ from: 'EUR', currency: 'USD' })
  expect((await convert('EUR', '--rate', '0.9090909')).json).toMatchObject({ error: { code: 'VALIDATION_FAILED' } })
  expect((await convert('EUR', '--rate', '0.909091')).code).toBe(0)
  await shop
    .visitor()
    .post('/store/checkout-session', { items: [{ productId: 1, quantity: 1 }], shippingAddress: quay })
  const refused = await set('USD')
  expect([refused.code, refused.json]).toMatchObject([1, { error: { code: 'CONFLICT' } }])
  expect((await convert('USD', '--rate', '2')).json).toMatchObject({ error: { code: 'CONFLICT' } })
  expect((await set('EUR')).code).toBe(0)
})

test("a product's address must be one, with the product's name in it", async () => {
  const set = (value: string) => shopstead(shop.dataDir, ['settings', 'set', 'store.productUrl', value, '--json'])
  expect((await set('foo')).json).toMatchObject({ error: { code: 'VALIDATION_FAILED' } })
  expect((await set('javascript:alert({slug})')).code).toBe(1)
  expect((await set('https://www.example.com/shop/{slug}')).code).toBe(0)
})

test('terms of no known form are stored with a warning', async () => {
  const set = (value: string) =>
    shopstead(shop.dataDir, ['settings', 'set', 'affiliates.termsVersion', value, '--json'])
  expect(await set('spring')).toMatchObject({ code: 0, stderr: expect.stringContaining('neither a date') })
  expect(await set('2026-01-31')).toMatchObject({ code: 0, stderr: '' })
})

test('an order that an operator cancels can be paid no more', async () => {
  const visitor = shop.visitor()
  const { data } = await visitor.post<{ orderId: string; checkoutUrl: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    shippingAddress: quay,
    customer: { email: 'ada@example.com' }
  })
  const cancelled = await shopstead(shop.dataDir, ['orders', 'cancel', data.orderId, '--yes', '--json'])
  expect(cancelled.json).toMatchObject({ order: { status: 'cancelled' } })
  const page = data.checkoutUrl.replace('localhost', '127.0.0.1')
  expect((await visitor.form(page, { payment_method: 'pm_card_visa' })).status).toBe(410)
})
