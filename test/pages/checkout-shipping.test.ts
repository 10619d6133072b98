import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { changeZone } from '../../src/shop/shipping/zones.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const parcel = { id: 'parcel', name: 'Parcel', amount: '4.90', freeFrom: '9.50', estimate: '2–3 days' }
const express = { id: 'express', name: 'Express', amount: '12.00' }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: {
      products: [{ slug: 'mug', name: 'Mug', price: '9.00' }],
      coupons: [{ code: 'ALL', percent: 100 }],
      shipping: [
        { zone: 'Germany', countries: ['DE'], methods: [parcel, express] },
        { zone: 'Austria', countries: ['AT'], methods: [{ ...express, amount: '15.00' }] }
      ]
    }
  })
  setSetting(shop.app.db, 'checkout.heldOrdersPerAddress', '1000', 0)
})
afterAll(() => shop.stop())

type Placed = { visitor: Browser; url: string; order: () => OrderRow }

async function place(body: object = {}): Promise<Placed> {
  const visitor = shop.visitor()
  const { data } = await visitor.post<{ orderToken: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    ...body
  })
  const { orderToken } = data
  const order = (): OrderRow => getOrderByPublicToken(shop.app.db, orderToken)
  return { visitor, url: `${shop.url}/checkout/${orderToken}`, order }
}

const htmlOf = async ({ visitor, url }: Placed): Promise<string> => (await visitor.fetch(url)).text()
const choices = (html: string): string[] =>
  [...html.matchAll(/name="shipping_method" value="(\w+)"( checked)?/g)].map(
    ([, id = '', checked]) => id + (checked ?? '')
  )
const rows = (html: string): string[] =>
  [...html.matchAll(/<th scope="row">(.*?)<\/th><td class="amount">(.*?)<\/td>/g)].map(
    ([, label, amount]) => `${label} ${amount}`
  )
const buyer = { email: 'gwen@example.com', ...quay }
const manual = { ...buyer, payment_method: 'manual' }
const card = { ...buyer, payment_method: 'card' }

describe('the hosted page', () => {
  it('asks how to ship once the country is known, and shows the total with the first method', async () => {
    const placed = await place()
    expect(choices(await htmlOf(placed))).toEqual([])
    const { html } = await placed.visitor.submit(placed.url, { country: 'DE', action: 'country' })
    expect(choices(html)).toEqual(['parcel checked', 'express'])
    expect(rows(html)).toEqual(['Subtotal €9.00', 'Shipping: Parcel €4.90', 'Total €13.90'])
    expect(html).toContain('2–3 days')
    const austrian = await placed.visitor.submit(placed.url, { country: 'AT', action: 'country' })
    expect(rows(austrian.html)).toContain('Shipping: Express €15.00')
    expect(placed.order()).toMatchObject({ shippingMethod: null, totalMinor: 900 })
  })

  it('stores the method with the order, and the gateway charges it', async () => {
    const { visitor, url, order } = await place()
    const sent = await visitor.form(url, { ...card, shipping_method: 'express', total: '1390' })
    expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
    expect(order()).toMatchObject({ shippingMethod: { id: 'express' }, shippingMinor: 1200, totalMinor: 2100 })
    const session = shop.app.sandbox?.ledger().sessions.find((each) => each.client_reference_id === `${order().id}`)
    expect(session?.amount_total).toBe(2100)
  })

  it('shows another total than the form had before the buyer orders by hand', async () => {
    const { visitor, url, order } = await place()
    const asked = await visitor.submit(url, { ...manual, shipping_method: 'express', total: '1390' })
    expect(asked.html).toContain('With this address and shipping, you pay €21.00. Press the button below to order.')
    expect(choices(asked.html)).toEqual(['parcel', 'express checked'])
    expect(asked.html).toContain('Order for €21.00')
    expect(order()).toMatchObject({ status: 'pending', shippingMethod: null })
    await visitor.form(url, { ...manual, shipping_method: 'express', total: '2100' })
    expect(order()).toMatchObject({ status: 'on-hold', totalMinor: 2100 })
  })

  it('does not take an order without a method, or with one of another country', async () => {
    const { visitor, url, order } = await place({ shippingAddress: quay })
    for (const shipping_method of ['', 'drone']) {
      const { html } = await visitor.submit(url, { ...manual, ...(shipping_method && { shipping_method }) })
      expect(html).toContain('Please choose how to ship the order.')
    }
    await visitor.form(url, { ...manual, payment_method: 'free' })
    expect(order()).toMatchObject({ status: 'pending', shippingMethod: null })
  })

  it('asks again for another country, and closes the page of the gateway that had the old shipping', async () => {
    const { visitor, url, order } = await place()
    const first = await visitor.form(url, { ...card, shipping_method: 'parcel' })
    const corrected = { ...card, change: '1', address1: 'Ring 1', city: 'Wien', postcode: '1010', country: 'AT' }
    const second = await visitor.form(url, { ...corrected, shipping_method: 'express' })
    expect(second.headers.get('location')).not.toBe(first.headers.get('location'))
    expect(order()).toMatchObject({ shippingMinor: 1500, totalMinor: 2400 })
    const sessions = shop.app.sandbox?.ledger().sessions ?? []
    const own = sessions.filter((each) => each.client_reference_id === `${order().id}`)
    expect(own.map(({ status, amount_total: total }) => [status, total])).toEqual([
      ['expired', 1390],
      ['open', 2400]
    ])
  })

  it('takes a method that the site chose as it was, also if the shop has changed its price', async () => {
    const { visitor, url, order } = await place({ shippingAddress: quay, shippingMethod: 'express' })
    changeZone(shop.app.db, 'Germany', (zone) => ({ ...zone, methods: [parcel, { ...express, amount: '20.00' }] }))
    const html = await htmlOf({ visitor, url, order })
    expect([choices(html), rows(html).at(-1)]).toEqual([[], 'Total €21.00'])
    await visitor.form(url, { payment_method: 'manual', email: 'gwen@example.com', total: '2100' })
    expect(order()).toMatchObject({ status: 'on-hold', totalMinor: 2100 })
    changeZone(shop.app.db, 'Germany', (zone) => ({ ...zone, methods: [parcel, express] }))
  })

  it('adds the shipping to an order that costs nothing by a coupon', async () => {
    const { visitor, url, order } = await place({ shippingAddress: quay, customer: { email: 'gwen@example.com' } })
    const { html } = await visitor.submit(url, { coupon: 'ALL', action: 'coupon' })
    expect(rows(html)).toEqual(['Subtotal €9.00', 'Coupon ALL -€9.00', 'Shipping: Parcel €4.90', 'Total €4.90'])
    await visitor.form(url, { payment_method: 'manual', shipping_method: 'parcel', total: '490' })
    expect(order()).toMatchObject({ status: 'on-hold', totalMinor: 490, discountMinor: 900 })
  })
})
