import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { taxesOfOrder } from '../../src/shop/orders/totals.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { set } from '../api/checkout-support.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const french = 'FR40303265045'
const items = [{ productId: 1, quantity: 1 }]
const paris = { address1: 'Rue 1', city: 'Paris', postcode: '75001', country: 'FR' }

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: { products: [{ slug: 'song', name: 'Song', price: '12.00', type: 'digital' }] }
  })
  set(shop, { 'shop.country': 'DE' })
  presetEu(shop.app.db, { ownRate: false }, 0)
})
afterAll(() => shop.stop())

async function place(body: object = {}) {
  const buyer = shop.visitor()
  const sent = { items, customer: { email: 'a@b.example' }, ...body }
  const placed = await buyer.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', sent)
  const url = placed.data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  const order = () => getOrderByPublicToken(shop.app.db, placed.data.orderToken)
  const taxes = () => taxesOfOrder(shop.app.db, order().id).map(({ country, category }) => `${country} ${category}`)
  const send = async (fields: Record<string, string>) => {
    expect((await buyer.form(url, { payment_method: 'manual', ...fields })).status).toBe(303)
    return (await buyer.get(url)).text
  }
  return { order, taxes, send, page: async () => (await buyer.get(url)).text }
}

const payByToken = (body: object) =>
  shop.visitor().post<{ orderToken: string }>('/store/checkout-session', {
    items,
    strategy: 'token_handoff',
    paymentToken: 'tok_visa',
    returnUrl: 'https://site.example/done',
    customer: { email: 'a@b.example' },
    ...body
  })

describe('the payment page of a download', () => {
  it('asks for the country alone, which decides the tax', async () => {
    const { page, send, order, taxes } = await place()
    const asked = await page()
    expect(asked).toContain('Your country')
    expect(asked).not.toContain('name="address1"')
    expect(taxes()).toEqual(['DE taxed'])
    const fields = { firstName: 'Ada', lastName: 'Quill', countryIsAll: '1', total: '1200' }
    expect(await send({ ...fields, country: '' })).toContain('Please choose a country.')
    await send({ ...fields, country: 'FR' })
    expect(order()).toMatchObject({ status: 'on-hold', shippingAddress: null, billingAddress: { country: 'FR' } })
    expect(taxes()).toEqual(['FR taxed'])
  })

  it('asks nothing if the site sent the country', async () => {
    const { page } = await place({ billingAddress: { country: 'AT' } })
    expect(await page()).not.toContain('Your country')
  })

  it('asks a business that buys without tax for its name and address, which its invoice has', async () => {
    const { send, order, taxes } = await place({ billingAddress: { country: 'FR' } })
    const asked = await send({ action: 'vatId', vatId: french })
    expect(asked).toContain('Address of your company')
    expect(asked).toContain('name="address1"')
    const fields = { vatId: french, country: 'FR', total: '1000' }
    expect(await send({ ...fields, firstName: 'Ada', address1: 'Rue 1', city: '', postcode: '' })).toContain(
      'Please enter the town or city.'
    )
    expect(await send({ ...fields, ...paris, firstName: '', lastName: '' })).toContain('Please enter the name')
    expect(order().status).toBe('pending')
    await send({ ...fields, ...paris, firstName: 'Roux', lastName: 'SARL' })
    expect(order()).toMatchObject({ status: 'on-hold', billingAddress: paris })
    expect(taxes()).toEqual(['FR reverse_charge'])
    markPaid(shop.app.db, order().id, 'operator', shop.app.clock.now())
    const [invoice] = documentsOf(shop.app.db, order().id)
    expect(invoice?.buyer?.lines).toEqual(['Roux SARL', 'Rue 1', '75001 Paris', 'France'])
  })

  it('asks for the address when the country that a business types makes its purchase tax-free', async () => {
    const { send, taxes } = await place({ customer: { email: 'a@b.example', vatId: french } })
    expect(taxes()).toEqual(['DE taxed'])
    const asked = await send({ country: 'FR', countryIsAll: '1', firstName: 'Roux', vatId: french })
    expect(asked).toContain('Address of your company')
    expect(asked).toContain('Please enter the street and house number.')
  })
})

describe('a payment by token of a download', () => {
  const problemsOf = (answer: { error?: { details?: unknown } }) => answer.error?.details

  it('needs the country, unless the shop asks for nothing', async () => {
    expect(problemsOf(await payByToken({}))).toMatchObject({
      fieldErrors: { 'billingAddress.country': ['Enter your country. It decides the tax of downloads and services.'] },
      problems: [{ path: 'billingAddress.country', code: 'address_needed' }]
    })
    const { data } = await payByToken({ billingAddress: { country: 'AT' } })
    // The card is the second piece of evidence.
    expect(getOrderByPublicToken(shop.app.db, data.orderToken)).toMatchObject({ cardCountry: 'US' })
    set(shop, { 'checkout.missingAddress': 'ask' })
    expect(await payByToken({})).toMatchObject({ status: 200 })
    set(shop, { 'checkout.missingAddress': 'refuse' })
  })

  it('needs the name and address of a business that buys without tax', async () => {
    const customer = { email: 'a@b.example', vatId: french }
    expect(problemsOf(await payByToken({ customer, billingAddress: { country: 'FR' } }))).toMatchObject({
      fieldErrors: {
        'customer.companyName': ['Enter the name of your company.'],
        'billingAddress.address1': [expect.any(String)],
        'billingAddress.city': [expect.any(String)],
        'billingAddress.postcode': [expect.any(String)]
      }
    })
    const named = { ...customer, companyName: 'Roux SARL' }
    expect(await payByToken({ customer: named, billingAddress: paris })).toMatchObject({ status: 200 })
  })
})
