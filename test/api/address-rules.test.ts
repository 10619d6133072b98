import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Quote } from '../../src/shop/checkout/shapes.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { listOrdersToPack } from '../../src/shop/shipments/pack-list.ts'
import { quay } from '../support/addresses.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { checkOut, fieldErrors, handoff, set } from './checkout-support.ts'

const mug = { productId: 1, quantity: 1 }
const print = { productId: 2, quantity: 1 }
const { firstName, lastName: _last, ...place } = quay

let shop: RunningShop
beforeAll(async () => {
  const methods = [
    { id: 'parcel', name: 'Parcel', amount: '4.90' },
    { id: 'shop', name: 'In the shop', amount: '0', pickup: true }
  ]
  shop = await startShop({
    seed: {
      products: [
        { slug: 'mug', name: 'Mug', price: '10.00' },
        { slug: 'print', name: 'Print', price: '5.00', type: 'digital' },
        { slug: 'gone', name: 'Gone', price: '5.00', stock: 0 }
      ],
      shipping: [{ zone: 'World', countries: ['DE', 'US'], methods }]
    }
  })
  set(shop, { ...withoutHoldLimits, 'shop.country': 'DE' })
})
afterAll(() => shop.stop())

const ways = [
  ['a redirect', {}],
  ['token_handoff', handoff]
] as const

describe.each(ways)('an address of %s', (_way, how) => {
  const parcel = { items: [mug], shippingMethod: 'parcel', ...how }

  it.each([
    ['without the name of the recipient', { shippingAddress: place }, ['shippingAddress.firstName']],
    ['with a postcode of no town', { shippingAddress: { ...quay, postcode: 'ABC' } }, ['shippingAddress.postcode']],
    [
      'without town, postcode and state',
      { shippingAddress: { firstName, address1: '1 Main St', country: 'US' } },
      ['shippingAddress.city', 'shippingAddress.state', 'shippingAddress.postcode']
    ],
    ['without a country', { shippingAddress: { ...quay, country: '' } }, ['shippingAddress.country']],
    [
      'of an invoice to which the goods go',
      { shippingAddress: undefined, billingAddress: place },
      ['billingAddress.firstName']
    ],
    ['of an invoice', { shippingAddress: quay, billingAddress: { ...place, city: '' } }, ['billingAddress.city']]
  ])('%s is refused by its field, and the quote has the same problem', async (_what, addresses, fields) => {
    const buyer = shop.visitor()
    const body = { ...parcel, ...addresses }
    const refused = await checkOut(buyer, body)
    expect(refused.status).toBe(422)
    expect(fieldErrors(refused)).toEqual(expect.arrayContaining(fields))
    const { data } = await buyer.post<Quote>('/store/quote', body)
    expect(data.payable).toBe(false)
    expect(
      data.problems
        .filter(({ code }) => code === 'address_invalid')
        .map(({ path }) => path)
        .toSorted()
    ).toEqual(fields.toSorted())
    expect(refused.error.details['problems']).toEqual(data.problems)
  })

  it.each([
    ['the name of the buyer', { shippingAddress: place, customer: { lastName: 'Quill' } }],
    ['a company', { shippingAddress: { ...place, company: 'Quill Ltd' } }],
    ['a whole name', { shippingAddress: { ...place, name: 'Ada Quill' } }],
    ['nothing, because the goods are picked up', { shippingAddress: place, shippingMethod: 'shop' }],
    ['nothing, because nothing is shipped', { billingAddress: place, shippingAddress: place, items: [print] }]
  ])('with %s is taken', async (_what, fields) => {
    expect((await checkOut(shop.visitor(), { ...parcel, ...fields })).status).toBe(200)
  })

  it('names everything that the quote names', async () => {
    const buyer = shop.visitor()
    const body = { ...parcel, items: [{ productId: 3, quantity: 1 }, mug], couponCode: 'NONE', shippingAddress: place }
    const { error } = await checkOut(buyer, body)
    const { data } = await buyer.post<Quote>('/store/quote', body)
    expect(error.details['problems']).toEqual(data.problems)
    expect(data.problems.map(({ code }) => code)).toEqual(['sold_out', 'coupon_unknown', 'address_invalid'])
  })
})

it('the page of an order asks for the name of the recipient, and nothing is packed without one', async () => {
  const buyer = shop.visitor()
  const { data } = await buyer.post<{ orderToken: string }>('/store/checkout-session', { items: [mug] })
  const url = `${shop.url}/checkout/${data.orderToken}`
  const typed = { payment_method: 'card', email: 'ada@example.com', shipping_method: 'parcel', ...place }
  const { html } = await buyer.submit(url, typed)
  expect(html).toContain('Please enter the name of the recipient.')
  const order = () => getOrderByPublicToken(shop.app.db, data.orderToken)
  expect(order().shippingAddress).toBeNull()
  const sent = await buyer.form(url, { ...typed, lastName: 'Quill' })
  expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
  expect(order().shippingAddress).toEqual({ ...place, lastName: 'Quill' })
  for (const { shipTo } of listOrdersToPack(shop.app.db)) expect(shipTo[0]).not.toBe(place.address1)
})
