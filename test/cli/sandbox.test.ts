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

async function placeOrder(): Promise<string> {
  const visitor = shop.visitor()
  const { data } = await visitor.post<{ orderId: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    shippingAddress: quay,
    customer: { email: 'ada@example.com' }
  })
  return data.orderId
}

test('an order is paid from a terminal beside a running server', async () => {
  const order = await placeOrder()
  const declined = await shopstead(shop.dataDir, [
    'sandbox',
    'pay',
    order,
    '--payment-method',
    'pm_card_visa_chargeDeclined',
    '--json'
  ])
  expect(declined.code).toBe(1)
  expect(declined.json).toMatchObject({ error: { code: 'CHECKOUT_FAILED' } })
  const paid = await shopstead(shop.dataDir, ['sandbox', 'pay', order, '--json'])
  expect(paid.json).toMatchObject({ orderId: Number(order), status: 'processing' })
})

test('a dispute lost at the bank refunds the order', async () => {
  const order = await placeOrder()
  await shopstead(shop.dataDir, ['sandbox', 'pay', order, '--json'])
  expect((await shopstead(shop.dataDir, ['sandbox', 'dispute', order, '--json'])).json).toMatchObject({
    status: 'on-hold'
  })
  const other = await placeOrder()
  await shopstead(shop.dataDir, ['sandbox', 'pay', other, '--json'])
  expect((await shopstead(shop.dataDir, ['sandbox', 'dispute', other, '--lost', '--json'])).json).toMatchObject({
    status: 'refunded'
  })
})

test('an open dispute is decided, instead of opening a second one', async () => {
  const order = await placeOrder()
  const { json: before } = await shopstead<{ status: string }>(shop.dataDir, ['sandbox', 'pay', order, '--json'])
  const opened = await shopstead<{ dispute: string }>(shop.dataDir, ['sandbox', 'dispute', order, '--json'])
  expect(opened.json).toMatchObject({ status: 'on-hold' })
  expect((await shopstead(shop.dataDir, ['sandbox', 'dispute', order, '--won', '--json'])).json).toMatchObject({
    status: before.status,
    dispute: opened.json.dispute
  })
})

test('a fault asked for in a terminal strikes the running server, and is gone when cleared', async () => {
  const args = ['sandbox', 'fault', 'checkout.sessions.create', '500', '--times', '-1', '--json']
  const added = await shopstead(shop.dataDir, args)
  expect(added.json).toMatchObject({ fault: { target: 'checkout.sessions.create', fault: '500', times: -1 } })
  const visitor = shop.visitor()
  const refused = await visitor.post('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    shippingAddress: quay
  })
  expect([refused.status, refused.error.code]).toEqual([502, 'CHECKOUT_FAILED'])
  expect((await shopstead(shop.dataDir, ['sandbox', 'clear-faults', '--json'])).json).toEqual({ faults: [] })
  expect(
    (await visitor.post('/store/checkout-session', { items: [{ productId: 1, quantity: 1 }], shippingAddress: quay }))
      .status
  ).toBe(200)
})

test('a fault that could never strike is wrong usage', async () => {
  const wrong = await shopstead(shop.dataDir, ['sandbox', 'fault', 'nowhere', 'timeout', '--json'])
  expect([wrong.code, wrong.json]).toMatchObject([2, { error: { code: 'USAGE' } }])
})
