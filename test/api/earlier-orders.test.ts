import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { readyGateway } from '../../src/shop/payments/gateway.ts'
import { reconcile } from '../../src/shop/payments/reconcile.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { goodPassword, makeUser, proveEmail } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'
import { checkOut, set } from './checkout-support.ts'
import type { Result } from './checkout-support.ts'

const seed = {
  products: [
    { slug: 'last', name: 'Last lantern', price: '40.00', stock: 1 },
    { slug: 'mug', name: 'Mug', price: '12.50' },
    { slug: 'oil', name: 'Oil', price: '8.00' }
  ],
  coupons: [
    { code: 'ONCE', percent: 10, maxUses: 1 },
    { code: 'FIRST', percent: 10, maxUsesPerCustomer: 1 }
  ]
}
const last = { items: [{ productId: 1, quantity: 1 }] }
const mug = { items: [{ productId: 2, quantity: 1 }] }
const oil = { items: [{ productId: 3, quantity: 1 }] }
const both = { items: [...last.items, ...mug.items] }
const byToken = { strategy: 'token_handoff', returnUrl: 'https://front.example/done' }

const clock = testClock()
let shop: RunningShop
let buyer: Browser
beforeAll(async () => {
  shop = await startShop({ seed, overrides: { clock } })
  set(shop, { ...withoutHoldLimits, 'checkout.heldOrders': '3', 'limits.checkout_decline': 'off' })
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.app.db.sqlite.exec("UPDATE products SET stock = 1 WHERE slug = 'last'")
  shop.app.sandbox?.clearFaults()
  buyer = shop.visitor()
})

const idOf = ({ data }: Answer<Result>): number => Number(data.orderId)
const statusOf = (answer: Answer<Result>): string => getOrder(shop.app.db, idOf(answer)).status
const stock = (): unknown => shop.app.db.sqlite.prepare('SELECT stock FROM products WHERE id = 1').pluck().get()
const local = (url = ''): string => `${shop.url}${new URL(url).pathname}`

async function place(body: object, visitor = buyer, options: { query?: string; key?: string } = {}) {
  const answer = await checkOut(visitor, body, options)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer
}

describe('the same cart of the same buyer', () => {
  it('continues the same order and payment page, although the order holds the last piece', async () => {
    const first = await place(last)
    const again = await place(last)
    expect(again.data).toEqual(first.data)
    expect([stock(), attemptsOf(shop.app.db, idOf(first)).length]).toEqual([0, 1])
  })

  it('continues the same order for a customer, also from another browser', async () => {
    const email = 'lena@shop.example'
    await makeUser(shop.app, { email, verified: true })
    const logIn = async () => {
      const visitor = shop.visitor()
      await visitor.post('/auth/login', { email, password: goodPassword })
      return visitor
    }
    const first = await place(last, await logIn())
    expect((await place(last, await logIn())).data).toEqual(first.data)
  })

  it('is one order when it is sent twice at the same time', async () => {
    await place(oil)
    const [one, two] = await Promise.all([place(last), place(last)])
    expect(two.data).toEqual(one.data)
  })

  it('is a new order for another buyer, who finds it sold out', async () => {
    await place(last)
    expect((await checkOut(shop.visitor(), last)).status).toBe(422)
  })

  it('is a new order once the first one is paid', async () => {
    const first = await place({ ...mug, customer: { email: 'a@b.example' } })
    await buyer.form(local(first.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    const second = await place({ ...mug, customer: { email: 'a@b.example' } })
    expect(idOf(second)).toBeGreaterThan(idOf(first))
  })

  it('is a new order with another address, note or origin, which replaces the first one', async () => {
    const first = await place(last)
    const noted = await place({ ...last, notes: 'Please ring.' })
    const referred = await place({ ...last, notes: 'Please ring.' }, buyer, { query: '?utm_source=mail' })
    expect([statusOf(first), statusOf(noted), statusOf(referred)]).toEqual(['cancelled', 'cancelled', 'pending'])
  })

  it('leads to the page of the order while the bank decides about its payment', async () => {
    const body = { ...mug, customer: { email: 'a@b.example' } }
    const first = await place(body)
    await buyer.form(local(first.data.checkoutUrl), { payment_method: 'pm_sandbox_processing' })
    await buyer.fetch(`${shop.url}/checkout/return/${first.data.orderToken}`)
    const again = await place(body)
    expect([again.data.orderId, again.data.checkoutUrl]).toEqual([first.data.orderId, first.data.statusUrl])
  })

  it('is sold out when the order failed and its last piece was bought by another buyer', async () => {
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.create', fault: '401', times: -1 })
    expect((await checkOut(buyer, last)).status).toBe(502)
    shop.app.sandbox?.clearFaults()
    await place(last, shop.visitor())
    const again = await checkOut(buyer, last)
    expect([again.status, again.error.details['problems']]).toMatchObject([422, [{ code: 'sold_out' }]])
  })

  it('is a new order when the hold is almost over', async () => {
    const first = await place(last)
    clock.advance(26 * 60_000)
    const again = await place(last)
    expect([statusOf(first), statusOf(again)]).toEqual(['cancelled', 'pending'])
  })

  it('continues the order whose payment page could not be opened', async () => {
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.create', fault: 'reset', times: 3 })
    expect((await checkOut(buyer, last)).status).toBe(504)
    expect(stock()).toBe(0)
    const again = await place(last)
    expect([statusOf(again), stock()]).toEqual(['pending', 0])
  })

  it('charges a card that follows a declined one at the price of now, not at that of the declined order', async () => {
    const setPrice = shop.app.db.sqlite.prepare('UPDATE products SET price_minor = ? WHERE id = 2')
    const declined = await checkOut(buyer, { ...mug, ...byToken, paymentToken: 'pm_card_chargeDeclined' })
    expect(declined.status).toBe(402)
    setPrice.run(1000)
    const paid = await place({ ...mug, ...byToken, paymentToken: 'pm_card_visa' })
    setPrice.run(1250)
    expect(getOrder(shop.app.db, idOf(paid))).toMatchObject({ status: 'processing', totalMinor: 1000 })
  })

  it('is paid by another card in the same order after a declined one', async () => {
    const body = { ...mug, ...byToken }
    const declined = await checkOut(buyer, { ...body, paymentToken: 'pm_card_chargeDeclined' })
    expect(declined.status).toBe(402)
    const failed = shop.app.db.sqlite.prepare("SELECT max(id) FROM orders WHERE status = 'failed'").pluck().get()
    const paid = await place({ ...body, paymentToken: 'pm_card_visa' })
    expect([paid.data.orderId, paid.data.status]).toEqual([failed, 'processing'])
    expect(attemptsOf(shop.app.db, idOf(paid)).map(({ outcome }) => outcome)).toEqual(['paid', 'failed'])
  })
})

describe('a newer cart of the same buyer', () => {
  it('replaces the older order, whose last piece it contains, and closes its payment page', async () => {
    const older = await place(last)
    const newer = await place(both)
    expect([statusOf(older), statusOf(newer), stock()]).toEqual(['cancelled', 'pending', 0])
    expect((await buyer.fetch(local(older.data.checkoutUrl))).status).toBe(410)
  })

  it('replaces the older order, too, when both carts are sent at the same time', async () => {
    await place(oil)
    const [older, newer] = await Promise.all([place(last), place(both)])
    expect([statusOf(older), statusOf(newer), stock()]).toEqual(['cancelled', 'pending', 0])
  })

  it('gets the coupon that the older order used', async () => {
    const older = await place({ ...mug, couponCode: 'ONCE' })
    const newer = await place({ ...oil, couponCode: 'once' })
    expect([statusOf(older), getOrder(shop.app.db, idOf(newer)).discountMinor]).toEqual(['cancelled', 80])
  })

  it('is payable in a quote, which releases nothing', async () => {
    const older = await place(last)
    const { data } = await buyer.post('/store/quote', both)
    expect([data['payable'], data['problems']]).toEqual([true, []])
    expect([statusOf(older), stock()]).toEqual(['pending', 0])
    expect((await shop.visitor().post('/store/quote', both)).data['payable']).toBe(false)
  })

  it('is not payable while the bank decides about the payment of the older order', async () => {
    const older = await place({ ...last, customer: { email: 'a@b.example' } })
    await buyer.form(local(older.data.checkoutUrl), { payment_method: 'pm_sandbox_processing' })
    await buyer.fetch(`${shop.url}/checkout/return/${older.data.orderToken}`)
    expect((await buyer.post('/store/quote', both)).data['payable']).toBe(false)
    expect([(await checkOut(buyer, both)).status, statusOf(older)]).toEqual([422, 'pending'])
  })

  it('leaves the older order when it is refused itself', async () => {
    const older = await place(last)
    const refused = await checkOut(buyer, { items: [...both.items, { productId: 99, quantity: 1 }] })
    expect([refused.status, statusOf(older), stock()]).toEqual([422, 'pending', 0])
  })

  it('leaves orders of other products', async () => {
    const older = await place(last)
    await place(oil)
    expect(statusOf(older)).toBe('pending')
  })

  it('does not replace an order that was paid in another tab', async () => {
    const older = await place({ ...mug, customer: { email: 'a@b.example' } })
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    await buyer.form(local(older.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    const newer = await place({ items: [{ productId: 2, quantity: 2 }] })
    expect([statusOf(older), statusOf(newer)]).toEqual(['processing', 'pending'])
  })

  it('does not get the last piece of an order that was paid before the shop heard of it', async () => {
    const older = await place({ ...last, customer: { email: 'a@b.example' } })
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    await buyer.form(local(older.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    const newer = await checkOut(buyer, both)
    expect(newer.error.details['problems']).toMatchObject([{ path: 'items.0.quantity', code: 'sold_out' }])
    expect([newer.status, statusOf(older)]).toEqual([422, 'processing'])
  })

  it('replaces the older order when the gateway does not answer whether it is paid', async () => {
    const older = await place(last)
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.retrieve', fault: '500', times: -1 })
    const newer = await place(both)
    expect([statusOf(older), statusOf(newer)]).toEqual(['cancelled', 'pending'])
  })

  it('does not cancel an order that was paid with a coupon that its buyer has used before', async () => {
    const email = 'paula@b.example'
    const body = { ...mug, couponCode: 'FIRST' }
    const guest = shop.visitor()
    await proveEmail(shop, guest, email)
    const first = await place({ ...body, customer: { email } }, guest)
    await buyer.form(local(first.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    await buyer.fetch(`${shop.url}/checkout/return/${first.data.orderToken}`)
    // The account has the same email, which is not verified.
    await makeUser(shop.app, { email })
    await buyer.post('/auth/login', { email, password: goodPassword })
    const paid = await place(body)
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    await buyer.form(local(paid.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    await place(mug)
    expect([statusOf(first), statusOf(paid)]).toEqual(['processing', 'on-hold'])
  })

  it('replaces the order that the buyer placed as a guest before logging in', async () => {
    const older = await place(last)
    const email = 'uma@shop.example'
    await makeUser(shop.app, { email, verified: true })
    await buyer.post('/auth/login', { email, password: goodPassword })
    const newer = await place(last)
    expect([statusOf(older), statusOf(newer)]).toEqual(['cancelled', 'pending'])
  })

  it('replaces a card payment that the buyer did not confirm at the bank', async () => {
    const asked = await place({ ...last, ...byToken, paymentToken: 'pm_card_authenticationRequired' })
    const newer = await place({ ...last, ...byToken, paymentToken: 'pm_card_visa' })
    expect([statusOf(asked), statusOf(newer)]).toEqual(['cancelled', 'processing'])
  })
})

describe('an Idempotency-Key', () => {
  it('repeats the response until the order is cancelled, and then buys the cart again', async () => {
    const first = await place(last, buyer, { key: 'cart-1' })
    expect((await place(last, buyer, { key: 'cart-1' })).text).toBe(first.text)
    await buyer.post(`/store/orders/${first.data.orderToken}/cancel`)
    const again = await place(last, buyer, { key: 'cart-1' })
    expect([idOf(again) > idOf(first), statusOf(again)]).toEqual([true, 'pending'])
    expect((await place(last, buyer, { key: 'cart-1' })).text).toBe(again.text)
  })

  it('repeats the response of an order that a newer one has replaced, and leaves the newer one', async () => {
    const first = await place(last, buyer, { key: 'cart-3' })
    const newer = await place({ ...last, notes: 'Please ring.' })
    expect((await place(last, buyer, { key: 'cart-3' })).text).toBe(first.text)
    expect([statusOf(first), statusOf(newer)]).toEqual(['cancelled', 'pending'])
  })

  it('leads to the continued order, too', async () => {
    const first = await place(last)
    const again = await place(last, buyer, { key: 'cart-2' })
    expect(again.data).toEqual(first.data)
    expect((await place(last, buyer, { key: 'cart-2' })).text).toBe(again.text)
  })
})

describe('a payment by token that is sent twice at the same time', () => {
  const card = { ...oil, ...byToken, customer: { email: 'lena@shop.example' }, paymentToken: 'pm_card_visa' }
  const orders = (): unknown => shop.app.db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()
  const slowly = () =>
    shop.app.sandbox?.addFault({ target: 'payment_intents.confirm', fault: 'slow', delayMs: 150, times: -1 })

  it('is one order and one charge for a browser, also before it has a cookie, and both get its answer', async () => {
    slowly()
    for (const visitor of [shop.visitor(), buyer]) {
      const before = Number(orders())
      const [one, two] = await Promise.all([
        place(card, visitor),
        place({ ...card, paymentToken: 'pm_card_mastercard' }, visitor)
      ])
      expect(two.data).toEqual(one.data)
      expect([one.data.status, Number(orders()) - before]).toEqual(['processing', 1])
    }
  })

  it('is a new purchase after the first one has its answer', async () => {
    const first = await place(card)
    const second = await place(card)
    expect([idOf(second) > idOf(first), second.data.status]).toEqual([true, 'processing'])
  })

  it('is two orders for two browsers with cookies, for another cart, and under two keys', async () => {
    const other = shop.visitor()
    for (const visitor of [buyer, other]) await place(mug, visitor)
    slowly()
    const pairs = [
      [() => place(card), () => place(card, other)],
      [() => place(card), () => place({ ...card, ...mug })],
      [() => place(card, buyer, { key: 'key one' }), () => place(card, buyer, { key: 'key two' })]
    ] as const
    for (const [one, two] of pairs) {
      const [first, second] = await Promise.all([one(), two()])
      expect(idOf(second)).not.toBe(idOf(first))
    }
  })
})

describe('an order that replaces an older one', () => {
  const pageOf = async (orderId: number) => {
    const sessionId = attemptsOf(shop.app.db, orderId).at(-1)?.objectId ?? ''
    const stripe = await readyGateway(shop.app).client()
    return (await stripe.checkout.sessions.retrieve(sessionId)).status
  }

  it('is stored with the end of the older one, whose page the reconciler closes when the gateway did not answer', async () => {
    const first = await place(last)
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.expire', fault: '500', times: -1 })
    const second = await place({ ...last, notes: 'Please ring.' })
    expect([statusOf(first), statusOf(second), stock()]).toEqual(['cancelled', 'pending', 0])
    expect(await pageOf(idOf(first))).toBe('open')
    shop.app.sandbox?.clearFaults()
    await reconcile(shop.app, {})
    expect([await pageOf(idOf(first)), await pageOf(idOf(second))]).toEqual(['expired', 'open'])
    expect(statusOf(second)).toBe('pending')
  })

  it('leaves the older one, with its page, when it cannot be stored', async () => {
    const first = await place(last)
    const { sqlite } = shop.app.db
    sqlite.exec("CREATE TRIGGER refuse BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'refused by the test'); END")
    const answer = await checkOut(buyer, { ...last, notes: 'Please ring.' })
    sqlite.exec('DROP TRIGGER refuse')
    expect([answer.status, statusOf(first), await pageOf(idOf(first)), stock()]).toEqual([500, 'pending', 'open', 0])
  })

  it('stays beside the older one when that was paid a moment before', async () => {
    const body = { ...mug, customer: { email: 'a@b.example' } }
    const first = await place(body)
    shop.app.sandbox?.addFault({ target: 'webhook:checkout.session.completed', fault: 'lost', times: -1 })
    await buyer.form(local(first.data.checkoutUrl), { payment_method: 'pm_card_visa' })
    const second = await place({ ...body, notes: 'Please ring.' })
    expect([statusOf(first), statusOf(second)]).toEqual(['processing', 'pending'])
  })
})
