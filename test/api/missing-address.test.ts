import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { listOrdersToPack } from '../../src/shop/shipments/pack-list.ts'
import { quay } from '../support/addresses.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { checkOut, handoff, orderOf, set, shopFor } from './checkout-support.ts'

const methods = [
  { id: 'express', name: 'Express', amount: '12.00' },
  { id: 'parcel', name: 'Parcel', amount: '4.90' },
  { id: 'shop', name: 'In the shop', amount: '0', pickup: true }
]
const seed = {
  products: [{ slug: 'mug', name: 'Mug', price: '12.50' }],
  shipping: [{ zone: 'Germany', countries: ['DE'], methods }]
}
const body = { items: [{ productId: 1, quantity: 1 }], ...handoff }

describe('a token_handoff without an address', () => {
  it('is refused by default, and is paid with the cheapest parcel to the shop’s country with ask', async () => {
    const shop = await shopFor({ seed, settings: { 'shop.country': 'DE' } })
    const buyer = shop.visitor()
    expect((await checkOut(buyer, body)).status).toBe(422)
    set(shop, { 'checkout.missingAddress': 'ask' })
    const { data: quote } = await buyer.post<{ payable: boolean; total: number }>('/store/quote', body)
    expect([quote.payable, quote.total]).toEqual([true, 17.4])
    const customer = { email: 'ada@example.com' }
    const bought = await checkOut(buyer, { ...body, customer })
    expect(orderOf(shop, bought).order).toMatchObject({
      totalMinor: 1740,
      shippingMethod: { id: 'parcel' },
      shippingAddress: null,
      status: 'processing'
    })
    // A choice of the buyer that does not exist is still an error, and so is another country.
    expect((await checkOut(buyer, { ...body, shippingMethod: 'drone' })).status).toBe(422)
    expect((await checkOut(buyer, { ...body, shippingAddress: { ...quay, country: 'FR' } })).status).toBe(422)
    const addressed = await checkOut(buyer, { ...body, shippingAddress: quay })
    expect(orderOf(shop, addressed).order).toMatchObject({ shippingMethod: { id: 'parcel' }, shippingAddress: quay })
  })

  it('waits for the address, which the buyer enters once on its own page', async () => {
    const settings = { 'shop.country': 'DE', 'checkout.missingAddress': 'ask' }
    const shop = await shopFor({ seed, settings })
    const buyer = shop.visitor()
    const { data } = await checkOut(buyer, body)
    const other = await checkOut(shop.visitor(), body)
    const page = `${shop.url}/checkout/address/${data.orderToken}`
    const read = async () =>
      (await buyer.get<{ addressUrl: string | null }>(`/store/orders/${data.orderToken}`)).data.addressUrl
    expect([await read(), [...listOrdersToPack(shop.app.db)]]).toEqual([
      page.replace(shop.url, shop.app.publicUrl()),
      []
    ])
    const status = await (await buyer.fetch(`${shop.url}/checkout/done/${data.orderToken}`)).text()
    expect(status).toContain(`href="/checkout/address/${data.orderToken}"`)
    const wrong = await buyer.form(page, { ...quay, postcode: 'ABC', firstName: '', lastName: 'Quill' })
    const text = await wrong.text()
    expect([wrong.status, text.includes('value="Quay 7"'), text.includes('aria-invalid')]).toEqual([422, true, true])
    const saved = await buyer.form(page, { ...quay, firstName: 'Ada', lastName: 'Quill' })
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `/checkout/done/${data.orderToken}`])
    expect([await read(), [...listOrdersToPack(shop.app.db)]]).toMatchObject([
      null,
      [{ id: data.orderId, shipTo: ['Ada Quill', 'Quay 7', '20457 Hamburg', 'Germany'] }]
    ])
    // Everyone with the link could send the goods elsewhere otherwise.
    await buyer.form(page, { ...quay, address1: 'Elsewhere 1', firstName: 'Eve', lastName: 'Other' })
    expect(orderOf(shop, { data } as typeof other).order.shippingAddress).toMatchObject({ address1: 'Quay 7' })
    expect(orderOf(shop, other).order.shippingAddress).toBeNull()
  })
})

describe('the demo shop', () => {
  const demo = JSON.parse(readFileSync('seeds/demo/catalog.json', 'utf8')) as { products: object[] }
  const settings = JSON.parse(readFileSync('seeds/demo/settings.json', 'utf8')) as Record<string, string>
  let shop: RunningShop
  beforeAll(async () => {
    shop = await startShop({ seed: demo })
    set(shop, { ...settings, ...withoutHoldLimits, 'limits.checkout_ip': 'off' })
  })
  afterAll(() => shop.stop())

  it.each(['token_handoff', 'redirect_to_store'])(
    'sells every offer by the documented fields: %s',
    async (strategy) => {
      type Offers = {
        offers: {
          productId: number
          name: string
          available: boolean
          variations: { variationId: number; available: boolean }[]
        }[]
      }
      const { offers } = (await shop.visitor().get<Offers>('/store/offers')).data
      const wanted = offers.filter(({ available }) => available)
      expect(wanted.length).toBeGreaterThan(30)
      const { paymentToken, returnUrl } = handoff
      const payment = strategy === 'token_handoff' ? { strategy, paymentToken, returnUrl } : { strategy, returnUrl }
      for (const { productId, name, variations } of wanted) {
        const chosen = variations.find(({ available }) => available)
        const item = { productId, quantity: 1, ...(chosen === undefined ? {} : { variationId: chosen.variationId }) }
        const { status, text } = await shop.visitor().post('/store/checkout-session', { items: [item], ...payment })
        expect([name, status, status === 200 ? '' : text]).toEqual([name, 200, ''])
      }
    },
    60_000
  )
})
