import { afterAll, beforeAll, expect, it } from 'vitest'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { taxesOfOrder } from '../../src/shop/orders/totals.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { set } from '../api/checkout-support.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const parcel = { id: 'parcel', name: 'Parcel', amount: '6.00', freeFrom: '48.00' }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: {
      products: [{ slug: 'mug', name: 'Mug', price: '12.00' }],
      coupons: [
        { code: 'TEN', percent: 10 },
        { code: 'CENT', amount: '0.01' }
      ],
      shipping: [{ zone: 'Europe', countries: ['DE', 'FR'], methods: [parcel] }]
    }
  })
  set(shop, { 'shop.country': 'DE' })
  presetEu(shop.app.db, { ownRate: false }, 0)
})
afterAll(() => shop.stop())

const inFrance = { lastName: 'Roux', address1: 'Rue 1', city: 'Paris', postcode: '75001', country: 'FR' }

async function place(quantity: number) {
  const buyer = shop.visitor()
  const items = [{ productId: 1, quantity }]
  const body = { items, shippingAddress: inFrance, shippingMethod: 'parcel', customer: { email: 'a@b.example' } }
  const placed = await buyer.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', body)
  const url = placed.data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  const order = (): OrderRow => getOrderByPublicToken(shop.app.db, placed.data.orderToken)
  const send = async (fields: Record<string, string>): Promise<void> => {
    expect((await buyer.form(url, { payment_method: 'manual', ...fields })).status).toBe(303)
  }
  return { order, send }
}

const categories = ({ id }: OrderRow) => taxesOfOrder(shop.app.db, id).map(({ category }) => category)
const sums = ({ discountMinor, shippingMinor, totalMinor }: OrderRow) => ({ discountMinor, shippingMinor, totalMinor })

it('a coupon below the minimum for free shipping adds the price of shipping', async () => {
  const { order, send } = await place(4)
  expect(sums(order())).toEqual({ discountMinor: 0, shippingMinor: 0, totalMinor: 4800 })
  await send({ coupon: 'CENT' })
  expect(sums(order())).toEqual({ discountMinor: 1, shippingMinor: 600, totalMinor: 5399 })
})

it('a coupon that leaves enough for free shipping leaves it free', async () => {
  const { order, send } = await place(5)
  await send({ coupon: 'TEN' })
  expect(sums(order())).toEqual({ discountMinor: 600, shippingMinor: 0, totalMinor: 5400 })
})

it('a VAT id computes the price of shipping for the goods without tax, and without it again with tax', async () => {
  const { order, send } = await place(4)
  await send({ action: 'vatId', vatId: 'FR40303265045' })
  expect([categories(order()), sums(order())]).toEqual([
    ['supply'],
    { discountMinor: 0, shippingMinor: 500, totalMinor: 4000 + 500 }
  ])
  await send({ action: 'vatId', vatId: '' })
  expect([categories(order()), sums(order())]).toEqual([
    ['taxed'],
    { discountMinor: 0, shippingMinor: 0, totalMinor: 4800 }
  ])
})
