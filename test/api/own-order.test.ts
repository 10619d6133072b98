import { afterAll, beforeAll, expect, it } from 'vitest'
import { switchModule } from '../../src/shop/settings/settings.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { quay } from '../support/addresses.ts'
import { checkOut, lamp, mug, set } from './checkout-support.ts'

type Seen = { order: Record<string, unknown>; canPay: boolean; payUrl: string | null; canCancel: boolean }

let shop: RunningShop
let buyer: Browser
beforeAll(async () => {
  shop = await startShop()
  set(shop, withoutHoldLimits)
  buyer = shop.visitor()
  await buyer.register({ email: 'ada@shop.example' })
})
afterAll(() => shop.stop())

const read = (id: number | string, by = buyer): Promise<Answer<Seen>> => by.get<Seen>(`/orders/${id}`)

it('shows a customer their own order with products, addresses and the token that cancels it', async () => {
  const address = quay
  const { data: placed } = await checkOut(buyer, {
    items: [mug, { ...lamp, quantity: 2 }],
    couponCode: 'TEN',
    shippingAddress: address
  })
  const { status, data } = await read(placed.orderId)
  expect(status).toBe(200)
  const {
    data: { subscription, downloads, accountAccess, ...byToken }
  } = await buyer.get<Seen & { subscription: null; downloads: []; accountAccess: null }>(
    `/store/orders/${placed.orderToken}`
  )
  expect([subscription, downloads, accountAccess]).toEqual([null, [], null])
  expect(data).toEqual({
    ...byToken,
    order: {
      ...byToken.order,
      email: 'ada@shop.example',
      orderToken: placed.orderToken,
      lines: [
        expect.objectContaining({ productId: 1, variationId: null, productSlug: 'mug', type: 'physical', quantity: 1 }),
        expect.objectContaining({ productId: 2, productSlug: 'lamp', quantity: 2 })
      ],
      billingAddress: null,
      shippingAddress: address
    }
  })
  const lines = data.order['lines'] as { unitPrice: number; quantity: number; total: number }[]
  const { subtotal, total } = data.order['totals'] as { subtotal: number; total: number }
  expect(lines.reduce((sum, { unitPrice, quantity }) => sum + unitPrice * quantity, 0)).toBeCloseTo(subtotal)
  expect(lines.reduce((sum, line) => sum + line.total, 0)).toBeCloseTo(total)
})

it('names no product page for a product that is not sold any more', async () => {
  const { data: placed } = await checkOut(buyer, { items: [mug] })
  const publish = shop.app.db.sqlite.prepare('UPDATE products SET published = ? WHERE id = 1')
  publish.run(0)
  const { data } = await read(placed.orderId)
  publish.run(1)
  expect(data.order['lines']).toMatchObject([{ productId: 1, productSlug: null }])
})

it('does not tell another person, a guest, or a stopped shop anything about an order', async () => {
  const { data: placed } = await checkOut(buyer, { items: [mug] })
  const other = shop.visitor()
  await other.register({ email: 'eve@shop.example' })
  const missing = await read(999_999, other)
  expect([missing.status, missing.error.code]).toEqual([404, 'NOT_FOUND'])
  const foreign = await read(placed.orderId, other)
  expect([foreign.status, foreign.error]).toEqual([404, missing.error])
  expect((await read(placed.orderId, shop.visitor())).error.code).toBe('NOT_AUTHENTICATED')
  switchModule(shop.app.db, 'commerce', false, Date.now())
  expect((await read(placed.orderId)).status).toBe(404)
  switchModule(shop.app.db, 'commerce', true, Date.now())
})
