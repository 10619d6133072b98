import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Quote } from '../../src/shop/checkout/shapes.ts'
import { unsetSetting } from '../../src/shop/settings/settings.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { set } from './checkout-support.ts'

const seed = {
  products: [
    { slug: 'mug', name: 'Mug', price: '24.99' },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' }
  ],
  coupons: [{ code: 'TEN', percent: 10 }]
}
const mug = { productId: 1, quantity: 1 }
const inFrance = {
  shippingAddress: { lastName: 'Roux', address1: 'Rue 1', city: 'Paris', postcode: '75001', country: 'FR' }
}
const french = { vatId: 'fr 40 303265045' }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed })
  set(shop, { 'shop.country': 'DE' })
  presetEu(shop.app.db, { ownRate: false }, 0)
})
afterAll(() => shop.stop())
beforeEach(() => unsetSetting(shop.app.db, 'tax.pricesIncludeTax'))

/** The quote of a cart, and the totals of the order that the same body makes. */
async function bought(body: object) {
  const buyer = shop.visitor()
  const { data: quote } = await buyer.post<Quote>('/store/quote', body)
  const placed = await buyer.post<{ orderToken: string }>('/store/checkout-session', body)
  if (placed.status !== 200) throw new Error(placed.text)
  const { data } = await buyer.get<{ order: { totals: object; taxes: Quote['tax']['lines'] } }>(
    `/store/orders/${placed.data.orderToken}`
  )
  expect(data.order.taxes).toEqual(quote.tax.lines)
  return { quote, totals: data.order.totals }
}

describe('a quote and its order have the same tax', () => {
  it('included in the price, at the rate of the destination', async () => {
    const { quote, totals } = await bought({ items: [mug], ...inFrance, couponCode: 'TEN' })
    const lines = [{ name: 'VAT', ratePercent: 20, amount: 3.75 }]
    expect(quote).toMatchObject({
      subtotal: 24.99,
      discount: 2.5,
      tax: { included: true, amount: 3.75, lines },
      total: 22.49
    })
    expect(totals).toMatchObject({ tax: 3.75, taxIncluded: true, total: 22.49 })
  })

  it('added to the price, of two countries with rates of one name', async () => {
    set(shop, { 'tax.pricesIncludeTax': 'false' })
    const billingAddress = { address1: 'Ring 1', city: 'Wien', postcode: '1010', country: 'AT' }
    const { totals } = await bought({ items: [mug, { productId: 2, quantity: 1 }], ...inFrance, billingAddress })
    expect(totals).toMatchObject({ subtotal: 34.98, tax: 7, total: 41.98 })
    expect(shop.app.sandbox?.ledger().sessions.at(-1)?.amount_total).toBe(4198)
  })

  it('at the rate of the address with a street, to which the goods are shipped', async () => {
    const addresses = { billingAddress: inFrance.shippingAddress, shippingAddress: { country: 'US' } }
    const { quote, totals } = await bought({ items: [mug], ...addresses })
    expect(quote.tax.lines).toEqual([{ name: 'VAT', ratePercent: 20, amount: 4.17 }])
    expect(totals).toMatchObject({ tax: 4.17, total: 24.99 })
  })

  it('added to the price', async () => {
    set(shop, { 'tax.pricesIncludeTax': 'false' })
    const { quote, totals } = await bought({ items: [mug, { productId: 2, quantity: 3 }], ...inFrance })
    expect(quote).toMatchObject({ subtotal: 54.96, tax: { included: false, amount: 10.99 }, total: 65.95 })
    expect(totals).toMatchObject({ subtotal: 54.96, tax: 10.99, taxIncluded: false, total: 65.95 })
  })

  it('taken out of the price for a business in another member state', async () => {
    const { quote, totals } = await bought({ items: [mug], ...inFrance, customer: french })
    const tax = { included: true, amount: 0, lines: [{ name: 'Intra-Community supply', ratePercent: 0, amount: 0 }] }
    expect(quote).toMatchObject({ lines: [{ unitPrice: 20.83, total: 20.83 }], tax, total: 20.83 })
    expect(totals).toMatchObject({ subtotal: 20.83, tax: 0, total: 20.83 })
  })

  it('of the shop’s country while the address is unknown', async () => {
    const { quote } = await bought({ items: [mug] })
    expect(quote.tax.lines).toEqual([{ name: 'VAT', ratePercent: 19, amount: 3.99 }])
  })
})

it('a text that is not a VAT id is a problem of the quote and refused by checkout', async () => {
  const body = { items: [mug], ...inFrance, customer: { vatId: 'FR40303265046' } }
  const problem = { path: 'customer.vatId', code: 'vat_id_invalid' }
  const { data } = await shop.visitor().post<Quote>('/store/quote', body)
  expect(data).toMatchObject({ payable: false, problems: [problem], tax: { included: true } })
  const refused = await shop.visitor().post('/store/checkout-session', body)
  expect(refused).toMatchObject({ status: 422, error: { details: { problems: [problem] } } })
})
