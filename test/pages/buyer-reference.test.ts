import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { set } from '../api/checkout-support.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const reference = '04011000-1234512345-06'
const hamburg = { lastName: 'Kai', address1: 'Kai 1', city: 'Hamburg', postcode: '20457', country: 'DE' }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: { products: [{ slug: 'mug', name: 'Mug', price: '24.99' }] }
  })
  set(shop, { 'shop.country': 'DE' })
})
afterAll(() => shop.stop())

async function placeOrder(body: object) {
  const buyer = shop.visitor()
  const { data } = await buyer.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    customer: { email: 'bill@hafen.example' },
    shippingAddress: hamburg,
    ...body
  })
  const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  return { buyer, url, order: () => getOrderByPublicToken(shop.app.db, data.orderToken) }
}

it('a business gives a reference on the payment page, and its invoice keeps it', async () => {
  const { buyer, url, order } = await placeOrder({ shippingAddress: { ...hamburg, company: 'Hafen & Co' } })
  expect((await buyer.get(url)).text).toContain('name="buyerReference"')
  const tooLong = await buyer.form(url, { payment_method: 'manual', buyerReference: 'x'.repeat(101) })
  expect([tooLong.status, order().status]).toEqual([303, 'pending'])
  await buyer.form(url, { payment_method: 'manual', buyerReference: ` ${reference} ` })
  expect(order()).toMatchObject({ status: 'on-hold', buyerReference: reference })
  const paid = markPaid(shop.app.db, order().id, 'operator', shop.app.clock.now())
  expect(documentsOf(shop.app.db, paid.id)[0]?.buyer).toMatchObject({ reference })
})

it('a consumer is not asked for one, and cannot send one to the page', async () => {
  const { buyer, url, order } = await placeOrder({})
  expect((await buyer.get(url)).text).not.toContain('buyerReference')
  await buyer.form(url, { payment_method: 'manual', buyerReference: reference })
  expect(order()).toMatchObject({ status: 'on-hold', buyerReference: null })
})

it('a site sends it with the checkout, and the buyer corrects or removes it', async () => {
  const { buyer, url, order } = await placeOrder({ buyerReference: reference })
  expect(order().buyerReference).toBe(reference)
  expect((await buyer.get(url)).text).not.toContain('name="buyerReference"')
  expect((await buyer.get(`${url}?change`)).text).toContain(`value="${reference}"`)
  const changed = { change: '1', payment_method: 'manual', email: 'bill@hafen.example', ...hamburg }
  await buyer.form(url, { ...changed, buyerReference: '' })
  expect(order()).toMatchObject({ status: 'on-hold', buyerReference: null })
})

it('refuses one of more than 100 characters in the checkout and names the field', async () => {
  const refused = await shop.visitor().post('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    buyerReference: 'x'.repeat(101)
  })
  expect([refused.status, JSON.stringify(refused.error)]).toEqual([422, expect.stringContaining('buyerReference')])
})

it('a business gives a reference in the cart, which is open after a refusal, and the order has it', async () => {
  set(shop, { 'storefront.enabled': 'true', 'checkout.guestEmail': 'optional' })
  const buyer = shop.visitor()
  await buyer.form(`${shop.url}/cart`, { slug: 'mug', quantity: '1' })
  const closed = await (await buyer.fetch(`${shop.url}/cart`)).text()
  expect(closed).toMatch(/<details class="extra" id="extra-business">/)
  const typed = { email: 'bill@hafen.example', firstName: 'Bill', ...hamburg }
  const tooLong = await buyer.form(`${shop.url}/cart`, { ...typed, pay: '1', buyerReference: 'x'.repeat(101) })
  expect(await tooLong.text()).toMatch(/id="extra-business" open>[^]*Must have at most 100 characters/)
  const placed = await buyer.form(`${shop.url}/cart`, { ...typed, pay: '1', buyerReference: reference })
  const token = /checkout\/([\w-]+)/.exec(placed.headers.get('location') ?? '')?.[1] ?? ''
  expect(getOrderByPublicToken(shop.app.db, token).buyerReference).toBe(reference)
})
