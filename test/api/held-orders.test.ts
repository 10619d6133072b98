import { beforeEach, describe, expect, it } from 'vitest'
import type { Browser } from '../support/browser.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, fieldErrors, handoff, loggedIn, set, shopFor } from './checkout-support.ts'

const seed = {
  products: [
    { slug: 'lantern', name: 'Lantern', price: '40.00', stock: 10 },
    { slug: 'sheet', name: 'Sheet', price: '4.00' },
    { slug: 'lamp', name: 'Lamp', price: '20.00', stock: 1 },
    { slug: 'card', name: 'Card', price: '2.00' },
    { slug: 'kit', name: 'Kit', price: '3.00' }
  ]
}
const lanterns = (quantity: number) => ({ items: [{ productId: 1, quantity }] })
const sheet = { items: [{ productId: 2, quantity: 1 }] }
const lamp = { items: [{ productId: 3, quantity: 1 }] }
const card = { items: [{ productId: 4, quantity: 1 }] }
const kit = { items: [{ productId: 5, quantity: 1 }] }

let shop: RunningShop
beforeEach(async () => {
  shop = await shopFor({ seed, env: { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' } })
})

/** A guest with an empty cookie jar at a client address. */
const guestAt = (address: string): Browser => shop.visitor({ 'x-forwarded-for': address })

function pending(): number[] {
  return shop.app.db.sqlite
    .prepare("SELECT id FROM orders WHERE status = 'pending' ORDER BY id")
    .pluck()
    .all() as number[]
}

function stock(id: number): unknown {
  return shop.app.db.sqlite.prepare('SELECT stock FROM products WHERE id = ?').pluck().get(id)
}

describe('what unpaid orders hold', () => {
  it('is at most half of a stock for the guests of one address, however many browsers they use', async () => {
    expect((await checkOut(guestAt('192.0.2.1'), lanterns(3))).status).toBe(200)
    const refusal = await checkOut(guestAt('192.0.2.1'), lanterns(3))
    expect([refusal.status, fieldErrors(refusal)]).toEqual([422, ['items.0.quantity']])
    expect(refusal.error.details['fieldErrors']).toEqual({ 'items.0.quantity': ['Only 2 can be ordered at a time.'] })
    expect(refusal.error.details['problems']).toEqual([
      { path: 'items.0.quantity', code: 'not_enough', message: 'Lantern: only 2 can be ordered at a time.', left: 2 }
    ])
    expect((await checkOut(guestAt('192.0.2.1'), lanterns(2))).status).toBe(200)
    const last = await checkOut(guestAt('192.0.2.1'), lanterns(1))
    expect(last.error.details['problems']).toMatchObject([{ code: 'not_enough', left: 0 }])
    expect(stock(1)).toBe(5)
    expect((await checkOut(guestAt('192.0.2.2'), lanterns(2))).status).toBe(200)
  })

  it('can be all that is left for the first unpaid order of an address', async () => {
    expect((await checkOut(guestAt('192.0.2.1'), lanterns(10))).status).toBe(200)
    expect(stock(1)).toBe(0)
  })

  it('can be the last piece', async () => {
    expect((await checkOut(guestAt('192.0.2.1'), lamp)).status).toBe(200)
    expect(stock(3)).toBe(0)
  })

  it('can be the whole stock for a customer, and for a guest who pays immediately', async () => {
    const customer = await loggedIn(shop)
    expect((await checkOut(customer, lanterns(8))).status).toBe(200)
    expect((await checkOut(guestAt('192.0.2.1'), { ...handoff, ...lanterns(2) })).status).toBe(200)
    expect(stock(1)).toBe(0)
  })

  it('has a share that the operator can change', async () => {
    set(shop, { 'checkout.heldStockPercent': '100' })
    expect((await checkOut(guestAt('192.0.2.1'), lanterns(10))).status).toBe(200)
  })
})

describe('the unpaid orders of one buyer', () => {
  it.each(['a guest', 'a customer'])('are at most three: a fourth cancels the oldest of %s', async (who) => {
    const buyer = who === 'a guest' ? guestAt('192.0.2.1') : await loggedIn(shop)
    const orders = []
    for (const cart of [lanterns(1), sheet, card]) orders.push(Number((await checkOut(buyer, cart)).data.orderId))
    expect(pending()).toEqual(orders)
    expect(stock(1)).toBe(9)
    const fourth = await checkOut(buyer, kit)
    expect(fourth.status).toBe(200)
    expect(pending()).toEqual([...orders.slice(1), Number(fourth.data.orderId)])
    expect(stock(1)).toBe(10)
  })

  it('have their payment page closed when they are cancelled', async () => {
    const buyer = guestAt('192.0.2.1')
    for (const cart of [sheet, card, kit, lanterns(1)]) await checkOut(buyer, cart)
    const outcomes = shop.app.db.sqlite.prepare('SELECT outcome FROM payment_attempts ORDER BY id').pluck().all()
    expect(outcomes).toEqual(['expired', null, null, null])
  })

  it('do not count for another buyer who types the same email', async () => {
    const customer = { email: 'lena@shop.example' }
    for (let times = 0; times < 3; times += 1) await checkOut(guestAt('192.0.2.1'), { ...sheet, customer })
    await checkOut(guestAt('192.0.2.9'), { ...sheet, customer })
    expect(pending()).toHaveLength(4)
  })
})

describe('the unpaid orders of one address', () => {
  it('are at most twenty', async () => {
    for (let times = 0; times < 20; times += 1) expect((await checkOut(guestAt('192.0.2.1'), sheet)).status).toBe(200)
    const refusal = await checkOut(guestAt('192.0.2.1'), sheet)
    expect([refusal.status, refusal.error.code, refusal.error.details]).toEqual([
      429,
      'RATE_LIMITED',
      { bucket: 'held_orders' }
    ])
    expect(refusal.headers.get('retry-after')).toBe('1800')
    expect((await checkOut(guestAt('192.0.2.2'), sheet)).status).toBe(200)
  })

  it('never refuse the first order of a customer behind the same address, and refuse the second', async () => {
    set(shop, { 'checkout.heldOrdersPerAddress': '1' })
    const customer = await loggedIn(shop)
    expect((await checkOut(shop.visitor(), sheet)).status).toBe(200)
    expect((await checkOut(shop.visitor(), sheet)).status).toBe(429)
    expect((await customer.post<{ problems: object[] }>('/store/quote', sheet)).data.problems).toEqual([])
    expect((await checkOut(customer, sheet)).status).toBe(200)
    expect((await checkOut(customer, card)).error.details).toEqual({ bucket: 'held_orders' })
  })
})
