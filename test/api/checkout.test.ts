import { describe, expect, test } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { smallCatalogue } from '../support/running-shop.ts'
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

const subscription = (slug: string, interval: 'month' | 'year') => ({
  slug,
  name: slug,
  price: '5.00',
  type: 'digital',
  grants: [{ kind: 'subscription', interval }]
})
const catalogue = {
  products: [
    ...smallCatalogue.products,
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
    ...smallCatalogue.coupons,
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

describe('what is bought', () => {
  test('costs what the catalogue says at that moment, and is what the catalogue calls it', async () => {
    const shop = await shopFor({ seed: catalogue })
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
  ])('an item %s is refused on its own path, and nothing is kept of the order', async (_what, item, field) => {
    const shop = await shopFor({ seed: catalogue })
    const answer = await checkOut(shop.visitor(), { items: [mug, item] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, [`items.1.${field}`]])
    expect(count(shop, 'orders')).toBe(0)
  })

  test('equal products and variations are one line, also when the variation is named once and meant once', async () => {
    const shop = await shopFor({ seed: catalogue })
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

  test('two items that together want more than there is are refused on the one that is too many', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [lastOne, lastOne] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['items.1.quantity']])
    expect((await checkOut(shop.visitor(), { items: [lastOne] })).status).toBe(200)
    expect(fieldErrors(await checkOut(shop.visitor(), { items: [lastOne] }))).toEqual(['items.0.quantity'])
  })

  test('variations that draw on one stock are refused where it ends', async () => {
    const shop = await shopFor({ seed: catalogue, settings: { 'checkout.heldStockPercent': '100' } })
    const scarves = (quantity: number) => [
      { productId: 11, quantity: 1, variationId: 4 },
      { productId: 11, quantity, variationId: 5 }
    ]
    expect(fieldErrors(await checkOut(shop.visitor(), { items: scarves(2) }))).toEqual(['items.1.quantity'])
    expect((await checkOut(shop.visitor(), { items: scarves(1) })).status).toBe(200)
  })

  test('renews at one interval where the gateway’s page takes the payment', async () => {
    const shop = await shopFor({ seed: catalogue })
    const answer = await checkOut(shop.visitor(), { items: [mug, monthly, yearly] })
    expect([answer.status, fieldErrors(answer)]).toEqual([422, ['items.2.productId']])
    const paid = await checkOut(shop.visitor(), { items: [monthly, yearly], ...handoff })
    expect([paid.status, paid.data.status]).toEqual([200, 'completed'])
  })
})

describe('coupons', () => {
  test('come by couponCode and couponCodes together, whatever their case; a code sent twice counts once', async () => {
    const shop = await shopFor({ seed: catalogue })
    const body = { items: [{ ...mug, quantity: 4 }], couponCode: ' ten ', couponCodes: ['', 'FIVER', 'TEN'] }
    const { order } = orderOf(shop, await checkOut(shop.visitor(), body))
    // 50.00 less 10 percent, then less 5.00.
    expect([order.subtotalMinor, order.discountMinor, order.totalMinor]).toEqual([5000, 1000, 4000])
  })

  test('that do not apply are named each on its own path', async () => {
    const shop = await shopFor({ seed: catalogue })
    const couponCodes = ['TEN', 'NOPE', 'LATER', 'BIG', 'LIGHTS']
    const answer = await checkOut(shop.visitor(), { items: [mug], couponCode: 'OLD', couponCodes })
    const paths = ['couponCode', 'couponCodes.1', 'couponCodes.2', 'couponCodes.3', 'couponCodes.4']
    expect([answer.status, fieldErrors(answer)]).toEqual([422, paths])
    expect(shop.app.db.sqlite.prepare('SELECT sum(used) FROM coupons').pluck().get()).toBe(0)
  })

  test('an empty code is none', async () => {
    const shop = await shopFor()
    expect((await checkOut(shop.visitor(), { items: [mug], couponCode: '', couponCodes: ['', ' '] })).status).toBe(200)
  })

  test('the last use goes to the first order, and comes back when that one is declined', async () => {
    const shop = await shopFor()
    const once = { items: [mug], couponCode: 'ONCE' }
    const declined = await checkOut(shop.visitor(), { ...once, ...handoff, paymentToken: 'pm_card_chargeDeclined' })
    expect(declined.status).toBe(402)
    expect((await checkOut(shop.visitor(), once)).status).toBe(200)
    expect(fieldErrors(await checkOut(shop.visitor(), once))).toEqual(['couponCode'])
  })

  test('a limit per customer counts the orders of an account, and what was paid with its verified email', async () => {
    const shop = await shopFor({ seed: catalogue })
    const first = { items: [mug], couponCode: 'FIRST' }
    const unpaid = { ...first, customer: { email: 'Lena@Shop.example' } }
    expect((await checkOut(shop.visitor(), unpaid)).status).toBe(200)
    const lena = await loggedIn(shop)
    expect((await checkOut(lena, first)).status).toBe(200)
    expect(fieldErrors(await checkOut(lena, first))).toEqual(['couponCode'])
    const paid = { ...first, ...handoff, customer: { email: 'Mira@Shop.example' } }
    expect((await checkOut(shop.visitor(), paid)).data.status).toBe('processing')
    expect(fieldErrors(await checkOut(await loggedIn(shop, 'mira@shop.example'), first))).toEqual(['couponCode'])
  })
})

describe('who buys', () => {
  test('a customer who is logged in buys under the account’s email, whatever the body says', async () => {
    const shop = await shopFor()
    const body = { items: [mug], customer: { email: 'else@shop.example', firstName: 'Lena' } }
    const { order } = orderOf(shop, await checkOut(await loggedIn(shop), body))
    expect([order.email, order.userId, order.contact]).toEqual(['lena@shop.example', 1, { firstName: 'Lena' }])
  })

  test('a guest’s email is customer.email, else billingAddress.email, else asked later', async () => {
    const shop = await shopFor()
    const email = async (fields: object) =>
      orderOf(shop, await checkOut(shop.visitor(), { items: [mug], ...fields })).order.email
    const billingAddress = { email: 'b@shop.example' }
    expect(await email({ customer: { email: 'a@shop.example' }, billingAddress })).toBe('a@shop.example')
    expect(await email({ customer: { firstName: 'A' }, billingAddress })).toBe('b@shop.example')
    expect(await email({ shippingAddress: { email: 's@shop.example' } })).toBeNull()
  })

  test('checkout.guestEmail = required asks for it with token_handoff alone, and of guests alone', async () => {
    const shop = await shopFor({ settings: { 'checkout.guestEmail': 'required' } })
    const refused = await checkOut(shop.visitor(), { items: [mug], ...handoff })
    expect([refused.status, fieldErrors(refused)]).toEqual([422, ['customer.email']])
    expect((await checkOut(shop.visitor())).status).toBe(200)
    const billed = { items: [mug], ...handoff, billingAddress: { email: 'b@shop.example' } }
    expect((await checkOut(shop.visitor(), billed)).status).toBe(200)
    expect((await checkOut(await loggedIn(shop), { items: [mug], ...handoff })).status).toBe(200)
  })

  test('addresses and notes are kept as they came, under their own names', async () => {
    const shop = await shopFor()
    const body = {
      items: [mug],
      notes: 'Ring twice.\nThe bell is loud.',
      billingAddress: { first_name: 'Ada', line1: 'Quay 1', postalCode: '20457', country: 'de', isAdmin: true },
      shippingAddress: { city: '' }
    }
    const { order } = orderOf(shop, await checkOut(shop.visitor(), body))
    expect(order.billingAddress).toEqual({ firstName: 'Ada', address1: 'Quay 1', postcode: '20457', country: 'DE' })
    expect([order.shippingAddress, order.notes]).toEqual([null, body.notes])
  })
})

describe('where the buyer comes back to', () => {
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
  ])('with checkout.returnOrigins, %s is allowed: %s', async (url, allowed) => {
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
  ])('in production without the setting, %s is allowed: %s', async (url, allowed) => {
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

  test('is the address that was checked: the gateway gets the stored address, with the result of the order', async () => {
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
    expect(sessions.map((session) => [session.success_url, session.cancel_url])).toEqual([
      ['https://front.example/b?q={x}&orderId=1&result=success', 'https://front.example/no?orderId=1&result=cancelled']
    ])
    const { publicToken, returnUrl } = getOrder(shop.app.db, 2)
    expect(returnUrl).toBe('https://front.example/')
    expect(intents.map((intent) => intent.next_action?.redirect_to_url?.return_url)).toEqual([
      `${shop.app.publicUrl()}/checkout/return/${publicToken}`
    ])
  })
})

describe('an order that costs nothing', () => {
  test('does not reach the gateway: it is paid immediately, and its page is the done page', async () => {
    const shop = await shopFor({ seed: catalogue })
    const answer = await checkOut(shop.visitor(), { items: [freeSheet], returnUrl: 'https://front.example/' })
    const { order } = orderOf(shop, answer)
    expect(answer.data).toEqual({
      checkoutUrl: `${shop.app.publicUrl()}/checkout/done/${order.publicToken}`,
      orderId: String(order.id)
    })
    expect([order.status, order.totalMinor]).toEqual(['completed', 0])
    const physical = orderOf(shop, await checkOut(shop.visitor(), { items: [lamp], couponCode: 'ALL' })).order
    expect([physical.status, physical.totalMinor, physical.discountMinor]).toEqual(['processing', 0, 3000])
    expect(shop.app.sandbox?.ledger()).toMatchObject({ intents: [], sessions: [], charges: [] })
  })

  test('by token_handoff says that no payment was required', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [freeSheet], ...handoff })
    expect(answer.data).toEqual({
      orderId: 1,
      mode: 'test',
      strategy: 'token_handoff',
      provider: 'stripe',
      paymentStatus: 'not_required',
      status: 'completed'
    })
    expect(shop.app.sandbox?.ledger().intents).toEqual([])
  })
})

describe('what is answered', () => {
  test('redirect_to_store is the default, and its orderId is a text', async () => {
    const shop = await shopFor()
    for (const fields of [{}, { strategy: null }, { strategy: 'redirect_to_store', paymentToken: 'pm_card_visa' }]) {
      const answer = await checkOut(shop.visitor(), { items: [print], ...fields })
      expect(Object.keys(answer.data)).toEqual(['checkoutUrl', 'orderId'])
      expect([answer.status, typeof answer.data.orderId]).toEqual([200, 'string'])
      expect(answer.data.checkoutUrl).toMatch(/^http:\/\/localhost:\d+\/sandbox\/checkout\//)
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('token_handoff tells the order’s state, with an integer for its id', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [print], ...handoff })
    expect(answer.data).toEqual({
      orderId: 1,
      mode: 'test',
      strategy: 'token_handoff',
      provider: 'stripe',
      paymentStatus: 'succeeded',
      status: 'completed'
    })
    expect(Object.keys(answer.meta ?? {})).toEqual(['correlationId', 'correlation_id', 'request_id', 'timestamp'])
  })

  test('a change of settings counts from the next request on', async () => {
    const shop = await shopFor()
    expect((await checkOut(shop.visitor())).status).toBe(200)
    set(shop, { 'checkout.guest': 'false' })
    expect((await checkOut(shop.visitor())).status).toBe(401)
  })
})

function fieldErrorsOf(answer: { status: number }): string[] {
  return answer.status === 422 ? fieldErrors(answer as Parameters<typeof fieldErrors>[0]) : []
}
