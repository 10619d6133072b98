import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { users } from '../../../src/shop/accounts/schema.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { productGrants } from '../../../src/shop/catalog/schema.ts'
import { placeOrder } from '../../../src/shop/checkout/checkout.ts'
import type { CheckoutCaller, PlacedOrder } from '../../../src/shop/checkout/continue-order.ts'
import { claimKey } from '../../../src/shop/checkout/idempotency.ts'
import { checkoutBody, checkoutQuery } from '../../../src/shop/checkout/input.ts'
import { offersChoice } from '../../../src/shop/checkout/payment-config.ts'
import type { CardGateway } from '../../../src/shop/context.ts'
import { write } from '../../../src/platform/db/database.ts'
import { findAttribution, historyOf, itemsOf } from '../../../src/shop/orders/find.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { attemptsOf } from '../../../src/shop/payments/attempts.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { atOnce, countOf, refusal, tally } from '../../support/accounts.ts'
import { goodPassword } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate, makeCoupon, makeProduct, makeUser } from '../orders/support.ts'
import { quay } from '../../support/addresses.ts'

/** A gateway that no order of these tests gets as far as. */
const cards: CardGateway = {
  name: 'sandbox',
  livemode: false,
  webhookSecret: undefined,
  client: () => Promise.reject(new Error('the gateway was asked'))
}
const guest: CheckoutCaller = {
  user: null,
  addressKey: '192.0.2.7',
  holder: { buyer: 'guest:a', isGuest: true, cookieBuyer: null, addressKey: 'a' },
  mailbox: null,
  takeKey: null
}
const handoff = { strategy: 'token_handoff', returnUrl: 'https://front.example/done', paymentToken: 'pm_card_visa' }

function openShop(env: Record<string, string> = {}, gateway: CardGateway | null = cards) {
  const shop = openTestShop(env)
  makeProduct(shop.db)
  return { shop, [Symbol.dispose]: () => shop[Symbol.dispose](), with: { ...shop, cards: gateway } }
}

type Opened = ReturnType<typeof openShop>

function buy({ with: shop }: Opened, body: object = {}, caller: Partial<CheckoutCaller> = {}, query: object = {}) {
  const input = {
    body: checkoutBody.parse({ items: [{ productId: 1, quantity: 1 }], shippingAddress: quay, ...body }),
    query: checkoutQuery.parse(query)
  }
  return placeOrder(shop, input, { ...guest, ...caller }, shop.clock.now())
}

function set(shop: TestShop, settings: Partial<Record<SettingKey, string>>): void {
  for (const [key, value] of Object.entries(settings)) setSetting(shop.db, key as SettingKey, value, shop.clock.now())
}

function customer(shop: TestShop, changes: Partial<UserRow> = {}): UserRow {
  const { id } = makeUser(shop.db, 'lena@shop.example')
  return shop.db.orm
    .update(users)
    .set({ displayName: 'Lena Brandt', ...changes })
    .where(eq(users.id, id))
    .returning()
    .get()
}

const invalid = (...fields: string[]) =>
  refusal('VALIDATION_FAILED', {
    fieldErrors: Object.fromEntries(fields.map((field) => [field, [expect.stringMatching(/\.$/)]]))
  })
const ordersOf = (shop: TestShop) => shop.db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()

describe('the data of an order', () => {
  test("contains a guest's contact, addresses without empty fields, notes and return URLs", async () => {
    using opened = openShop()
    set(opened.shop, { 'checkout.holdMinutes': '45' })
    const { order } = await buy(opened, {
      customer: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Quill', phone: '1', companyName: 'Kelp' },
      billingAddress: { city: 'Hamburg', country: 'DE', address2: '' },
      shippingAddress: { city: 'Oslo' },
      notes: 'Ring twice.',
      returnUrl: 'https://front.example/done',
      cancelUrl: 'https://front.example/cart'
    })
    expect(order).toMatchObject({
      userId: null,
      email: 'ada@example.com',
      contact: { firstName: 'Ada', lastName: 'Quill', phone: '1', companyName: 'Kelp' },
      billingAddress: { city: 'Hamburg', country: 'DE' },
      shippingAddress: { city: 'Oslo' },
      notes: 'Ring twice.',
      returnUrl: 'https://front.example/done',
      cancelUrl: 'https://front.example/cart',
      strategy: 'redirect_to_store',
      currency: 'EUR',
      totalMinor: 1250,
      status: 'pending',
      holdEndsAt: opened.shop.clock.now() + 45 * 60_000
    })
    expect(order.billingAddress).not.toHaveProperty('address2')
  })

  test('is empty for a guest who sends only items', async () => {
    using opened = openShop()
    const { order } = await buy(opened, { shippingAddress: undefined, billingAddress: { city: ' ' } })
    expect(order).toMatchObject({
      email: null,
      contact: {},
      billingAddress: null,
      shippingAddress: null,
      notes: null,
      returnUrl: null,
      cancelUrl: null
    })
    expect(Object.keys(order.contact)).toEqual([])
  })

  test("contains the email of a customer's account, and its names unless the request has others", async () => {
    using opened = openShop()
    const user = customer(opened.shop, {
      firstName: 'Lena',
      lastName: 'Brandt',
      billingPhone: '+49 30',
      companyName: 'Tide'
    })
    const silent = await buy(opened, {}, { user })
    const contact = { firstName: 'Lena', lastName: 'Brandt', phone: '+49 30', companyName: 'Tide' }
    expect(silent.order).toMatchObject({ userId: user.id, email: 'lena@shop.example', contact })
    const sent = { firstName: 'Ada', lastName: 'Quill', phone: '1', companyName: 'Kelp' }
    const other = await buy(opened, { customer: { ...sent, email: 'ada@example.com' } }, { user })
    expect(other.order).toMatchObject({ email: 'lena@shop.example', contact: sent })
  })

  test("contains a guest's email from the customer, otherwise from the billing address", async () => {
    using opened = openShop()
    const billingAddress = { email: 'bill@example.com' }
    expect((await buy(opened, { billingAddress })).order.email).toBe('bill@example.com')
    const both = { billingAddress, customer: { email: 'ada@example.com' } }
    expect((await buy(opened, both)).order.email).toBe('ada@example.com')
  })

  test("requires a guest's email for a card payment if the shop requires one", async () => {
    using opened = openShop()
    set(opened.shop, { 'checkout.guestEmail': 'required' })
    await expect(buy(opened, handoff)).rejects.toThrow(invalid('customer.email'))
    expect(ordersOf(opened.shop)).toBe(0)
    expect((await buy(opened, { ...handoff, customer: { email: 'ada@example.com' } })).order.email).toBe(
      'ada@example.com'
    )
    expect((await buy(opened)).order.email).toBeNull()
    set(opened.shop, { 'checkout.guestEmail': 'optional' })
    expect((await buy(opened, handoff)).order.email).toBeNull()
  })
})

describe('the return URLs', () => {
  test('must have an origin that the shop allows; the error names each field', async () => {
    using opened = openShop()
    set(opened.shop, { 'checkout.returnOrigins': 'https://front.example' })
    const elsewhere = 'https://elsewhere.example/'
    const front = 'https://front.example/x'
    await expect(buy(opened, { returnUrl: elsewhere, cancelUrl: elsewhere })).rejects.toThrow(
      invalid('returnUrl', 'cancelUrl')
    )
    await expect(buy(opened, { returnUrl: front, cancelUrl: elsewhere })).rejects.toThrow(invalid('cancelUrl'))
    expect(ordersOf(opened.shop)).toBe(0)
    await buy(opened, { returnUrl: front, cancelUrl: front })
    await buy(opened)
  })
})

describe('a payment method that the shop does not offer', () => {
  test('is refused when it is a card and the shop does not accept cards', async () => {
    using opened = openShop({ SHOPSTEAD_PAYMENTS: 'manual' }, null)
    await expect(buy(opened, handoff)).rejects.toThrow(refusal('CHECKOUT_NOT_IMPLEMENTED'))
    const { order, attempt } = await buy(opened)
    expect([order.status, attempt]).toEqual(['pending', null])
  })

  test('is refused before the gateway is configured, except manual payment', async () => {
    using opened = openShop({}, { ...cards, client: undefined })
    for (const body of [handoff, {}])
      await expect(buy(opened, body)).rejects.toThrow(refusal('CHECKOUT_GATEWAY_NOT_CONFIGURED'))
    using both = openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' }, { ...cards, client: undefined })
    await expect(buy(both, handoff)).rejects.toThrow(refusal('CHECKOUT_GATEWAY_NOT_CONFIGURED'))
    expect((await buy(both)).attempt).toBeNull()
  })

  test('is refused when the shop has no gateway and no manual payment', async () => {
    using opened = openShop({}, null)
    await expect(buy(opened)).rejects.toThrow(refusal('CHECKOUT_GATEWAY_NOT_CONFIGURED'))
  })
})

describe('the first payment of an order', () => {
  test.each([
    ['redirect_to_store', {}, 'checkout_session'],
    ['token_handoff', handoff, 'payment_intent']
  ])('is stored for %s before the gateway is called', async (_strategy, body, kind) => {
    using opened = openShop({}, { ...cards, livemode: true })
    const { order, attempt } = await buy(opened, body)
    expect(attempt).toMatchObject({
      orderId: order.id,
      gateway: 'sandbox',
      kind,
      livemode: true,
      amountMinor: 1250,
      outcome: null
    })
    expect(attemptsOf(opened.shop.db, order.id)).toEqual([attempt])
  })

  test('is chosen by the buyer on the hosted page when manual payment is offered, but not with token_handoff', async () => {
    using opened = openShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
    expect(offersChoice(opened.with, 'redirect_to_store')).toBe(true)
    expect(offersChoice(opened.with, 'token_handoff')).toBe(false)
    expect((await buy(opened)).attempt).toBeNull()
    expect((await buy(opened, handoff)).attempt).toMatchObject({ kind: 'payment_intent' })
  })

  test('is not needed for a total of zero: the order is paid immediately', async () => {
    using opened = openShop()
    const now = opened.shop.clock.now()
    const productId = makeProduct(opened.shop.db, { priceMinor: 0 })
    const { order, attempt } = await buy(opened, { items: [{ productId, quantity: 1 }] })
    expect(attempt).toBeNull()
    expect(order).toMatchObject({ status: 'processing', paidAt: now })
    expect(attemptsOf(opened.shop.db, order.id)).toMatchObject([
      { gateway: 'none', kind: 'none', livemode: false, outcome: 'paid', gatewayStatus: 'not_required', settledAt: now }
    ])
    expect(historyOf(opened.shop.db, order.id).at(-1)).toMatchObject({ by: 'checkout', reason: 'nothing to pay' })
  })
})

describe('codes that do not apply', () => {
  const codes = { couponCodes: ['NOPE', 'NEITHER'] }

  test('count one by one; without points left, a right code is not checked either', async () => {
    using opened = openShop()
    makeCoupon(opened.shop.db)
    set(opened.shop, { 'limits.coupon_failure': '2/60' })
    await expect(buy(opened, codes)).rejects.toThrow(invalid('couponCodes.0', 'couponCodes.1'))
    const limited = refusal('RATE_LIMITED', { bucket: 'coupon_failure' })
    await expect(buy(opened, { couponCode: 'WELCOME10' })).rejects.toThrow(limited)
    expect((await buy(opened)).order.discountMinor).toBe(0)
    const elsewhere = { addressKey: '192.0.2.8' }
    expect((await buy(opened, { couponCode: 'WELCOME10' }, elsewhere)).order.discountMinor).toBe(125)
  })

  test('are RATE_LIMITED when there are more of them than points left', async () => {
    using opened = openShop()
    set(opened.shop, { 'limits.coupon_failure': '1/60' })
    await expect(buy(opened, codes)).rejects.toThrow(refusal('RATE_LIMITED', { bucket: 'coupon_failure' }))
  })

  test('get no more tries when they arrive together than in sequence, also with a new account', async () => {
    using opened = openShop()
    makeCoupon(opened.shop.db)
    set(opened.shop, { 'limits.coupon_failure': '7/60', 'limits.checkout_ip': 'off', 'limits.register_ip': 'off' })
    const results = await atOnce(1000, (index) => {
      const customer = index % 2 === 0 ? {} : { email: `a${index}@example.com`, createAccount: true }
      const couponCode = index % 20 === 19 ? 'WELCOME10' : `GUESS${index}`
      return buy(opened, { couponCode, customer: { ...customer, password: goodPassword } })
    })
    expect(tally(results)).toEqual({ VALIDATION_FAILED: 7, RATE_LIMITED: 993 })
    expect(ordersOf(opened.shop)).toBe(0)
  })

  test('are reported ten at a time only while enough points are left', async () => {
    using opened = openShop()
    makeCoupon(opened.shop.db)
    set(opened.shop, { 'limits.coupon_failure': '25/60' })
    const guesses = Array.from({ length: 10 }, (_, index) => `GUESS${index}`)
    const results = await atOnce(20, (index) => buy(opened, { couponCodes: index === 10 ? ['WELCOME10'] : guesses }))
    expect(tally(results)).toEqual({ VALIDATION_FAILED: 2, RATE_LIMITED: 18 })
  })

  test('do not block right codes that arrive at the same time, nor a later cart without codes', async () => {
    using opened = openShop()
    makeCoupon(opened.shop.db)
    set(opened.shop, { 'limits.coupon_failure': '3/60', 'checkout.heldOrdersPerAddress': '200' })
    const results = await atOnce(80, (index) => buy(opened, { couponCode: index < 2 ? 'NOPE' : 'WELCOME10' }))
    expect(tally(results)).toEqual({ VALIDATION_FAILED: 2, in: 78 })
    await expect(buy(opened, { couponCode: 'NOPE' })).rejects.toThrow(invalid('couponCode'))
    expect(tally(await atOnce(40, () => buy(opened)))).toEqual({ in: 40 })
  })

  test('do not count for a cart that fails because of an item', async () => {
    using opened = openShop()
    set(opened.shop, { 'limits.coupon_failure': '1/60' })
    for (let time = 0; time < 3; time += 1)
      await expect(buy(opened, { items: [{ productId: 9, quantity: 1 }] })).rejects.toThrow(
        invalid('items.0.productId')
      )
  })

  test('apply once for an account, and for a guest only with a proof of the email', async () => {
    using opened = openShop()
    makeCoupon(opened.shop.db, { maxUsesPerCustomer: 1 })
    const couponCode = 'WELCOME10'
    const unproven = buy(opened, { couponCode, customer: { email: 'Ada@example.com' } })
    await expect(unproven).rejects.toMatchObject({ details: { problems: [{ code: 'login_needed' }] } })
    const user = customer(opened.shop)
    const { order } = await buy(opened, { couponCode }, { user })
    const { db } = opened.shop
    write(db, (tx) => payOrder(tx, order.id, { by: 'test', reason: 'paid' }, opened.shop.clock.now()))
    await expect(buy(opened, { couponCode }, { user })).rejects.toThrow(invalid('couponCode'))
  })
})

describe('an account that a guest creates with the order', () => {
  const withAccount = { email: 'ada@example.com', createAccount: true, password: goodPassword }

  test('owns the order, unless its email must be verified first', async () => {
    using opened = openShop()
    const { order } = await buy(opened, { customer: withAccount })
    expect(order.userId).toBe(1)
    set(opened.shop, { 'registration.emailVerification': 'true' })
    const waiting = await buy(opened, { customer: { ...withAccount, email: 'uma@example.com' } })
    expect(waiting.order.userId).toBeNull()
    expect(opened.shop.db.sqlite.prepare('SELECT count(*) FROM users').pluck().get()).toBe(2)
  })

  test('is not hashed or limited for a cart that is refused', async () => {
    using opened = openShop()
    set(opened.shop, { 'limits.register_ip': '1/60' })
    const items = [{ productId: 9, quantity: 1 }]
    for (let time = 0; time < 2; time += 1)
      await expect(buy(opened, { items, customer: withAccount })).rejects.toThrow(invalid('items.0.productId'))
    expect((await buy(opened, { customer: withAccount })).order.userId).toBe(1)
  })

  test('is ignored for a customer who is logged in', async () => {
    using opened = openShop()
    const user = customer(opened.shop)
    expect((await buy(opened, { customer: { ...withAccount, password: 'weak' } }, { user })).order.userId).toBe(user.id)
  })
})

describe('subscriptions of different lengths', () => {
  test('cannot share a payment page, but can share a card payment', async () => {
    using opened = openShop()
    const each = (interval: 'month' | 'year') => {
      const productId = makeProduct(opened.shop.db, { type: 'digital' })
      const spec = { kind: 'subscription', interval, pro: false } as const
      opened.shop.db.orm.insert(productGrants).values({ productId, spec, position: 0 }).run()
      return { productId, quantity: 1 }
    }
    const items = [each('month'), each('year')]
    await expect(buy(opened, { items })).rejects.toThrow(refusal('VALIDATION_FAILED'))
    const { order } = await buy(opened, { ...handoff, items })
    expect(itemsOf(opened.shop.db, order.id)).toHaveLength(2)
  })
})

describe('a ref', () => {
  test.each([
    ['the email of the order', { customer: { email: 'mira@shop.example' } }],
    [
      "the billing address's email",
      { customer: { email: 'ada@example.com' }, billingAddress: { email: 'mira@shop.example' } }
    ]
  ])('is not credited to a guest who is the affiliate by %s', async (_what, body) => {
    using opened = openShop()
    makeAffiliate(opened.shop.db, makeUser(opened.shop.db, 'mira@shop.example').id)
    const mine = await buy(opened, body, {}, { ref: 'mira' })
    expect(findAttribution(opened.shop.db, mine.order.id)?.candidates[0]?.outcome).toBe('self')
    const other = await buy(opened, { customer: { email: 'ada@example.com' } }, {}, { ref: 'mira' })
    expect(findAttribution(opened.shop.db, other.order.id)?.candidates[0]?.outcome).toBe('credited')
  })

  test.each([
    ["the account's billing email", { billingEmail: 'mira@shop.example' }, {}],
    ['the email of the request', {}, { customer: { email: 'mira@shop.example' } }]
  ])('is not credited to a customer who is the affiliate by %s', async (_what, account, body) => {
    using opened = openShop()
    const user = customer(opened.shop, account)
    makeAffiliate(opened.shop.db, makeUser(opened.shop.db, 'mira@shop.example').id)
    const { order } = await buy(opened, body, { user }, { ref: 'mira' })
    expect(findAttribution(opened.shop.db, order.id)?.candidates[0]?.outcome).toBe('self')
  })
})

test('links a key to its order, and to no order when the checkout fails', async () => {
  using opened = openShop()
  const { db, clock } = opened.shop
  const asked = { scope: 'address:192.0.2.7', key: 'k', fingerprint: 'f', bodyFingerprint: 'b', buyer: 'guest:a' }
  const claimed = await claimKey(db, asked, clock.now())
  if (claimed.kind !== 'fresh') throw new Error('the key was not fresh')
  const takeKey = () => Promise.resolve(claimed.claim)
  const tied = () => db.sqlite.prepare('SELECT order_id FROM idempotency_keys').pluck().get()
  await expect(buy(opened, { items: [{ productId: 9, quantity: 1 }] }, { takeKey })).rejects.toThrow()
  expect(tied()).toBeNull()
  const { order } = await buy(opened, {}, { takeKey })
  expect(tied()).toBe(order.id)
})

describe('the same checkout that arrives again before the first has made its order', () => {
  const asAccount = { customer: { email: 'ada@example.com', createAccount: true, password: goodPassword } }

  test.each([
    ['with a key', {}, true],
    ['without a key', {}, false],
    ['with an account and a key', asAccount, true],
    ['with an account', asAccount, false]
  ])('continues its order: %s', async (_title, body, withKey) => {
    using opened = openShop()
    const { shop } = opened
    const asked = (key: string) => ({
      scope: 'address:a',
      key,
      fingerprint: key,
      bodyFingerprint: key,
      buyer: 'guest:a'
    })
    // The second request overtakes the first while that waits for its key or its hash.
    let second: Promise<PlacedOrder> | undefined
    const claim = (key: string) => async () => {
      const claimed = await claimKey(shop.db, asked(key), shop.clock.now())
      if (claimed.kind !== 'fresh') throw new Error(`the key ${key} was used`)
      return claimed.claim
    }
    const overtaken = async () => {
      second ??= buy(opened, body, withKey ? { takeKey: claim('second') } : {})
      await second
      return claim('first')()
    }
    const first = buy(opened, body, withKey ? { takeKey: overtaken } : {})
    if (!withKey) second = buy(opened, body)
    const placed = [await first, await second]
    expect(placed.map((one) => [one?.order.id, one?.attempt?.orderId])).toEqual([
      [1, 1],
      [1, 1]
    ])
    expect([ordersOf(shop), countOf(shop, 'payment_attempts')]).toEqual([1, 1])
    const keys = shop.db.sqlite.prepare('SELECT order_id FROM idempotency_keys').pluck().all()
    expect(keys).toEqual(withKey ? [1, 1] : [])
  })
})
