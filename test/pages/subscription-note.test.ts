import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { composeEmail } from '../../src/shop/mailer/compose.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const club = {
    slug: 'club',
    name: 'Club',
    price: '5.00',
    type: 'digital',
    grants: [{ kind: 'subscription', interval: 'month' }]
  }
  shop = await startShop({ seed: { products: [club, { slug: 'mug', name: 'Mug', price: '12.50' }] } })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

async function pageOfPaid(visitor: Browser, productId: number): Promise<{ id: number; before: string; page: string }> {
  const { data } = await visitor.post<{ orderId: string; orderToken: string }>('/store/checkout-session', {
    items: [{ productId, quantity: 1 }],
    customer: { email: 'ada@shop.example' }
  })
  const id = Number(data.orderId)
  const read = async (): Promise<string> => (await visitor.fetch(`${shop.url}/checkout/done/${data.orderToken}`)).text()
  const before = await read()
  write(shop.app.db, (tx) => moveOrder(tx, id, 'processing', { by: 'test', reason: 'paid' }, Date.now()))
  return { id, before, page: await read() }
}

it('tells a guest with a subscription on the page of the order and in the receipt how to end it', async () => {
  const { id, before, page } = await pageOfPaid(shop.visitor(), 1)
  expect(before).not.toContain('end your subscription')
  expect(page).toMatch(/end your subscription[^<]*create an account[^<]*<a href="\/register\?next=\/account">/)
  const receipt = composeEmail(shop.app, { template: 'order_receipt', data: { orderId: id } }, Date.now())
  expect(receipt.closing.join(' ')).toContain(
    'You can end your subscription at any time. The page of your order says how.'
  )
})

it('leads a customer with an account there, and says nothing about an order without a subscription', async () => {
  const customer = shop.visitor()
  await customer.register({ email: 'bo@shop.example' })
  expect((await pageOfPaid(customer, 1)).page).toMatch(/end your subscription[^<]*<a href="\/account">/)
  expect((await pageOfPaid(shop.visitor(), 2)).page).not.toContain('subscription')
})
