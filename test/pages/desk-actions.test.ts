import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportCatalog, exportProduct, toCouponEntry } from '../../src/shop/catalog/export-catalog.ts'
import { getCoupon } from '../../src/shop/catalog/coupons.ts'
import { listSales } from '../../src/shop/catalog/manage/sales.ts'
import { getProduct } from '../../src/shop/catalog/products.ts'
import { listPeople } from '../../src/shop/desk/people.ts'
import { listAdminPayouts } from '../../src/shop/payouts/find.ts'
import { currentHoliday } from '../../src/shop/settings/holiday.ts'
import { exportShipping } from '../../src/shop/shipping/zones.ts'
import { listTaxRates } from '../../src/shop/tax/rates.ts'
import { makeAffiliate, makeUser } from '../shop/orders/support.ts'
import { enableDesk, personAtDesk } from '../support/desk-visitor.ts'
import type { DeskVisitor } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'

// Each action of the desk has two rows to choose from, and every field of its form filled in.
let now = Date.UTC(2026, 10, 27, 9)
const shop = await startShop({ overrides: { clock: { now: () => now } } })
const { db } = shop.app
enableDesk(shop.app)
afterAll(() => shop.stop())

let owner: DeskVisitor
beforeAll(async () => {
  owner = await personAtDesk(shop, 'owner')
})

/** Sends a form of the desk, and expects that it was done. */
async function act(path: string, fields: Record<string, string> = {}): Promise<void> {
  // The desk asks for the passkey each time, and accepts an answer once.
  now += 1000
  const { status, html } = await owner.send(path, fields)
  expect([path, status, /role="alert"[^]{0,300}/.exec(html)?.[0]]).toEqual([path, 303, undefined])
}

function couponEntry(code: string): object {
  const row = getCoupon(db, code)
  return { ...toCouponEntry(db, row, 'EUR'), enabled: row.enabled }
}
const shipping = () => exportShipping(db, 'EUR')

describe('an action of the desk', () => {
  it('adds a product with each value that was typed', async () => {
    await act('/desk/new-product', {
      name: 'Tin cup',
      price: '20.00',
      salePrice: '15.00',
      saleStart: '2026-11-01',
      saleEnd: '2026-12-24',
      stock: '7',
      hidden: 'on',
      description: 'For tea.',
      manufacturer: 'Works, Harbour 1',
      responsiblePerson: 'Resp, Quay 2',
      safetyInfo: 'Hot.',
      categories: 'Drinking, Gifts',
      tags: 'tin, cup',
      cost: '8.00',
      weight: '120',
      taxClass: 'reduced'
    })
    expect(exportProduct(db, getProduct(db, 'tin-cup'), 'EUR')).toMatchObject({
      name: 'Tin cup',
      type: 'physical',
      price: 20,
      salePrice: 15,
      stock: 7,
      published: false,
      description: 'For tea.',
      manufacturer: 'Works, Harbour 1',
      responsiblePerson: 'Resp, Quay 2',
      safetyInfo: 'Hot.',
      categories: ['Drinking', 'Gifts'],
      tags: ['tin', 'cup'],
      cost: 8,
      weightGrams: 120,
      taxClass: 'reduced'
    })
    const { saleStartsAt, saleEndsAt } = getProduct(db, 'tin-cup')
    expect([saleStartsAt, saleEndsAt]).toEqual([Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 25)])
  })

  it('makes a coupon with each value that was typed, and ends one of two', async () => {
    const times = { startsAt: '2026-11-01', endsAt: '2026-12-24', maxUses: '9', maxUsesPerCustomer: '2' }
    const scope = { minTotal: '10.00', products: 'mug, lamp', categories: 'Kitchen' }
    await act('/desk/discounts/coupon', { code: 'NOVEMBER', amount: '4.00', ...times, ...scope })
    await act('/desk/discounts/coupon', { code: 'DECEMBER', percent: '5', products: 'print' })
    expect(couponEntry('NOVEMBER')).toMatchObject({
      code: 'NOVEMBER',
      amount: '4.00',
      startsAt: '2026-11-01T00:00:00.000Z',
      endsAt: '2026-12-25T00:00:00.000Z',
      maxUses: 9,
      maxUsesPerCustomer: 2,
      minTotal: '10.00',
      products: ['lamp', 'mug'],
      categories: ['Kitchen'],
      enabled: true
    })
    const other = couponEntry('DECEMBER')
    expect(other).toMatchObject({ percent: 5, products: ['print'], categories: [] })
    await act('/desk/discounts/coupons/NOVEMBER')
    expect(couponEntry('NOVEMBER')).toMatchObject({ enabled: false })
    expect(couponEntry('DECEMBER')).toEqual(other)
  })

  it('starts a sale of a category and one of named products, and ends one of them', async () => {
    const salePrices = () =>
      exportCatalog(db, 'EUR').products.flatMap(({ slug, salePrice }) => (salePrice === null ? [] : [slug, salePrice]))
    const before = salePrices()
    const span = { from: '2026-11-20', to: '2026-12-01' }
    await act('/desk/discounts/sale', { name: 'Kitchen days', percent: '10', category: 'kitchen', ...span })
    await act('/desk/discounts/sale', { name: 'Prints', percent: '50', products: 'print', ...span })
    expect(salePrices()).toEqual(expect.arrayContaining(['mug', 11.25, 'print', 5]))
    expect(salePrices()).toHaveLength(before.length + 4)
    const sales = listSales(db, now)
    const days = { startsAt: Date.UTC(2026, 10, 20), endsAt: Date.UTC(2026, 11, 2), products: 1, state: 'running' }
    expect(sales).toMatchObject([
      { name: 'Prints', percentBps: 5000, ...days },
      { name: 'Kitchen days', percentBps: 1000, ...days }
    ])
    await act(`/desk/discounts/sales/${sales.find(({ name }) => name === 'Prints')?.id}`)
    expect(salePrices()).toEqual(expect.arrayContaining(['mug', 11.25]))
    expect(salePrices()).toHaveLength(before.length + 2)
    expect((await owner.get(`/desk/discounts/sales/${sales[0]?.id}`)).status).toBe(404)
  })

  it('sets a shipping method with each value, changes one, and removes one of two', async () => {
    const method = { method: 'parcel', name: 'Parcel', amount: '4.90', freeFrom: '50.00', estimate: '2 days' }
    await act('/desk/shipping/set', { zone: 'Germany', countries: 'DE,AT', ...method })
    await act('/desk/shipping/set', { zone: 'Germany', method: 'express', name: 'Express', amount: '12.00' })
    await act('/desk/shipping/set', { zone: 'Elsewhere', countries: '*', ...method, amount: '9.00' })
    const parcel = { id: 'parcel', name: 'Parcel', amount: 4.9, freeFrom: 50, estimate: '2 days' }
    const express = { id: 'express', name: 'Express', amount: 12 }
    const elsewhere = { zone: 'Elsewhere', countries: '*', methods: [{ ...parcel, amount: 9 }] }
    expect(shipping()).toMatchObject([
      { zone: 'Germany', countries: ['AT', 'DE'], methods: [parcel, express] },
      elsewhere
    ])
    await act('/desk/shipping/set', { zone: 'Germany', method: 'express', amount: '11.00' })
    await act('/desk/shipping/remove', { zone: 'Germany', method: 'parcel' })
    expect(shipping()).toMatchObject([
      { zone: 'Germany', countries: ['AT', 'DE'], methods: [{ ...express, amount: 11 }] },
      elsewhere
    ])
  })

  it('sets the tax rate of a class and region, and leaves the others', async () => {
    await act('/desk/tax/set', { country: 'DE', ratePercent: '19', class: 'standard', name: 'MwSt.' })
    await act('/desk/tax/set', { country: 'US', region: 'NY', ratePercent: '8.875', class: 'reduced', name: 'Sales' })
    await act('/desk/tax/set', { country: 'DE', ratePercent: '16', class: 'standard', name: 'MwSt.' })
    expect(listTaxRates(db)).toMatchObject([
      { country: 'DE', class: 'standard', name: 'MwSt.', ratePercent: 16 },
      { country: 'US', region: 'NY', class: 'reduced', name: 'Sales', ratePercent: 8.875 }
    ])
  })

  it('gives an affiliate a bonus or takes one back, pays what is due, and fails one of two payouts', async () => {
    const [mira, noah] = ['mira', 'noah'].map((code) => makeAffiliate(db, makeUser(db, `${code}@example.com`).id, code))
    const [miraId = 0, noahId = 0] = [mira?.id, noah?.id]
    await act(`/desk/affiliates/${miraId}/bonus`, { amount: '30.00', reason: 'The fair' })
    await act(`/desk/affiliates/${noahId}/bonus`, { amount: '50.00', reason: 'The fair' })
    await act(`/desk/affiliates/${noahId}/bonus`, { amount: '-10.00', reason: 'Too much' })
    await act('/desk/payouts/pay', { reference: 'SEPA 11' })
    const payouts = () =>
      listAdminPayouts(db, { limit: 10 }).map(({ affiliateCode, amountMinor, state, reference, failureReason }) => ({
        affiliateCode,
        amountMinor,
        state,
        reference,
        failureReason
      }))
    const paid = { state: 'paid', reference: 'SEPA 11', failureReason: null }
    expect(payouts()).toEqual([
      { affiliateCode: 'noah', amountMinor: 4000, ...paid },
      { affiliateCode: 'mira', amountMinor: 3000, ...paid }
    ])
    const ofMira = listAdminPayouts(db, { affiliateId: miraId, limit: 1 })[0]?.id
    await act(`/desk/payouts/${ofMira}/fail`, { reason: 'Account closed' })
    expect(payouts()).toEqual([
      { affiliateCode: 'noah', amountMinor: 4000, ...paid },
      { affiliateCode: 'mira', amountMinor: 3000, ...paid, state: 'failed', failureReason: 'Account closed' }
    ])
    expect(listAdminPayouts(db, { state: 'paid', limit: 10 }).map(({ affiliateCode }) => affiliateCode)).toEqual([
      'noah'
    ])
    expect(listAdminPayouts(db, { state: 'failed', limit: 10 }).map(({ id }) => id)).toEqual([ofMira])
  })

  it('removes one of two people, not the person who asks', async () => {
    const left = await personAtDesk(shop, 'orders')
    const kept = await personAtDesk(shop, 'orders')
    const idOf = (email: string): number | undefined => listPeople(db).find((person) => person.email === email)?.id
    await act(`/desk/people/${idOf(left.email)}/remove`)
    expect([idOf(left.email), idOf(kept.email), idOf(owner.email)]).toEqual([
      undefined,
      expect.any(Number),
      expect.any(Number)
    ])
    expect([(await left.get('/desk')).location, (await kept.get('/desk')).status]).toEqual(['/desk/login', 200])
    now += 1000
    expect((await owner.send(`/desk/people/${idOf(owner.email)}/remove`)).status).toBe(409)
    expect((await owner.get('/desk/people/log')).html).toMatch(/people\/\d+\/remove<[^]*Done/)
  })

  it('starts and ends the holiday', async () => {
    await act('/desk/settings/holiday', { until: '2026-12-31', message: 'Back in January.' })
    expect(currentHoliday(db, now)).toMatchObject({ message: 'Back in January.' })
    expect((await owner.get('/desk')).status).toBe(200)
    await act('/desk/settings/holiday')
    expect(currentHoliday(db, now)).toBeNull()
  })
})
