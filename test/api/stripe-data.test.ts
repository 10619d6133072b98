import { describe, expect, it } from 'vitest'
import { getUserById } from '../../src/shop/accounts/find.ts'
import { erasePerson } from '../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../src/shop/customers/export-person.ts'
import { idOf } from '../../src/shop/payments/gateway-state.ts'
import { readyGateway } from '../../src/shop/payments/gateway.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, handoff, loggedIn, mug, shopFor } from './checkout-support.ts'

const address = {
  firstName: 'Lena',
  lastName: 'Brandt',
  address1: 'Kai 1',
  city: 'Hamburg',
  postcode: '20457',
  country: 'DE'
}
const byToken = { items: [mug], ...handoff }
const stripeOf = (shop: RunningShop) => readyGateway(shop.app).client()
const pay = (shop: RunningShop, url: string | undefined) =>
  shop.visitor().form((url ?? '').replace('//localhost:', '//127.0.0.1:'), { payment_method: 'pm_card_visa' })

describe('the customer at Stripe', () => {
  it('is one for each account, also with two concurrent checkouts, and is reused', async () => {
    const shop = await shopFor()
    const lena = await loggedIn(shop)
    const both = await Promise.all([checkOut(lena), checkOut(lena, byToken)])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    await checkOut(lena, { ...byToken, billingAddress: address })
    await checkOut(await loggedIn(shop, 'uma@shop.example'))
    await checkOut(shop.visitor(), { items: [mug], customer: { email: 'guest@shop.example' } })
    const stripe = await stripeOf(shop)
    const { data } = await stripe.customers.list({ limit: 100 })
    expect(data.map(({ email }) => email ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'lena@shop.example',
      'uma@shop.example'
    ])
    const lenas = data.find(({ email }) => email === 'lena@shop.example')
    expect(lenas).toMatchObject({ name: 'Lena Brandt', address: { line1: 'Kai 1', postal_code: '20457' } })
    const { intents, sessions } = shop.app.sandbox?.ledger() ?? { intents: [], sessions: [] }
    expect(intents.map(({ customer }) => customer)).toEqual([lenas?.id, lenas?.id])
    expect(sessions.map(({ customer }) => customer !== null)).toEqual([true, true, false])
  })

  it('is created again when it was deleted at Stripe', async () => {
    const shop = await shopFor()
    const lena = await loggedIn(shop)
    await checkOut(lena)
    shop.app.db.sqlite.exec("UPDATE gateway_customers SET customer_id = 'cus_gone'")
    expect((await checkOut(lena)).status).toBe(200)
    expect((await checkOut(lena, byToken)).status).toBe(200)
    expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM gateway_customers').pluck().get()).toBe(1)
  })

  it("is part of a person's export and erasure", async () => {
    const shop = await shopFor()
    await checkOut(await loggedIn(shop))
    const { db } = shop.app
    expect(exportPerson(db, getUserById(db, 1), Date.now()).stripeCustomers).toEqual([expect.stringMatching(/^cus_/)])
    erasePerson(db, 1, Date.now())
    expect(exportPerson(db, getUserById(db, 1), Date.now()).stripeCustomers).toEqual([])
  })
})

describe('a payment at Stripe', () => {
  const settings = { 'payments.statementSuffix': '{order}', 'payments.methodConfiguration': 'pmc_1' } as const
  const customer = { email: 'guest@shop.example', phone: '+49 40 1' }
  const expected = {
    receipt_email: 'guest@shop.example',
    statement_descriptor_suffix: 'ORDER 1',
    shipping: {
      name: 'Lena Brandt',
      phone: '+49 40 1',
      address: { line1: 'Kai 1', city: 'Hamburg', postal_code: '20457', country: 'DE' }
    }
  }

  it.each([
    ['by token', { ...byToken, paymentToken: 'tok_visa' }],
    ['on the page', { items: [mug] }]
  ])('contains the receipt email, the shipping address and the statement suffix: %s', async (_how, body) => {
    const shop = await shopFor({ settings })
    const { data } = await checkOut(shop.visitor(), {
      ...body,
      customer,
      shippingAddress: address,
      billingAddress: address
    })
    if (data.checkoutUrl !== undefined) await pay(shop, data.checkoutUrl)
    const intent = shop.app.sandbox?.ledger().intents[0]
    expect(intent).toMatchObject(expected)
    if (data.checkoutUrl !== undefined) return
    const stripe = await stripeOf(shop)
    const { billing_details: billing } = await stripe.paymentMethods.retrieve(idOf(intent?.payment_method) ?? '')
    expect(billing).toMatchObject({ name: 'Lena Brandt', email: 'guest@shop.example', address: { line1: 'Kai 1' } })
  })

  it('contains no receipt email when the operator switched it off', async () => {
    const shop = await shopFor({ settings: { 'payments.receiptEmail': 'false' } })
    await checkOut(shop.visitor(), { ...byToken, customer })
    expect(shop.app.sandbox?.ledger().intents[0]?.receipt_email).toBeNull()
  })
})

describe('the coupon at Stripe for a discount', () => {
  const discounted = { items: [mug], couponCode: 'TEN', customer: { email: 'guest@shop.example' } }
  const couponsOf = async (shop: RunningShop) => {
    const stripe = await stripeOf(shop)
    return (await stripe.coupons.list()).data.filter(({ valid }) => valid).length
  }

  it('is deleted when the order is paid, cancelled or expired, and not before', async () => {
    const shop = await shopFor()
    const urls = []
    for (let order = 0; order < 3; order += 1) urls.push((await checkOut(shop.visitor(), discounted)).data.checkoutUrl)
    await settlePayments(shop.app)
    const kept = () =>
      shop.app.db.sqlite.prepare('SELECT count(discount_coupon_id) FROM payment_attempts').pluck().get()
    expect([await couponsOf(shop), kept()]).toEqual([3, 3])
    await pay(shop, urls[0])
    shop.app.db.sqlite.exec('UPDATE orders SET hold_ends_at = 0 WHERE id = 2')
    await settlePayments(shop.app)
    await settlePayments(shop.app)
    expect([await couponsOf(shop), kept()]).toEqual([1, 1])
  })

  it('is deleted later when Stripe does not answer, or when its answer was lost', async () => {
    const shop = await shopFor()
    const { data } = await checkOut(shop.visitor(), discounted)
    await pay(shop, data.checkoutUrl)
    shop.app.sandbox?.addFault({ target: 'coupons.delete', fault: 'reset', times: 3 })
    await settlePayments(shop.app)
    expect(await couponsOf(shop)).toBe(0)
    await settlePayments(shop.app)
    shop.app.sandbox?.addFault({ target: 'coupons.create', fault: 'reset', moment: 'after', times: 3 })
    expect((await checkOut(shop.visitor(), discounted)).status).toBe(504)
    shop.app.db.sqlite.exec('UPDATE orders SET hold_ends_at = 0 WHERE id = 2')
    await settlePayments(shop.app, { underWay: 'take' })
    await settlePayments(shop.app)
    expect(await couponsOf(shop)).toBe(0)
  })
})
