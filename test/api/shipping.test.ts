import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import type { Quote } from '../../src/shop/checkout/shapes.ts'
import { getOrder } from '../../src/shop/orders/find.ts'
import { changeZone, applyShipping } from '../../src/shop/shipping/zones.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { handoff, orderOf, set } from './checkout-support.ts'
import type { Result } from './checkout-support.ts'

const parcel = { id: 'parcel', name: 'Parcel', amount: '4.90', freeFrom: '50.00', estimate: '2–3 days' }
const express = { id: 'express', name: 'Express', amount: '10.00', perKg: '2.00', maxWeightGrams: 5000 }
const seed = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', weightGrams: 500 },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital', weightGrams: 9000 },
    { slug: 'anvil', name: 'Anvil', price: '99.00', weightGrams: 40_000 },
    { slug: 'sticker', name: 'Sticker', price: '0.30' },
    { slug: 'soap', name: 'Soap every month', price: '9.00', grants: [{ kind: 'subscription', interval: 'month' }] },
    {
      slug: 'rope',
      name: 'Rope',
      price: '20.00',
      weightGrams: 1000,
      variations: [
        { sku: 'ROPE-10', name: '10 m', price: '20.00' },
        { sku: 'ROPE-30', name: '30 m', price: '60.00', weightGrams: 3000 }
      ]
    }
  ],
  coupons: [
    { code: 'TEN', percent: 10 },
    { code: 'ALL', percent: 100 }
  ],
  shipping: [
    { zone: 'Germany', countries: ['DE'], methods: [parcel, express] },
    { zone: 'Alps', countries: ['AT', 'CH'], methods: [{ ...express, maxWeightGrams: 20_000 }] }
  ]
}
const mug = { productId: 1, quantity: 1 }
const print = { productId: 2, quantity: 1 }
const anvil = { productId: 3, quantity: 1 }

let shop: RunningShop
let visitor: Browser
beforeAll(async () => {
  shop = await startShop({ seed })
  set(shop, { 'checkout.heldOrdersPerAddress': '1000', 'checkout.heldOrders': '100' })
  visitor = shop.visitor()
})
afterAll(() => shop.stop())

const quote = async (body: object): Promise<Quote> => (await visitor.post<Quote>('/store/quote', body)).data
const buy = (body: object, query = '') => visitor.post<Result>(`/store/checkout-session${query}`, body)
const problemsOf = (answer: Awaited<ReturnType<typeof buy>>) => answer.error.details['problems']
const sessionOf = (id: string | number) =>
  shop.app.sandbox?.ledger().sessions.find((session) => session.client_reference_id === String(id))

describe('a quote', () => {
  it('weighs a variation by its own weight, or by that of its product', async () => {
    const costs = async (variationId: number) => {
      const items = [{ productId: 6, variationId, quantity: 1 }]
      const { shipping } = await quote({ items, shippingAddress: { country: 'DE' } })
      return shipping.methods.find(({ id }) => id === 'express')?.amount
    }
    expect([await costs(1), await costs(2)]).toEqual([12, 16])
    const order = await buy({
      items: [{ productId: 6, variationId: 2, quantity: 1 }],
      ...handoff,
      shippingAddress: quay,
      shippingMethod: 'express'
    })
    expect([order.status, orderOf(shop, order).order.shippingMinor]).toEqual([200, 1600])
    const { data } = await visitor.get<{ product: { variations: { weightGrams: number | null }[] } }>(
      '/store/products/rope'
    )
    expect(data.product.variations.map(({ weightGrams }) => weightGrams)).toEqual([null, 3000])
  })

  it('lists the methods of the country with their amounts, and has the chosen one in its total', async () => {
    const { shipping, total, payable } = await quote({ items: [mug, print], shippingAddress: { country: 'DE' } })
    const methods = [
      { id: 'parcel', name: 'Parcel', amount: 4.9, estimate: '2–3 days', pickup: false },
      { id: 'express', name: 'Express', amount: 11, estimate: null, pickup: false }
    ]
    expect(shipping).toEqual({ required: true, methods, chosen: null, amount: 0 })
    expect([total, payable]).toEqual([22.49, true])
    const chosen = await quote({ items: [mug, print], shippingAddress: quay, shippingMethod: 'express' })
    expect(chosen).toMatchObject({ subtotal: 22.49, shipping: { chosen: 'express', amount: 11 }, total: 33.49 })
    expect((await quote({ items: [mug], billingAddress: { ...quay, country: 'AT' } })).shipping.methods).toEqual([
      methods[1]
    ])
  })

  it('has no methods while the country is unknown, and needs none for digital goods', async () => {
    expect((await quote({ items: [mug] })).shipping).toEqual({ required: true, methods: [], chosen: null, amount: 0 })
    const digital = await quote({ items: [print], shippingAddress: { country: 'US' }, shippingMethod: 'parcel' })
    expect(digital.shipping).toEqual({ required: false, methods: [], chosen: null, amount: 0 })
    expect(digital).toMatchObject({ total: 9.99, payable: true })
  })

  it('counts the goods after discounts for free shipping', async () => {
    const four = { items: [{ ...mug, quantity: 4 }], shippingAddress: quay, shippingMethod: 'parcel' }
    expect((await quote(four)).shipping.amount).toBe(0)
    expect(await quote({ ...four, couponCode: 'TEN' })).toMatchObject({ shipping: { amount: 4.9 }, total: 49.9 })
  })

  it('names the country to which nothing is shipped, or not this weight', async () => {
    const problem = { path: 'shippingAddress', code: 'no_shipping_there' }
    const elsewhere = await quote({ items: [mug], shippingAddress: { country: 'FR' } })
    expect(elsewhere.problems).toEqual([{ ...problem, message: 'We do not ship to France.' }])
    expect(elsewhere.payable).toBe(false)
    const heavy = await quote({ items: [anvil], shippingAddress: { country: 'AT' } })
    expect(heavy.problems).toEqual([{ ...problem, message: 'We cannot ship an order of this weight to Austria.' }])
    const home = await quote({ items: [anvil], shippingAddress: { country: 'DE' } })
    expect(home.shipping.methods.map(({ id }) => id)).toEqual(['parcel'])
  })
})

describe('a checkout', () => {
  it('pays the shipping by token, and the order stores it', async () => {
    const body = { ...handoff, items: [mug], shippingAddress: quay, shippingMethod: 'express' }
    const { total } = await quote(body)
    const bought = await buy(body)
    expect(bought.status).toBe(200)
    const { order } = orderOf(shop, bought)
    expect(order).toMatchObject({ subtotalMinor: 1250, shippingMinor: 1100, totalMinor: 2350, status: 'processing' })
    expect(total).toBe(23.5)
    const { data } = await visitor.get<{ order: object }>(`/store/orders/${bought.data.orderToken}`)
    expect(data.order).toMatchObject({
      total: 23.5,
      totals: { subtotal: 12.5, discount: 0, shipping: 11, tax: 0, taxIncluded: true, total: 23.5 },
      shippingMethod: { id: 'express', name: 'Express', estimate: null, pickup: false }
    })
  })

  const choices = [
    { id: 'parcel', name: 'Parcel', amount: 4.9, estimate: '2–3 days', pickup: false },
    { id: 'express', name: 'Express', amount: 11, estimate: null, pickup: false }
  ]

  it('by token is refused without an address, without a method, and with a method that is not offered', async () => {
    const needed = async (body: object) => problemsOf(await buy({ ...handoff, items: [mug], ...body }))
    expect(await needed({})).toEqual([
      { path: 'shippingAddress', code: 'address_needed', message: 'Enter the address to ship to.' }
    ])
    expect(await needed({ shippingAddress: quay })).toEqual([
      { path: 'shippingMethod', code: 'address_needed', message: 'Choose a shipping method.', choices }
    ])
    expect(await needed({ shippingAddress: quay, shippingMethod: 'drone' })).toEqual([
      {
        path: 'shippingMethod',
        code: 'no_shipping_there',
        message: 'This shipping method is not available for Germany. Choose another one.',
        choices
      }
    ])
    expect(await needed({ shippingAddress: { ...quay, country: 'FR' }, shippingMethod: 'parcel' })).toEqual([
      { path: 'shippingAddress', code: 'no_shipping_there', message: 'We do not ship to France.' }
    ])
    expect((await buy({ ...handoff, items: [print] })).status).toBe(200)
  })

  it('by redirect sends the shipping to the gateway as an option with a fixed amount', async () => {
    const { data } = await buy({ items: [mug], couponCode: 'TEN', shippingAddress: quay, shippingMethod: 'parcel' })
    expect(sessionOf(data.orderId)).toMatchObject({
      amount_subtotal: 1250,
      amount_total: 1125 + 490,
      total_details: { amount_discount: 125, amount_shipping: 490 },
      shipping_options: [{ shipping_amount: 490 }]
    })
  })

  it('by redirect goes over our own page while the address or the method is missing', async () => {
    for (const body of [{}, { shippingAddress: quay }, { shippingAddress: quay, shippingMethod: 'drone' }]) {
      const { data } = await buy({ items: [mug], ...body })
      expect(data.checkoutUrl).toBe(`${shop.app.publicUrl()}/checkout/${data.orderToken}`)
    }
    const { status } = await buy({ items: [mug], shippingAddress: { ...quay, country: 'FR' } })
    expect(status).toBe(422)
  })

  it('with a coupon for everything still pays the shipping, and nothing is paid before it is chosen', async () => {
    const free = { items: [mug], couponCode: 'ALL', shippingAddress: quay, customer: { email: 'gwen@shop.example' } }
    const unchosen = orderOf(shop, await buy(free)).order
    expect(unchosen).toMatchObject({ status: 'pending', totalMinor: 0 })
    const paid = orderOf(shop, await buy({ ...handoff, ...free, shippingMethod: 'parcel' })).order
    expect(paid).toMatchObject({ status: 'processing', discountMinor: 1250, totalMinor: 490 })
  })

  it('counts the shipping for the minimum of card payments', async () => {
    const sticker = { ...handoff, items: [{ productId: 4, quantity: 1 }], shippingAddress: quay }
    expect((await buy({ ...sticker, shippingMethod: 'parcel' })).status).toBe(200)
    expect((await buy({ items: sticker.items, shippingAddress: quay })).status).toBe(200)
  })

  it('of a subscription charges the shipping with each renewal', async () => {
    const soap = { items: [{ productId: 5, quantity: 1 }], shippingAddress: quay, shippingMethod: 'parcel' }
    const { data } = await buy(soap)
    const { amount_total: total, shipping_options: options } = sessionOf(data.orderId) ?? {}
    expect([total, options]).toEqual([900 + 490, []])
  })
})

describe('an order', () => {
  afterEach(() => {
    write(shop.app.db, (tx) => applyShipping(tx, zonesBefore))
  })
  const zonesBefore = [
    {
      zone: 'Germany',
      countries: ['DE'],
      methods: [
        {
          id: 'parcel',
          name: 'Parcel',
          amountMinor: 490,
          freeFromMinor: 5000,
          perKgMinor: null,
          maxWeightGrams: null,
          estimate: '2–3 days',
          pickup: false
        },
        {
          id: 'express',
          name: 'Express',
          amountMinor: 1000,
          freeFromMinor: null,
          perKgMinor: 200,
          maxWeightGrams: 5000,
          estimate: null,
          pickup: false
        }
      ]
    }
  ]

  it('keeps its shipping when the zone changes, and a new checkout has the new price', async () => {
    const body = { ...handoff, items: [mug], shippingAddress: quay, shippingMethod: 'parcel' }
    const before = orderOf(shop, await buy(body)).order
    changeZone(shop.app.db, 'Germany', (zone) => ({
      ...zone,
      methods: [{ id: 'parcel', name: 'Big parcel', amount: '6.00' }]
    }))
    expect((await quote({ ...body, shippingMethod: 'express' })).shipping).toMatchObject({ chosen: null })
    const after = orderOf(shop, await buy({ ...body, notes: 'again' })).order
    expect([before, after].map(({ id }) => getOrder(shop.app.db, id))).toMatchObject([
      { shippingMinor: 490, shippingMethod: { name: 'Parcel' } },
      { shippingMinor: 600, shippingMethod: { name: 'Big parcel' } }
    ])
  })
})
