import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../src/shop/orders/shapes.ts'
import type { Quote } from '../../src/shop/checkout/shapes.ts'
import { unsetSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, handoff, loggedIn, orderOf, set } from './checkout-support.ts'

const seed = {
  products: [
    { slug: 'lantern', name: 'Brass lantern', price: '12.50', categories: ['Light'] },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'gone', name: 'Gone lamp', price: '5.00', stock: 0 },
    { slug: 'few', name: 'Few', price: '5.00', stock: 2 },
    { slug: 'draft', name: 'Secret plan', price: '1.00', published: false },
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      variations: [
        { sku: 'S', name: 'Small', price: '19.00' },
        { sku: 'L', name: 'Large', price: '21.00', default: true }
      ]
    },
    { slug: 'sticker', name: 'Sticker', price: '0.40' },
    { slug: 'pair', name: 'Pair', price: '5.00', stock: 2 },
    { slug: 'single', name: 'Single', price: '5.00', stock: 1 }
  ],
  coupons: [
    { code: 'TEN', percent: 10 },
    { code: 'OLD', percent: 10, endsAt: '2020-01-01' },
    { code: 'FIVE', percent: 5 },
    { code: 'EURO', amount: '1.00' },
    { code: 'ALONE', amount: '2.00', exclusive: true },
    { code: 'SPENT', percent: 10, maxUses: 1 },
    { code: 'MUCH', percent: 10, minTotal: '100.00' },
    { code: 'LIGHT', percent: 10, categories: ['Light'] },
    { code: 'ONCE', percent: 50, maxUsesPerCustomer: 1 },
    { code: 'GIFT', percent: 100, maxUsesPerCustomer: 1 }
  ]
}
const lantern = { productId: 1, quantity: 1 }
const print = { productId: 2, quantity: 1 }

let shop: RunningShop
let visitor: Browser
beforeAll(async () => {
  shop = await startShop({ seed, env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
  visitor = shop.visitor()
})
afterAll(() => shop.stop())
afterEach(() => {
  for (const key of changed.splice(0)) unsetSetting(shop.app.db, key)
})

type Changes = Parameters<typeof set>[1]
const changed: (keyof Changes)[] = []

/** Changes settings for one test. */
function setFor(settings: Changes): void {
  changed.push(...(Object.keys(settings) as (keyof Changes)[]))
  set(shop, settings)
}

/** A visitor at an address of their own, so that the limits of tests do not meet. */
let visitors = 0
const newVisitor = (): Browser => shop.visitor({ 'x-forwarded-for': `192.0.2.${(visitors += 1)}` })

async function quote(body: object, by = visitor): Promise<Quote> {
  const answer = await by.post<Quote>('/store/quote', body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.data
}

const codesOf = (problems: readonly Problem[]) => problems.map(({ path, code }) => `${path} ${code}`)

describe('a quote', () => {
  it('gives prices, discounts and totals of a cart, and checkout then makes the same order', async () => {
    const body = { items: [{ productId: 1, quantity: 3 }, print], couponCode: 'light' }
    expect(await quote(body)).toEqual({
      currency: 'EUR',
      asksDeliveryConsent: false,
      vatId: null,
      asksGiftRecipient: false,
      recurring: null,
      lines: [
        {
          productId: 1,
          variationId: null,
          name: 'Brass lantern',
          quantity: 3,
          unitPrice: 12.5,
          total: 33.75,
          image: null,
          problem: null
        },
        {
          productId: 2,
          variationId: null,
          name: 'Print',
          quantity: 1,
          unitPrice: 9.99,
          total: 9.99,
          image: null,
          problem: null
        }
      ],
      coupons: [{ code: 'light', accepted: true, problem: null }],
      giftCards: [],
      subtotal: 47.49,
      discount: 3.75,
      shipping: { required: true, methods: [], chosen: null, amount: 0 },
      tax: { included: true, amount: 0, lines: [] },
      total: 43.74,
      due: 43.74,
      payable: true,
      problems: []
    })
    const { order } = orderOf(shop, await checkOut(newVisitor(), body))
    expect([order.subtotalMinor, order.discountMinor, order.totalMinor]).toEqual([4749, 375, 4374])
  })

  it('needs shipping for goods, and none for digital products', async () => {
    expect((await quote({ items: [{ productId: 6, quantity: 2 }] })).shipping.required).toBe(true)
    expect((await quote({ items: [print] })).shipping.required).toBe(false)
  })

  it('names the variation that an item without one buys', async () => {
    const { lines } = await quote({ items: [{ productId: 6, quantity: 2 }] })
    expect(lines).toMatchObject([{ variationId: 2, name: 'Shirt - Large', unitPrice: 21, total: 42 }])
  })

  it('shows the picture of the variation, else that of the product', async () => {
    const { sqlite } = shop.app.db
    const picture = sqlite.prepare('INSERT INTO media (hash, width, height, created_at) VALUES (?, 400, 300, 0)')
    const use = sqlite.prepare(
      "INSERT INTO product_images (product_id, variation_id, src, alt, position, media_hash, created_at) VALUES (?, ?, 'x', ?, 0, ?, 0)"
    )
    for (const [variation, alt] of [
      [null, 'A shirt'],
      [1, 'A small shirt']
    ] as const) {
      const hash = `picture${alt.length}`
      picture.run(hash)
      use.run(6, variation, alt, hash)
    }
    const items = [1, 2].map((variationId) => ({ productId: 6, variationId, quantity: 1 }))
    const { lines } = await quote({ items: [...items, lantern] })
    expect(lines.map(({ image }) => image?.alt)).toEqual(['A small shirt', 'A shirt', undefined])
  })

  it('merges equal items into one line, as an order does', async () => {
    const { lines } = await quote({ items: [lantern, print, lantern] })
    expect(lines.map(({ name, quantity }) => [name, quantity])).toEqual([
      ['Brass lantern', 2],
      ['Print', 1]
    ])
  })

  it('writes and holds nothing, and sets no cookie', async () => {
    const guest = newVisitor()
    const stored = () => shop.app.db.sqlite.prepare('SELECT total_changes()').pluck().get()
    const before = stored()
    for (let times = 0; times < 3; times += 1) {
      const answer = await guest.post('/store/quote', { items: [lantern, { productId: 8, quantity: 1 }] })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(stored()).toBe(before)
    expect((await checkOut(newVisitor(), { items: [{ productId: 8, quantity: 1 }] })).status).toBe(200)
  })

  it('does not read the other fields of a checkout, so that a site can send its whole checkout body', async () => {
    const body = { items: [lantern], ...handoff, notes: 'Ring twice.', shippingMethod: 'post' }
    expect((await quote(body)).payable).toBe(true)
  })

  it.each([
    [{}, ['items']],
    [{ items: [] }, ['items']],
    [{ items: [{ productId: 1, quantity: 0 }] }, ['items.0.quantity']],
    [{ items: [{ ...lantern, price: 1 }] }, ['items.0.price']],
    [{ items: [lantern], strategy: 'cash' }, ['strategy']],
    [{ items: [lantern], anything: 1 }, ['anything']],
    [{ items: [lantern], couponCodes: Array.from({ length: 11 }, (_, index) => `C${index}`) }, ['couponCodes']]
  ])('refuses the malformed body %j', async (body, fields) => {
    const { status, error } = await visitor.post('/store/quote', body)
    expect([status, error.code]).toEqual([422, 'VALIDATION_FAILED'])
    expect(Object.keys(error.details['fieldErrors'] ?? {})).toEqual(fields)
  })
})

describe('the problems of a quote', () => {
  const items = [
    { productId: 99, quantity: 1 },
    { productId: 5, quantity: 1 },
    { productId: 3, quantity: 1 },
    lantern,
    { productId: 4, quantity: 9 },
    { productId: 6, variationId: 77, quantity: 1 },
    { productId: 1, variationId: 1, quantity: 1 }
  ]

  it('name each line, its product and its code, and are those of checkout', async () => {
    const choices = [
      { variationId: 1, name: 'Small', options: {}, price: 19, available: true, stockLeft: null },
      { variationId: 2, name: 'Large', options: {}, price: 21, available: true, stockLeft: null }
    ]
    const problems = [
      { path: 'items.0.productId', code: 'unknown_product', message: 'Item 1 of the cart does not exist.' },
      { path: 'items.1.productId', code: 'unavailable', message: 'Item 2 of the cart is not for sale.' },
      { path: 'items.2.quantity', code: 'sold_out', message: 'Gone lamp is sold out.' },
      { path: 'items.4.quantity', code: 'not_enough', message: 'Few: only 2 left.', left: 2 },
      { path: 'items.5.variationId', code: 'choose_variation', message: 'Choose a variation of Shirt.', choices },
      { path: 'items.6.variationId', code: 'unavailable', message: 'Brass lantern does not have this variation.' }
    ]
    const quoted = await quote({ items })
    expect([quoted.payable, quoted.problems]).toEqual([false, problems])
    const { status, error } = await checkOut(visitor, { items })
    expect([status, error.details]).toEqual([
      422,
      {
        fieldErrors: {
          'items.0.productId': ['This product does not exist.'],
          'items.1.productId': ['This product is not for sale.'],
          'items.2.quantity': ['This product is sold out.'],
          'items.4.quantity': ['There are not enough left in stock.'],
          'items.5.variationId': ['This product does not have this variation.'],
          'items.6.variationId': ['This product does not have this variation.']
        },
        problems
      }
    ])
  })

  it('are on their lines; a line that cannot be bought in any quantity costs nothing', async () => {
    const { lines, subtotal, total } = await quote({ items })
    expect(lines.map(({ name, unitPrice, total: cost, problem }) => [name, unitPrice, cost, problem?.code])).toEqual([
      [null, null, 0, 'unknown_product'],
      [null, null, 0, 'unavailable'],
      ['Gone lamp', 5, 0, 'sold_out'],
      ['Brass lantern', 12.5, 12.5, undefined],
      ['Few', 5, 45, 'not_enough'],
      ['Shirt', null, 0, 'choose_variation'],
      ['Brass lantern', null, 0, 'unavailable']
    ])
    expect([subtotal, total]).toEqual([57.5, 57.5])
  })

  it('do not reveal the name or price of a product that is not published', async () => {
    const answer = await visitor.post('/store/quote', { items: [{ productId: 5, quantity: 1 }] })
    expect(answer.data).toMatchObject({ lines: [{ problem: { code: 'unavailable' } }], payable: false })
    expect(answer.text).not.toContain('Secret')
  })

  it('say how many are left: all for the first order, and a share for guests whose address holds another', async () => {
    const body = { items: [{ productId: 4, quantity: 9 }] }
    const customer = await loggedIn(shop, 'left@shop.example')
    expect((await quote(body, customer)).lines[0]?.problem).toEqual({
      code: 'not_enough',
      message: 'Few: only 2 left.',
      left: 2
    })
    expect((await quote(body)).lines[0]?.problem).toMatchObject({ left: 2 })
    await checkOut(shop.visitor(), { items: [lantern] })
    expect((await quote(body)).lines[0]?.problem).toMatchObject({ left: 1 })
    expect((await quote({ ...body, ...handoff })).lines[0]?.problem).toMatchObject({ left: 2 })
  })

  it('name each coupon code that does not apply', async () => {
    const guest = newVisitor()
    const couponCodes = ['TEN', 'nope', 'OLD', 'MUCH', 'LIGHT']
    const { coupons, problems, payable } = await quote({ items: [print], couponCodes }, guest)
    expect(coupons.map(({ code, accepted, problem }) => [code, accepted, problem?.code])).toEqual([
      ['TEN', true, undefined],
      ['nope', false, 'coupon_unknown'],
      ['OLD', false, 'coupon_expired'],
      ['MUCH', false, 'coupon_minimum'],
      ['LIGHT', false, 'coupon_not_for_cart']
    ])
    expect([payable, codesOf(problems)]).toEqual([
      false,
      [
        'couponCodes.1 coupon_unknown',
        'couponCodes.2 coupon_expired',
        'couponCodes.3 coupon_minimum',
        'couponCodes.4 coupon_not_for_cart'
      ]
    ])
    expect(problems[2]?.minimum).toBe(100)
    const { error } = await checkOut(guest, { items: [print], couponCodes })
    expect(error.details['problems']).toEqual(problems)
  })

  it.each([
    [['TEN', 'FIVE'], ['couponCodes.1']],
    [['EURO', 'FIVE', 'TEN'], ['couponCodes.2']],
    [
      ['ALONE', 'EURO', 'TEN'],
      ['couponCodes.1', 'couponCodes.2']
    ],
    [['EURO', 'ALONE', 'TEN'], ['couponCodes.1']],
    [['ALONE'], []]
  ])('of the codes %j refuse %j, because the others count already, as checkout does', async (couponCodes, refused) => {
    const guest = newVisitor()
    const { coupons, problems } = await quote({ items: [print], couponCodes }, guest)
    expect(codesOf(problems)).toEqual(refused.map((path) => `${path} coupon_not_combined`))
    expect(coupons.filter(({ accepted }) => !accepted)).toHaveLength(refused.length)
    const bought = await checkOut(guest, { items: [print], couponCodes })
    if (refused.length === 0) expect(bought.status).toBe(200)
    else expect([bought.status, bought.error.details['problems']]).toEqual([422, problems])
  })

  it('count several percentages when the shop allows it, but no other code beside an exclusive one', async () => {
    setFor({ 'checkout.combinePercentCoupons': 'true' })
    const guest = newVisitor()
    const { discount, problems } = await quote({ items: [print], couponCodes: ['TEN', 'FIVE'] }, guest)
    expect([discount, problems]).toEqual([1.45, []])
    expect((await checkOut(guest, { items: [print], couponCodes: ['TEN', 'FIVE'] })).status).toBe(200)
    const mixed = await quote({ items: [print], couponCodes: ['ALONE', 'TEN'] }, newVisitor())
    expect(codesOf(mixed.problems)).toEqual(['couponCodes.1 coupon_not_combined'])
  })

  it('say that a coupon is used up', async () => {
    const body = { items: [print], couponCode: 'SPENT' }
    expect((await checkOut(newVisitor(), body)).status).toBe(200)
    expect(codesOf((await quote(body, newVisitor())).problems)).toEqual(['couponCode coupon_used'])
  })

  it('name a total below the minimum of card payments', async () => {
    const { problems } = await quote({ items: [{ productId: 7, quantity: 1 }] })
    expect(problems).toEqual([
      {
        path: 'items',
        code: 'below_minimum',
        message: 'The total must be at least €0.50 to pay by card.',
        minimum: 0.5
      }
    ])
  })

  it('name too many unpaid orders of the address', async () => {
    setFor({ 'checkout.heldOrdersPerAddress': '1' })
    const guest = newVisitor()
    expect((await checkOut(guest, { items: [print] })).status).toBe(200)
    expect(codesOf((await quote({ items: [lantern] }, guest)).problems)).toEqual(['_body too_many_unpaid'])
    // A payment by token is decided at once, so it holds nothing.
    const byToken = { items: [lantern], ...handoff }
    expect((await quote(byToken, guest)).payable).toBe(true)
    expect((await checkOut(guest, byToken)).status).toBe(200)
    expect((await checkOut(guest, { items: [lantern] })).status).toBe(429)
    expect((await quote({ items: [print] }, newVisitor())).payable).toBe(true)
    const refused = { items: [{ productId: 9, quantity: 3 }] }
    const { problems } = await quote(refused, guest)
    expect(codesOf(problems)).toEqual(['items.0.quantity not_enough', '_body too_many_unpaid'])
    expect((await checkOut(guest, refused)).error.details['problems']).toEqual(problems)
  })

  it("do not include what the buyer's own unpaid order of the same product holds", async () => {
    setFor({ 'checkout.heldOrdersPerAddress': '1' })
    const guest = newVisitor()
    const pair = { items: [{ productId: 9, quantity: 1 }] }
    expect((await checkOut(guest, pair)).status).toBe(200)
    expect(codesOf((await quote(pair, newVisitor())).problems)).toEqual(['items.0.quantity sold_out'])
    for (const body of [pair, { ...pair, notes: 'Another request for the same product.' }]) {
      expect((await quote(body, guest)).problems).toEqual([])
      expect((await checkOut(guest, body)).status).toBe(200)
    }
  })
})

describe('a quote reveals nothing about other buyers', () => {
  it('answers alike for every email that a guest types, whether or not it has used a coupon', async () => {
    const lena = await loggedIn(shop)
    const once = { items: [print], couponCode: 'ONCE' }
    expect((await checkOut(lena, { ...once, ...handoff })).status).toBe(200)
    const texts = await Promise.all(
      ['lena@shop.example', 'stranger@example.com'].map(async (email) =>
        JSON.stringify(await quote({ ...once, customer: { email } }, newVisitor()))
      )
    )
    expect(texts[0]).toBe(texts[1])
    expect(codesOf(JSON.parse(texts[0] ?? '').problems)).toEqual(['couponCode login_needed'])
    expect(codesOf((await quote(once, lena)).problems)).toEqual(['couponCode coupon_used'])
    expect(codesOf((await quote({ items: [print], couponCodes: ['GIFT'] }, newVisitor())).problems)).toEqual([
      'couponCodes.0 login_needed'
    ])
  })

  it('does not say whether an email has an account', async () => {
    const customer = { email: 'lena@shop.example', createAccount: true, password: 'x' }
    expect((await quote({ items: [print], customer })).payable).toBe(true)
  })
})

describe('the limits of a quote', () => {
  it('count it in checkout_ip only when it has a coupon code', async () => {
    setFor({ 'limits.checkout_ip': '2/60' })
    const guest = newVisitor()
    for (let times = 0; times < 5; times += 1) expect((await quote({ items: [print] }, guest)).payable).toBe(true)
    const withCode = { items: [print], couponCode: 'TEN' }
    expect((await quote(withCode, guest)).payable).toBe(true)
    await quote(withCode, guest)
    const refused = await guest.post('/store/quote', withCode)
    expect([refused.status, refused.error.code, refused.error.details]).toEqual([
      429,
      'RATE_LIMITED',
      { bucket: 'checkout_ip' }
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // A checkout would be refused as well.
    expect(codesOf((await quote({ items: [print] }, guest)).problems)).toEqual(['_body too_many_attempts'])
    expect((await checkOut(guest, { items: [print] })).status).toBe(429)
  })

  it('count each wrong code as coupon_failure, together with those of checkout', async () => {
    setFor({ 'limits.coupon_failure': '4/60' })
    const guest = newVisitor()
    expect((await quote({ items: [print], couponCodes: ['A', 'B', 'TEN'] }, guest)).problems).toHaveLength(2)
    expect((await checkOut(guest, { items: [print], couponCode: 'C' })).status).toBe(422)
    expect((await guest.post('/store/quote', { items: [print], couponCodes: ['D', 'E'] })).status).toBe(429)
    const right = await guest.post('/store/quote', { items: [print], couponCode: 'TEN' })
    expect([right.status, right.error.details]).toEqual([429, { bucket: 'coupon_failure' }])
    expect((await quote({ items: [print] }, guest)).payable).toBe(true)
  })

  it('allow quotes that arrive together no more tries than in sequence', async () => {
    setFor({ 'limits.coupon_failure': '5/60' })
    const guest = newVisitor()
    const sent = Array.from({ length: 30 }, (_, index) =>
      guest.post('/store/quote', { items: [print], couponCode: `C${index}` })
    )
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
  })
})

describe('a quote is open like checkout', () => {
  it('is refused while the shop sells nothing, and for guests while only customers may buy', async () => {
    setFor({ 'checkout.enabled': 'false' })
    const closed = await visitor.post('/store/quote', { items: [print] })
    expect([closed.status, closed.error.code]).toEqual([403, 'CHECKOUT_DISABLED'])
    setFor({ 'checkout.enabled': 'true', 'checkout.guest': 'false' })
    const guest = await visitor.post('/store/quote', { items: [print] })
    expect([guest.status, guest.error.code]).toEqual([401, 'NOT_AUTHENTICATED'])
    expect((await quote({ items: [print] }, await loggedIn(shop, 'open@shop.example'))).payable).toBe(true)
  })

  it('needs the nonce through the proxy, and not at the service', async () => {
    const path = `${shop.url}/api/secure/store/quote`
    const body = { items: [print] }
    const refused = await visitor.post(path, body)
    expect([refused.status, refused.error.details]).toEqual([403, { reason: 'missing_nonce' }])
    const answer = await visitor.post<Quote>(path, body, { 'x-nonce': await visitor.nonce() })
    expect([answer.status, answer.data.total, answer.headers.get('cache-control')]).toEqual([200, 9.99, 'no-store'])
  })
})

it('says that nothing can be paid while the gateway has no key', async () => {
  const unready = await startShop({ seed, env: { SHOPSTEAD_PAYMENTS: 'stripe' } })
  const { problems } = await quote({ items: [print] }, unready.visitor())
  expect(codesOf(problems)).toEqual(['strategy payment_unavailable'])
  await unready.stop()
})
