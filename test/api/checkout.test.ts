import { proveEmail } from '../support/people.ts'
import { describe, expect, test } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import type { Answer } from '../support/browser.ts'
import { smallCatalog } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import {
  checkOut,
  count,
  fieldErrors,
  freeSheet,
  handoff,
  hidden,
  lamp,
  lastOne,
  loggedIn,
  mug,
  orderOf,
  print,
  set,
  shopFor
} from './checkout-support.ts'
import { quay } from '../support/addresses.ts'
import type { Result } from './checkout-support.ts'

const subscription = (slug: string, interval: 'month' | 'year') => ({
  slug,
  name: slug,
  price: '5.00',
  type: 'digital',
  grants: [{ kind: 'subscription', interval }]
})
const catalog = {
  products: [
    ...smallCatalog.products,
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      variations: [
        { sku: 's', name: 'Small', price: '20.00', stock: 3 },
        { sku: 'm', name: 'Medium', price: '22.00', default: true },
        { sku: 'l', name: 'Large', price: '24.00', stock: 0 }
      ]
    },
    subscription('monthly', 'month'),
    subscription('yearly', 'year'),
    { slug: 'palace', name: 'Palace', price: '90000000000000.00' },
    {
      slug: 'scarf',
      name: 'Scarf',
      price: '15.00',
      stock: 2,
      variations: [
        { sku: 'red', name: 'Red', price: '15.00' },
        { sku: 'blue', name: 'Blue', price: '15.00' }
      ]
    }
  ],
  coupons: [
    ...smallCatalog.coupons,
    { code: 'LATER', percent: 10, startsAt: '2999-01-01' },
    { code: 'BIG', percent: 10, minTotal: '100.00' },
    { code: 'LIGHTS', percent: 50, categories: ['Light'] },
    { code: 'ALL', percent: 100 },
    { code: 'FIRST', percent: 10, maxUsesPerCustomer: 1 }
  ]
}
const shirt = 7
const [small, medium] = [1, 2]
const monthly = { productId: 8, quantity: 1 }
const yearly = { productId: 9, quantity: 1 }
const palace = { productId: 10, quantity: 50 }

describe('the items of a checkout', () => {
  test('have the price and the name of the catalog', async () => {
    const shop = await shopFor({ seed: catalog })
    const answer = await checkOut(shop.visitor(), {
      items: [{ ...mug, quantity: 3 }, lamp, { productId: shirt, quantity: 1 }]
    })
    expect(answer.data.orderId).toBe('1')
    const { order, items } = orderOf(shop, answer)
    expect(items.map(({ name, quantity, totalMinor }) => [name, quantity, totalMinor])).toEqual([
      ['Mug', 3, 3750],
      ['Lamp', 1, 3000],
      ['Shirt - Medium', 1, 2200]
    ])
    expect([order.totalMinor, order.currency, order.status]).toEqual([8950, 'EUR', 'pending'])
  })

  test.each([
    ['of no product', { productId: 999, quantity: 1 }, 'productId'],
    ['that is not published', hidden, 'productId'],
    ['with another product’s variation', { ...mug, variationId: small }, 'variationId'],
    ['with a variation that there is not', { productId: shirt, quantity: 1, variationId: 99 }, 'variationId'],
    ['with a variation that is sold out', { productId: shirt, quantity: 1, variationId: 3 }, 'quantity'],
    ['of more than there are', { productId: shirt, quantity: 4, variationId: small }, 'quantity'],
    ['that comes to more than can be counted', palace, 'quantity']
  ])('are rejected on the path of an item %s, and no part of the order is stored', async (_what, item, field) => {
    const shop = await shopFor({ seed: catalog })
    const answer = await checkOut(shop.visitor(), { items: [mug, item] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, [`items.1.${field}`]])
    expect(count(shop, 'orders')).toBe(0)
  })

  test('merge into one line when they are equal, also with an explicit default variation', async () => {
    const shop = await shopFor({ seed: catalog })
    const items = [
      { productId: shirt, quantity: 1 },
      { ...mug, quantity: 50 },
      { productId: shirt, quantity: 2, variationId: medium },
      { productId: shirt, quantity: 1, variationId: small },
      { ...mug, quantity: 50 }
    ]
    const { items: lines } = orderOf(shop, await checkOut(shop.visitor(), { items }))
    expect(lines.map(({ name, quantity }) => `${quantity} ${name}`)).toEqual([
      '3 Shirt - Medium',
      '100 Mug',
      '1 Shirt - Small'
    ])
  })

  test('are rejected on the item that exceeds the stock', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [lastOne, lastOne] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['items.1.quantity']])
    expect((await checkOut(shop.visitor(), { items: [lastOne] })).status).toBe(200)
    expect(fieldErrors(await checkOut(shop.visitor(), { items: [lastOne] }))).toEqual(['items.0.quantity'])
  })

  test('are rejected on the variation that exceeds a shared stock', async () => {
    const shop = await shopFor({ seed: catalog, settings: { 'checkout.heldStockPercent': '100' } })
    const scarves = (quantity: number) => [
      { productId: 11, quantity: 1, variationId: 4 },
      { productId: 11, quantity, variationId: 5 }
    ]
    expect(fieldErrors(await checkOut(shop.visitor(), { items: scarves(2) }))).toEqual(['items.1.quantity'])
    expect((await checkOut(shop.visitor(), { items: scarves(1) })).status).toBe(200)
  })

  test("must have one billing interval on the gateway's page", async () => {
    const shop = await shopFor({ seed: catalog })
    const answer = await checkOut(shop.visitor(), { items: [mug, monthly, yearly] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['items.2.productId']])
    const paid = await checkOut(shop.visitor(), { items: [monthly, yearly], ...handoff })
    expect([paid.status, paid.data.status]).toEqual([200, 'completed'])
  })
})

describe('coupons', () => {
  test('are read from couponCode and couponCodes, in any case; a repeated code counts once', async () => {
    const shop = await shopFor({ seed: catalog })
    const body = { items: [{ ...mug, quantity: 4 }], couponCode: ' ten ', couponCodes: ['', 'FIVER', 'TEN'] }
    const { order } = orderOf(shop, await checkOut(shop.visitor(), body))
    // 50.00 less 10 percent, then less 5.00.
    expect([order.subtotalMinor, order.discountMinor, order.totalMinor]).toEqual([5000, 1000, 4000])
  })

  test('are rejected each on its own path', async () => {
    const shop = await shopFor({ seed: catalog })
    const couponCodes = ['TEN', 'NOPE', 'LATER', 'BIG', 'LIGHTS']
    const answer = await checkOut(shop.visitor(), { items: [mug], couponCode: 'OLD', couponCodes })
    const paths = ['couponCode', 'couponCodes.1', 'couponCodes.2', 'couponCodes.3', 'couponCodes.4']
    expect([answer.status, fieldErrors(answer)]).toEqual([422, paths])
    expect(shop.app.db.sqlite.prepare('SELECT sum(used) FROM coupons').pluck().get()).toBe(0)
  })

  test('are ignored when they are empty', async () => {
    const shop = await shopFor()
    expect((await checkOut(shop.visitor(), { items: [mug], couponCode: '', couponCodes: ['', ' '] })).status).toBe(200)
  })

  test('have a last use for one order, which returns when that order is declined', async () => {
    const shop = await shopFor()
    const once = { items: [mug], couponCode: 'ONCE' }
    const declined = await checkOut(shop.visitor(), { ...once, ...handoff, paymentToken: 'pm_card_chargeDeclined' })
    expect(declined.status).toBe(402)
    expect((await checkOut(shop.visitor(), once)).status).toBe(200)
    expect(fieldErrors(await checkOut(shop.visitor(), once))).toEqual(['couponCode'])
  })

  test("count for the limit per customer with an account's orders, and with payments under its verified email", async () => {
    const shop = await shopFor({ seed: catalog })
    const first = { items: [mug], couponCode: 'FIRST' }
    const unproven = { ...first, customer: { email: 'Lena@Shop.example' } }
    expect(fieldErrors(await checkOut(shop.visitor(), unproven))).toEqual(['couponCode'])
    const lena = await loggedIn(shop)
    expect((await checkOut(lena, { ...first, ...handoff })).data.status).toBe('processing')
    expect(fieldErrors(await checkOut(lena, first))).toEqual(['couponCode'])
    const paid = { ...first, ...handoff, customer: { email: 'Mira@Shop.example' } }
    const mira = shop.visitor()
    await proveEmail(shop, mira, 'mira@shop.example')
    expect((await checkOut(mira, paid)).data.status).toBe('processing')
    expect(fieldErrors(await checkOut(await loggedIn(shop, 'mira@shop.example'), first))).toEqual(['couponCode'])
  })
})

describe('the buyer', () => {
  test("has the account's email when logged in, whatever the body contains", async () => {
    const shop = await shopFor()
    const body = { items: [mug], customer: { email: 'else@shop.example', firstName: 'Lena' } }
    const { order } = orderOf(shop, await checkOut(await loggedIn(shop), body))
    expect([order.email, order.userId, order.contact]).toEqual(['lena@shop.example', 1, { firstName: 'Lena' }])
  })

  test('has the email customer.email, otherwise billingAddress.email, otherwise a later one', async () => {
    const shop = await shopFor()
    const email = async (fields: object) =>
      orderOf(shop, await checkOut(shop.visitor(), { items: [mug], ...fields })).order.email
    const billingAddress = { email: 'b@shop.example' }
    expect(await email({ customer: { email: 'a@shop.example' }, billingAddress })).toBe('a@shop.example')
    expect(await email({ customer: { firstName: 'A' }, billingAddress })).toBe('b@shop.example')
    expect(await email({ shippingAddress: { email: 's@shop.example' } })).toBeNull()
  })

  test('must have an email with checkout.guestEmail = required, only for token_handoff and guests', async () => {
    const shop = await shopFor({ settings: { 'checkout.guestEmail': 'required' } })
    const refused = await checkOut(shop.visitor(), { items: [mug], ...handoff })
    expect([refused.status, fieldErrors(refused)]).toEqual([422, ['customer.email']])
    expect((await checkOut(shop.visitor())).status).toBe(200)
    const billed = { items: [mug], ...handoff, billingAddress: { email: 'b@shop.example' } }
    expect((await checkOut(shop.visitor(), billed)).status).toBe(200)
    expect((await checkOut(await loggedIn(shop), { items: [mug], ...handoff })).status).toBe(200)
  })

  test('has addresses and notes as they were sent, under their own names', async () => {
    const shop = await shopFor()
    const body = {
      items: [mug],
      notes: 'Ring twice.\nThe bell is loud.',
      billingAddress: { first_name: 'Ada', line1: 'Quay 1', postalCode: '20457', city: 'Hamburg', country: 'de' },
      shippingAddress: { city: '' }
    }
    const { order } = orderOf(shop, await checkOut(shop.visitor(), body))
    expect(order.billingAddress).toEqual({ ...quay, firstName: 'Ada', lastName: undefined, address1: 'Quay 1' })
    expect([order.shippingAddress, order.notes]).toEqual([null, body.notes])
  })
})

describe('the return URL', () => {
  const origins = '["https://front.example","http://localhost:5173"]'

  test.each([
    ['https://front.example/done?x=1#y', true],
    ['HTTPS://FRONT.example:443/', true],
    ['http://localhost:5173/', true],
    ['http://front.example/', false],
    ['https://front.example:8443/', false],
    ['https://front.example.evil.example/', false],
    ['https://front.example@evil.example/', false],
    ['https://evil.example/https://front.example', false],
    ['https://evil.example?https://front.example', false],
    ['https://evil.example#https://front.example', false],
    ['https://front.example\\.evil.example/', false],
    ['https://front.example%2eevil.example/', false],
    ['https://front。example/', true],
    ['https://frоnt.example/', false],
    ['https://front.example./', false],
    ['http://localhost/', false]
  ])('is allowed or rejected by checkout.returnOrigins: %s, %s', async (url, allowed) => {
    const shop = await shopFor({ settings: { 'checkout.returnOrigins': origins } })
    const answer = await checkOut(shop.visitor(), { items: [mug], returnUrl: url, cancelUrl: url })
    expect([answer.status, fieldErrorsOf(answer)]).toEqual(allowed ? [200, []] : [422, ['returnUrl', 'cancelUrl']])
    const kept = shop.app.db.sqlite.prepare('SELECT return_url FROM orders').pluck().all()
    expect(kept.map((href) => origins.includes(`"${new URL(String(href)).origin}"`))).toEqual(allowed ? [true] : [])
  })

  test.each([
    ['http://localhost:3000/done', true],
    ['https://front.example/done', true],
    ['https://evil.example/', false]
  ])('is allowed or rejected in production without the setting: %s, %s', async (url, allowed) => {
    const env = {
      SHOPSTEAD_ENV: 'production',
      SHOPSTEAD_PAYMENTS: 'sandbox',
      SHOPSTEAD_PUBLIC_URL: 'http://localhost:3000',
      SHOPSTEAD_ORIGINS: 'https://front.example'
    }
    const shop = await shopFor({ env })
    const answer = await checkOut(shop.visitor(), { items: [mug], returnUrl: url })
    expect([answer.status, fieldErrorsOf(answer)]).toEqual(allowed ? [200, []] : [422, ['returnUrl']])
  })

  test('is stored in the form that was checked; a payment page leads to the shop, and the bank to the address as sent', async () => {
    const shop = await shopFor()
    const body = {
      items: [mug],
      returnUrl: 'https://FRONT.example/a/../b?q={x}',
      cancelUrl: 'https://front.example/no'
    }
    await checkOut(shop.visitor(), body)
    await checkOut(shop.visitor(), {
      ...body,
      ...handoff,
      returnUrl: 'https://FRONT.example',
      paymentToken: 'pm_card_authenticationRequired'
    })
    const { sessions, intents } = shop.app.sandbox?.ledger() ?? { sessions: [], intents: [] }
    const own = `${shop.app.publicUrl()}/checkout`
    const [redirected, direct] = [getOrder(shop.app.db, 1), getOrder(shop.app.db, 2)]
    expect(redirected).toMatchObject({
      returnUrl: 'https://front.example/b?q={x}',
      cancelUrl: 'https://front.example/no'
    })
    expect(sessions.map((session) => [session.success_url, session.cancel_url])).toEqual([
      [`${own}/return/${redirected.publicToken}`, `${own}/cancel/${redirected.publicToken}`]
    ])
    expect(direct.returnUrl).toBe('https://front.example/')
    expect(intents.map((intent) => intent.next_action?.redirect_to_url?.return_url)).toEqual(['https://FRONT.example'])
  })
})

/** The buyer's link to an order, as the answer of its checkout has it. */
function linkOf(shop: RunningShop, answer: Answer<Result>) {
  const orderToken = orderOf(shop, answer).order.publicToken
  return { orderToken, statusUrl: `${shop.app.publicUrl()}/checkout/done/${orderToken}` }
}

describe('an order that costs nothing', () => {
  test('is paid immediately without the gateway, and its page is the done page', async () => {
    const shop = await shopFor({ seed: catalog })
    const answer = await checkOut(shop.visitor(), { items: [freeSheet], returnUrl: 'https://front.example/' })
    const { order } = orderOf(shop, answer)
    expect(answer.data).toEqual({
      checkoutUrl: `${shop.app.publicUrl()}/checkout/done/${order.publicToken}`,
      orderId: String(order.id),
      orderToken: order.publicToken,
      statusUrl: `${shop.app.publicUrl()}/checkout/done/${order.publicToken}`
    })
    expect([order.status, order.totalMinor]).toEqual(['completed', 0])
    const physical = orderOf(shop, await checkOut(shop.visitor(), { items: [lamp], couponCode: 'ALL' })).order
    expect([physical.status, physical.totalMinor, physical.discountMinor]).toEqual(['processing', 0, 3000])
    expect(shop.app.sandbox?.ledger()).toMatchObject({ intents: [], sessions: [], charges: [] })
  })

  test('reports with token_handoff that no payment was required', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [freeSheet], ...handoff })
    expect(answer.data).toEqual({
      orderId: 1,
      ...linkOf(shop, answer),
      mode: 'test',
      strategy: 'token_handoff',
      provider: 'stripe',
      paymentStatus: 'not_required',
      status: 'completed'
    })
    expect(shop.app.sandbox?.ledger().intents).toEqual([])
  })
})

describe('the response of a checkout', () => {
  test('is for redirect_to_store by default, with a text as orderId', async () => {
    const shop = await shopFor()
    for (const fields of [{}, { strategy: null }, { strategy: 'redirect_to_store' }]) {
      const answer = await checkOut(shop.visitor(), { items: [print], ...fields })
      expect(Object.keys(answer.data)).toEqual(['checkoutUrl', 'orderId', 'orderToken', 'statusUrl'])
      expect([answer.status, typeof answer.data.orderId]).toEqual([200, 'string'])
      expect(answer.data.checkoutUrl).toMatch(/^http:\/\/localhost:\d+\/sandbox\/checkout\//)
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  test("contains the order's state with token_handoff, with an integer as orderId", async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [print], ...handoff })
    expect(answer.data).toEqual({
      orderId: 1,
      ...linkOf(shop, answer),
      mode: 'test',
      strategy: 'token_handoff',
      provider: 'stripe',
      paymentId: expect.stringMatching(/^pi_/),
      paymentStatus: 'succeeded',
      status: 'completed'
    })
    expect(Object.keys(answer.meta ?? {})).toEqual(['correlationId', 'correlation_id', 'request_id', 'timestamp'])
  })

  test('follows a changed setting from the next request on', async () => {
    const shop = await shopFor()
    expect((await checkOut(shop.visitor())).status).toBe(200)
    set(shop, { 'checkout.guest': 'false' })
    expect((await checkOut(shop.visitor())).status).toBe(401)
  })
})

function fieldErrorsOf(answer: { status: number }): string[] {
  return answer.status === 422 ? fieldErrors(answer as Parameters<typeof fieldErrors>[0]) : []
}
