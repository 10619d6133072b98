import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { addressLabels, packCsv, packingSlips } from '../../src/operations/packing/pack-list.ts'
import type { Quote } from '../../src/shop/checkout/shapes.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { listOrdersToPack } from '../../src/shop/shipments/pack-list.ts'
import { shipmentInput, shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { exportShipping } from '../../src/shop/shipping/zones.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { nextMail } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { handoff, orderOf, set } from './checkout-support.ts'
import type { Result } from './checkout-support.ts'

const parcel = { id: 'parcel', name: 'Parcel', amount: '4.90' }
const pickup = { id: 'pickup', name: 'Pick up in the shop', amount: '0', pickup: true }
const mug = { productId: 1, quantity: 1 }
const french = { ...quay, country: 'FR', postcode: '75001', city: 'Paris' }
const choice = { id: 'pickup', name: 'Pick up in the shop', amount: 0, estimate: null, pickup: true }

let shop: RunningShop
let visitor: Browser
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: {
      products: [{ slug: 'mug', name: 'Mug', price: '11.90' }],
      shipping: [
        { zone: 'Germany', countries: ['DE'], methods: [pickup, parcel] },
        { zone: 'Austria', countries: ['AT'], methods: [{ ...parcel, amount: '9.00' }] }
      ],
      tax: [
        { country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' },
        { country: 'AT', class: 'standard', ratePercent: 20, name: 'VAT' }
      ]
    }
  })
  set(shop, { 'shop.country': 'DE', 'checkout.heldOrdersPerAddress': '1000', 'checkout.heldOrders': '100' })
  visitor = shop.visitor()
})
afterAll(() => shop.stop())

const quote = async (body: object): Promise<Quote> =>
  (await visitor.post<Quote>('/store/quote', { items: [mug], ...body })).data
const buy = (body: object) => visitor.post<Result>('/store/checkout-session', { items: [mug], ...body })
const buyer = { customer: { email: 'gwen@example.com', firstName: 'Gwen', lastName: 'Ray' } }

/** The hosted page of a redirect, and its order. */
async function place(body: object = {}) {
  const browser = shop.visitor()
  const { data } = await browser.post<Result>('/store/checkout-session', { items: [mug], ...body })
  const order = (): OrderRow => getOrderByPublicToken(shop.app.db, data.orderToken)
  return { browser, url: `${shop.url}/checkout/${data.orderToken}`, order }
}

describe('picking up in the shop', () => {
  it('is offered to buyers of every country, and before the country is known', async () => {
    expect((await quote({})).shipping.methods).toEqual([choice])
    const austrian = await quote({ shippingAddress: { country: 'AT' } })
    expect(austrian.shipping.methods.map(({ id }) => id)).toEqual(['parcel', 'pickup'])
    const elsewhere = await quote({ shippingAddress: french, shippingMethod: 'pickup' })
    expect(elsewhere).toMatchObject({ payable: true, problems: [], shipping: { chosen: 'pickup', amount: 0 } })
    expect((await quote({ shippingAddress: french })).problems).toMatchObject([{ code: 'no_shipping_there' }])
  })

  it("has the tax of the shop's country, wherever the buyer lives", async () => {
    const taxed = async (body: object) => (await quote(body)).tax.lines.map(({ ratePercent }) => ratePercent)
    const austrian = { shippingAddress: { ...quay, country: 'AT', postcode: '1010', city: 'Wien' } }
    expect(await taxed({ ...austrian, shippingMethod: 'parcel' })).toEqual([20])
    expect(await taxed({ ...austrian, shippingMethod: 'pickup' })).toEqual([19])
    const business = { ...austrian, shippingMethod: 'pickup', customer: { vatId: 'ATU12345675' } }
    expect(await taxed(business)).toEqual([19])
  })

  it('is paid by token without an address; the order, its invoice and its emails say so', async () => {
    const bought = await buy({ ...handoff, ...buyer, shippingMethod: 'pickup' })
    expect(bought.status).toBe(200)
    const { order } = orderOf(shop, bought)
    expect(order).toMatchObject({ shippingAddress: null, totalMinor: 1190, taxMinor: 190, status: 'processing' })
    const { data } = await visitor.get<{ order: object }>(`/store/orders/${bought.data.orderToken}`)
    const { amount: _amount, ...method } = choice
    expect(data.order).toMatchObject({ shippingMethod: method, totals: { shipping: 0, total: 11.9 } })
    expect(documentsOf(shop.app.db, order.id)[0]?.document).toMatchObject({
      shipping: { name: 'Pick up in the shop', pickup: true },
      taxes: [{ country: 'DE' }]
    })
    const receipt = await nextMail(shop.dataDir, 'gwen@example.com')
    expect(receipt.text).toContain('We will email you when you can pick up your order in our shop.')
    expect(receipt.text).not.toContain('Shipping: ')

    const [toPack] = [...listOrdersToPack(shop.app.db)]
    expect(toPack).toMatchObject({ id: order.id, pickup: true, shipTo: ['Gwen Ray'] })
    expect([...packCsv(toPack === undefined ? [] : [toPack])].join('')).toContain('Pick-up: Gwen Ray')
    expect(packingSlips('Quay', toPack === undefined ? [] : [toPack])).toContain('<h1>Pick-up</h1>')
    expect(addressLabels(shop.app.db, toPack === undefined ? [] : [toPack])).toContain('There is nothing to send.')

    shipOrder(shop.app.db, order.id, shipmentInput.parse({}), 'operator', shop.app.clock.now())
    const ready = await nextMail(shop.dataDir, 'gwen@example.com', 2)
    expect(ready.subject).toContain('is ready to be picked up')
    const page = await (await visitor.fetch(`${shop.url}/checkout/done/${bought.data.orderToken}`)).text()
    expect(page).toContain('Ready to be picked up')
  })

  it('still needs an address for a method that ships', async () => {
    const refused = await buy({ ...handoff, ...buyer, shippingMethod: 'parcel' })
    expect(refused.error.details['problems']).toMatchObject([{ path: 'shippingAddress', code: 'address_needed' }])
  })

  it('goes to the gateway at once when a redirect chooses it', async () => {
    const cards = await startShop({
      seed: {
        products: [{ slug: 'mug', name: 'Mug', price: '11.90' }],
        shipping: [{ zone: 'Germany', countries: ['DE'], methods: [pickup, parcel] }]
      }
    })
    try {
      const { data } = await cards
        .visitor()
        .post<Result>('/store/checkout-session', { items: [mug], ...buyer, shippingMethod: 'pickup' })
      expect(data.checkoutUrl).toContain('/sandbox/checkout/')
    } finally {
      await cards.stop()
    }
  })

  it('asks for no address on the hosted page', async () => {
    const { browser, url, order } = await place()
    const first = await (await browser.fetch(url)).text()
    expect(first).toContain('name="shipping_method" value="pickup"')
    const { html } = await browser.submit(url, { shipping_method: 'pickup', action: 'country' })
    expect(html).not.toContain('name="address1"')
    expect(html).not.toContain('name="country"')
    expect(html).toContain('Pick up in the shop')
    const sent = await browser.form(url, {
      email: 'ada@example.com',
      firstName: 'Ada',
      payment_method: 'manual',
      shipping_method: 'pickup',
      total: '1190'
    })
    expect(sent.headers.get('location')).toContain('/checkout/done/')
    expect(order()).toMatchObject({
      status: 'on-hold',
      shippingAddress: null,
      contact: { firstName: 'Ada' },
      shippingMethod: { id: 'pickup', pickup: true }
    })
  })

  it('can be chosen with the address fields still on the page, and given up for a parcel', async () => {
    const { browser, url, order } = await place()
    const shown = await browser.submit(url, { country: 'DE', action: 'country' })
    expect(shown.html).toMatch(/name="shipping_method" value="parcel" checked/)
    // The browser must not insist on a field that a pick-up does not need.
    expect(/<input[^>]*name="address1"[^>]*>/.exec(shown.html)?.[0]).not.toContain('required')
    const card = { email: 'bo@example.com', payment_method: 'card' }
    await browser.form(url, { ...card, country: 'DE', address1: '', shipping_method: 'pickup' })
    expect(order()).toMatchObject({ shippingMethod: { id: 'pickup' }, shippingAddress: null, totalMinor: 1190 })
    const incomplete = await browser.submit(url, { ...card, change: '1', shipping_method: 'parcel' })
    expect(incomplete.html).toContain('name="country"')
    await browser.form(url, { ...card, ...quay, change: '1', shipping_method: 'parcel' })
    expect(order()).toMatchObject({ shippingMethod: { id: 'parcel' }, shippingAddress: quay, totalMinor: 1680 })
  })

  it('stays in an export, and completes when a paid order is moved by hand', async () => {
    const [germany] = exportShipping(shop.app.db, 'EUR')
    expect(germany?.methods.map(({ id, pickup: isPickup }) => [id, isPickup])).toEqual([
      ['pickup', true],
      ['parcel', false]
    ])
    const { order } = await place({ ...buyer, shippingMethod: 'pickup' })
    const paid = write(shop.app.db, (tx) =>
      moveOrder(tx, order().id, 'processing', { by: 'operator', reason: 'paid' }, shop.app.clock.now())
    )
    expect(paid.paidAt).not.toBeNull()
  })
})
