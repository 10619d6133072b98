import { afterAll, beforeAll, expect, it } from 'vitest'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { set } from '../api/checkout-support.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: { products: [{ slug: 'mug', name: 'Mug', price: '24.99' }] }
  })
  set(shop, { 'shop.country': 'DE' })
  presetEu(shop.app.db, { ownRate: false }, 0)
})
afterAll(() => shop.stop())

it('a business gives its VAT id, sees the price without tax, and orders at that price', async () => {
  const buyer = shop.visitor()
  const inFrance = { lastName: 'Roux', address1: 'Rue 1', city: 'Paris', postcode: '75001', country: 'FR' }
  const body = { items: [{ productId: 1, quantity: 1 }], shippingAddress: inFrance, customer: { email: 'a@b.example' } }
  const placed = await buyer.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', body)
  const url = placed.data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  const order = () => getOrderByPublicToken(shop.app.db, placed.data.orderToken)
  const send = async (fields: Record<string, string>) => {
    const { status } = await buyer.form(url, { payment_method: 'manual', ...fields })
    expect(status).toBe(303)
    return (await buyer.get(url)).text
  }
  expect((await buyer.get(url)).text).toContain('incl. 20 % VAT')
  expect(await send({ action: 'vatId', vatId: 'FR1' })).toContain('Please enter a VAT id with its country code')
  // The button that orders does not leave out an id with a mistake.
  expect(await send({ vatId: 'FR40303265046', total: '2499' })).toContain('Please enter a VAT id with its country code')
  expect(order()).toMatchObject({ status: 'pending', vatId: null })
  // Enter in the field orders; the new total is shown first.
  const page = await send({ vatId: 'fr 40303265045', total: '2499' })
  expect(page).toContain('Intra-Community supply')
  expect(page).toContain('€20.83')
  expect(order()).toMatchObject({ status: 'pending', vatId: 'FR40303265045', taxMinor: 0, totalMinor: 2083 })
  await send({ action: 'vatId', vatId: '' })
  expect(order()).toMatchObject({ vatId: null, taxMinor: 417, totalMinor: 2499 })
  expect(await send({ action: 'vatId', vatId: 'FR40303265045' })).toContain('name="vatIdShown"')
  // The button that orders removes an id that the buyer emptied, and shows the new total first.
  expect(await send({ vatId: '', vatIdShown: '1', total: '2083' })).toContain('incl. 20 % VAT')
  expect(order()).toMatchObject({ status: 'pending', vatId: null, totalMinor: 2499 })
  await send({ action: 'vatId', vatId: 'FR40303265045' })
  await send({ vatId: 'FR40303265045', total: '2083' })
  expect(order()).toMatchObject({ status: 'on-hold', totalMinor: 2083 })
})
