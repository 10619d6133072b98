import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { createUser } from '../../src/shop/accounts/create-user.ts'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { couponsOf, getOrderByPublicToken, itemsOf } from '../../src/shop/orders/find.ts'
import { takeCoupon } from '../../src/shop/checkout/order-form.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { orders } from '../../src/shop/orders/schema.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import { atOnce, tally } from '../support/accounts.ts'
import { quay } from '../support/addresses.ts'
import { withTheLink } from '../support/visitors.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: {
      products: [
        { slug: 'mug', name: 'Mug', price: '10.00', categories: ['Kitchen'] },
        { slug: 'lamp', name: 'Lamp', price: '40.00', categories: ['Light'] }
      ],
      coupons: [
        { code: 'TEN', percent: 10 },
        { code: 'FIVER', amount: '5.00' },
        { code: 'ALL', percent: 100 },
        { code: 'ALONE', amount: '1.00', exclusive: true },
        { code: 'ONCE', percent: 50, maxUses: 1 },
        { code: 'OLD', percent: 10, endsAt: '2020-01-01' },
        { code: 'BIG', percent: 10, minTotal: '500.00' }
      ]
    }
  })
  write(shop.app.db, (tx) => {
    const person = { email: 'mira@example.com', displayName: 'Mira', passwordHash: 'none' }
    const user = createUser(
      tx,
      { ...person, marketingOptIn: false, verified: true, termsAcceptedAt: null, privacyAcceptedAt: null },
      Date.now()
    )
    createAffiliate(tx, { userId: user.id, code: 'mira', status: 'active', rateBps: null }, Date.now())
  })
})
afterAll(() => shop.stop())

const visitor = () => shop.visitor()

async function place(query = '', body: object = {}): Promise<{ url: string; order: () => OrderRow }> {
  const { data } = await visitor().get<{ offers: { productId: number }[] }>('/store/offers')
  const items = data.offers.map(({ productId }) => ({ productId, quantity: 1 }))
  const sent = { items, shippingAddress: quay, ...body }
  const created = await visitor().post<{ checkoutUrl: string }>(`/store/checkout-session${query}`, sent)
  const url = created.data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  const order = (): OrderRow => getOrderByPublicToken(shop.app.db, url.slice(url.lastIndexOf('/') + 1))
  return { url, order }
}

const referralOf = (orderId: number) =>
  shop.app.db.sqlite.prepare('SELECT status, amount_minor AS amount FROM referrals WHERE order_id = ?').get(orderId)

describe('a coupon on the hosted page', () => {
  it('counts beside those that the order has, on each line, and for the referral', async () => {
    const { url, order } = await place('?ref=mira', { couponCode: 'TEN' })
    expect(order().totalMinor).toBe(4500)
    expect(referralOf(order().id)).toEqual({ status: 'pending', amount: 450 })
    const sent = await visitor().form(url, { coupon: ' fiver ' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, new URL(url).pathname])
    expect(order()).toMatchObject({ subtotalMinor: 5000, discountMinor: 1000, totalMinor: 4000 })
    expect(couponsOf(shop.app.db, order().id).map(({ code, discountMinor }) => [code, discountMinor])).toEqual([
      ['TEN', 500],
      ['FIVER', 500]
    ])
    expect(itemsOf(shop.app.db, order().id).map(({ totalMinor }) => totalMinor)).toEqual([800, 3200])
    expect(referralOf(order().id)).toEqual({ status: 'pending', amount: 400 })
    await visitor().form(url, { coupon: 'FIVER' })
    expect(order().totalMinor).toBe(4000)
    expect(await (await visitor().fetch(url)).text()).toMatch(/Coupon FIVER[\s\S]*Order for €40\.00/)
  })

  it('pays the order when nothing is left to pay', async () => {
    const { url, order } = await place('?ref=mira')
    const sent = await visitor().form(url, { coupon: 'ALL' })
    expect(sent.status).toBe(303)
    expect(order()).toMatchObject({ totalMinor: 0, status: 'processing' })
    expect(referralOf(order().id)).toMatchObject({ status: 'rejected' })
    expect(await (await visitor().fetch(url)).text()).toContain('Thank you for your order')
  })

  it('says at its field why it does not count, and changes nothing', async () => {
    const { url, order } = await place()
    for (const [code, words] of [
      ['OLD', 'has expired'],
      ['NOSUCH', 'is not valid'],
      ['BIG', 'below the minimum'],
      ['', 'enter a coupon code'],
      ['x'.repeat(65), 'enter a coupon code']
    ] as const) {
      const { html } = await visitor().submit(url, { coupon: code, action: 'coupon' })
      expect(html).toContain(words)
    }
    expect(order()).toMatchObject({ discountMinor: 0, totalMinor: 5000 })
  })

  it('is refused beside another percentage and beside an exclusive coupon, and the order stays as it is', async () => {
    const percent = await place('', { couponCode: 'TEN' })
    for (const [code, words] of [
      ['ALL', 'with another code that takes off a percentage'],
      ['ALONE', 'with another one of your codes']
    ] as const)
      expect((await visitor().submit(percent.url, { coupon: code })).html).toContain(words)
    expect(percent.order()).toMatchObject({ discountMinor: 500, totalMinor: 4500 })
    const alone = await place('', { couponCode: 'ALONE' })
    expect((await visitor().submit(alone.url, { coupon: 'FIVER' })).html).toContain('with another one of your codes')
    expect(couponsOf(shop.app.db, alone.order().id).map(({ code }) => code)).toEqual(['ALONE'])
    setSetting(shop.app.db, 'checkout.combinePercentCoupons', 'true', Date.now())
    onTestFinished(() => unsetSetting(shop.app.db, 'checkout.combinePercentCoupons'))
    expect((await visitor().submit(percent.url, { coupon: 'ALL' })).html).toContain('Thank you for your order')
  })

  it('gives its last use to one order', async () => {
    const orders = await Promise.all([place(), place(), place()])
    const sent = await Promise.all(orders.map(({ url }) => visitor().submit(url, { coupon: 'ONCE' })))
    expect(sent.filter(({ html }) => html.includes('Coupon ONCE'))).toHaveLength(1)
    expect(sent.filter(({ html }) => html.includes('has reached its usage limit'))).toHaveLength(2)
    expect(orders.map(({ order }) => order().totalMinor).toSorted((a, b) => a - b)).toEqual([2500, 5000, 5000])
  })

  it('is not taken any more once a payment page asks for the sum', async () => {
    const { url, order } = await place()
    await visitor().form(url, { payment_method: 'card', email: 'a@example.com' })
    expect(await (await visitor().fetch(url)).text()).not.toContain('name="coupon"')
    await visitor().form(url, { coupon: 'TEN' })
    expect(order().totalMinor).toBe(5000)
  })
})

describe('codes that are guessed on the hosted page', () => {
  const coupons = [{ code: 'TEN', percent: 10 }]
  const answers = ['Coupon TEN', 'This code is not valid.', 'Too many codes were tried.']
  const open = async () => {
    const products = [{ slug: 'mug', name: 'Mug', price: '10.00' }]
    const guessed = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' }, seed: { products, coupons } })
    setSetting(guessed.app.db, 'limits.coupon_failure', '7/60', 0)
    onTestFinished(() => guessed.stop())
    const items = [{ productId: 1, quantity: 1 }]
    const newOrder = async () => {
      const { data } = await guessed.visitor().post<{ checkoutUrl: string }>('/store/checkout-session', { items })
      const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
      return async (coupon: string) => {
        const { html } = await guessed.visitor().submit(url, { coupon })
        return answers.find((words) => html.includes(words)) ?? 'no answer'
      }
    }
    return { shop: guessed, newOrder }
  }

  it('get no more tries at once than one after another', async () => {
    const { shop: guessed, newOrder } = await open()
    const type = await newOrder()
    const [order] = guessed.app.db.orm.select().from(orders).all()
    const results = await atOnce(1000, (index) =>
      takeCoupon(
        guessed.app,
        order?.id ?? 0,
        { code: index % 20 === 19 ? 'TEN' : `GUESS${index}`, email: null },
        { addressKey: '192.0.2.7', visitor: withTheLink }
      )
    )
    expect(tally(results)).toEqual({ VALIDATION_FAILED: 7, RATE_LIMITED: 993 })
    expect(guessed.app.db.orm.select().from(orders).all()).toEqual([order])
    const said = await Promise.all(Array.from({ length: 50 }, () => type('NOPE')))
    expect(said.filter((words) => words === 'This code is not valid.')).toHaveLength(7)
    expect(await type('TEN')).toBe('Too many codes were tried.')
  })

  it('keep no good one of the same address waiting or out while there are tries left', async () => {
    const { newOrder } = await open()
    const orders = await Promise.all(Array.from({ length: 20 }, newOrder))
    const said = await Promise.all(orders.map((type, index) => type(index < 6 ? 'NOPE' : 'TEN')))
    expect(said).toEqual([...Array<string>(6).fill('This code is not valid.'), ...Array<string>(14).fill('Coupon TEN')])
  })
})
