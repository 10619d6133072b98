import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { getOrder, historyOf } from '../../src/shop/orders/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { write } from '../../src/platform/db/database.ts'
import { shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { quay } from '../support/addresses.ts'
import { checkOut, freeSheet, handoff, lamp, lastOne, mug, print, set } from './checkout-support.ts'

type Seen = {
  order: Record<string, unknown>
  canPay: boolean
  payUrl: string | null
  canCancel: boolean
  subscription: object | null
}
type Placed = { orderId: string; orderToken: string; statusUrl: string; checkoutUrl: string }

let shop: RunningShop
let buyer: Browser
beforeAll(async () => {
  shop = await startShop()
  set(shop, withoutHoldLimits)
  buyer = shop.visitor()
})
afterAll(() => shop.stop())

async function place(body: object = { items: [mug] }): Promise<Placed> {
  const answer = await checkOut(shop.visitor(), body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.data as unknown as Placed
}
const read = (token: string): Promise<Answer<Seen>> => buyer.get<Seen>(`/store/orders/${token}`)
const cancel = (token: string): Promise<Answer<Seen>> => buyer.post<Seen>(`/store/orders/${token}/cancel`)
const stock = (id: number): unknown =>
  shop.app.db.sqlite.prepare('SELECT stock FROM products WHERE id = ?').pluck().get(id)
/** The path of an address of the shop, whose public URL has another host name than the test's server. */
const local = (url: string): string => `${shop.url}${new URL(url).pathname}`

describe('the token of an order', () => {
  it('shows what was shipped of the order, with the link to track it', async () => {
    const { orderToken, orderId, statusUrl } = await place({ items: [{ ...lamp, quantity: 2 }] })
    const id = Number(orderId)
    const { db, clock } = shop.app
    write(db, (tx) => moveOrder(tx, id, 'processing', { by: 'test', reason: 'paid' }, clock.now()))
    const parcel = { carrier: 'UPS', tracking: '1Z 9', url: null, items: [{ line: 1, quantity: 1 }] }
    shipOrder(db, id, parcel, 'test', clock.now())
    expect((await read(orderToken)).data.order['shipments']).toEqual([
      {
        shippedAt: expect.stringMatching(/Z$/),
        carrier: 'UPS',
        tracking: '1Z 9',
        url: 'https://www.ups.com/track?tracknum=1Z%209',
        lines: [{ line: 1, name: 'Lamp', quantity: 1 }]
      }
    ])
    const page = await (await buyer.fetch(local(statusUrl))).text()
    expect(page).toMatch(/1 × Lamp\. <a href="https:\/\/www\.ups\.com\/track\?tracknum=1Z%209"[^>]*>Track UPS<\/a>/)
  })

  it('comes with the answer of both strategies and cannot be guessed', async () => {
    const redirect = await place()
    const direct = await place({ items: [mug], ...handoff })
    for (const { orderToken, statusUrl } of [redirect, direct]) {
      expect(Buffer.from(orderToken, 'base64url').length).toBeGreaterThanOrEqual(16)
      expect(statusUrl).toBe(`${shop.app.publicUrl()}/checkout/done/${orderToken}`)
      expect((await buyer.fetch(local(statusUrl))).status).toBe(200)
    }
    expect(redirect.orderToken).not.toBe(direct.orderToken)
  })

  it('shows the order without a session, and nothing of the person', async () => {
    const { orderToken, orderId } = await place({
      items: [mug, { ...lamp, quantity: 2 }],
      couponCode: 'TEN',
      customer: { email: 'ada.quill@example.com', firstName: 'Ada', phone: '0401234' },
      shippingAddress: { ...quay, firstName: 'Ada' }
    })
    const { status, data, headers, text } = await read(orderToken)
    expect(status).toBe(200)
    expect(data).toEqual({
      order: expect.objectContaining({
        id: Number(orderId),
        status: 'pending',
        total: 65.25,
        email: 'a…@example.com',
        totals: { subtotal: 72.5, discount: 7.25, shipping: 0, tax: 0, taxIncluded: true, total: 65.25 },
        shippingMethod: null,
        shipments: [],
        invoiceUrl: null,
        lineItems: [
          { name: 'Mug', quantity: 1, total: 11.25 },
          { name: 'Lamp', quantity: 2, total: 54 }
        ]
      }),
      canPay: true,
      payUrl: expect.stringMatching(/\/sandbox\/checkout\/cs_/),
      canCancel: true,
      addressUrl: null,
      withdrawUrl: null,
      giftCards: [],
      subscription: null,
      downloads: [],
      accountAccess: null
    })
    expect(text).not.toMatch(/quill|Ada|Quay|0401234/)
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
  })

  it("leads to the gateway's page, which is the only one with the whole email, until it is paid", async () => {
    const { orderToken } = await place({ items: [mug], customer: { email: 'ada.quill@example.com' } })
    const { data } = await read(orderToken)
    const page = await buyer.fetch(local(String(data['payUrl'])))
    expect(await page.text()).toContain('ada.quill@example.com')
    await buyer.comeBack(await buyer.form(local(String(data['payUrl'])), { payment_method: 'pm_card_visa' }))
    expect((await read(orderToken)).data['payUrl']).toBeNull()
    expect(await (await buyer.fetch(`${shop.url}/checkout/done/${orderToken}`)).text()).not.toContain('quill')
  })

  it('is 404 when it is unknown, and does not accept the id of an order', async () => {
    const { orderId } = await place()
    for (const token of ['unknown', orderId, 'x'.repeat(43)]) {
      expect((await read(token)).error.code).toBe('NOT_FOUND')
      expect((await cancel(token)).error.code).toBe('NOT_FOUND')
    }
  })

  it('is read without a nonce through the proxy, and cancels only with one', async () => {
    const { orderToken } = await place()
    const proxy = `${shop.url}/api/secure/store/orders/${orderToken}`
    const open = await buyer.get(proxy)
    expect([open.status, open.headers.get('referrer-policy')]).toEqual([200, 'no-referrer'])
    expect((await buyer.post(`${proxy}/cancel`)).error.code).toBe('CSRF_FAILED')
    const cancelled = await buyer.post<Seen>(`${proxy}/cancel`, undefined, { 'x-nonce': await buyer.nonce() })
    expect([cancelled.status, cancelled.data.order['status']]).toEqual([200, 'cancelled'])
  })

  it('shows that a paid order cannot be paid or cancelled', async () => {
    const { orderToken } = await place({ items: [freeSheet] })
    expect((await read(orderToken)).data).toMatchObject({
      order: { status: 'completed', email: null },
      canPay: false,
      payUrl: null,
      canCancel: false
    })
  })
})

describe('a cancellation by the buyer', () => {
  it('releases the stock at once and closes the payment page', async () => {
    const { orderToken, orderId, checkoutUrl } = await place({ items: [lastOne] })
    expect(stock(4)).toBe(0)
    const { status, data } = await cancel(orderToken)
    expect(status).toBe(200)
    expect(data).toMatchObject({ order: { status: 'cancelled' }, canPay: false, payUrl: null, canCancel: false })
    expect(stock(4)).toBe(1)
    expect((await buyer.fetch(local(checkoutUrl))).status).toBe(410)
    expect(historyOf(shop.app.db, Number(orderId)).at(-1)).toMatchObject({ to: 'cancelled', by: 'buyer' })
  })

  it('counts for the limit of its address, which refuses it and leaves the order as it is', async () => {
    const small = await startShop()
    onTestFinished(() => small.stop())
    set(small, { 'limits.checkout_ip': '3/3600' })
    const visitor = small.visitor()
    const order = async () => (await checkOut(small.visitor(), { items: [mug] })).data as unknown as Placed
    const [first, second] = [await order(), await order()]
    const give = ({ orderToken }: Placed) => visitor.post(`/store/orders/${orderToken}/cancel`)
    expect((await give(first)).status).toBe(200)
    const { status, error } = await give(second)
    expect([status, error.code, error.details]).toEqual([429, 'RATE_LIMITED', { bucket: 'checkout_ip' }])
    expect(getOrder(small.app.db, Number(second.orderId)).status).toBe('pending')
  })

  it('changes nothing the second time', async () => {
    const { orderToken, orderId } = await place()
    const first = await cancel(orderToken)
    const again = await cancel(orderToken)
    expect([again.status, again.data]).toEqual([200, first.data])
    expect(historyOf(shop.app.db, Number(orderId))).toHaveLength(2)
  })

  it('is refused for a paid order, also when the shop has not heard of the payment yet', async () => {
    const { orderToken } = await place({ items: [freeSheet] })
    expect((await cancel(orderToken)).error.code).toBe('CONFLICT')
    const paid = await place({ items: [mug], customer: { email: 'a@b.example' } })
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    await buyer.form(local(paid.checkoutUrl), { payment_method: 'pm_card_visa' })
    shop.app.sandbox?.clearFaults()
    expect((await cancel(paid.orderToken)).error.code).toBe('CONFLICT')
    expect(getOrder(shop.app.db, Number(paid.orderId)).status).toBe('processing')
    expect((await read(paid.orderToken)).data.canCancel).toBe(false)
  })

  it('also closes the payment page that another tab opens at the same time', async () => {
    const owner = shop.visitor()
    const { data } = await checkOut(owner, { items: [print], customer: { email: 'a@b.example' } })
    const { orderToken, orderId, statusUrl } = data
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.expire', fault: 'slow', delayMs: 300 })
    const cancelled = cancel(orderToken)
    await expect.poll(() => shop.app.sandbox?.listFaults(), { interval: 5 }).toEqual([])
    const change = { payment_method: 'card', change: '1', email: 'new@b.example' }
    await owner.form(local(statusUrl.replace('/done', '')), change)
    expect((await cancelled).data.order['status']).toBe('cancelled')
    const outcomes = attemptsOf(shop.app.db, Number(orderId)).map(({ outcome }) => outcome)
    // The newer page is never opened if the cancellation is faster.
    expect(outcomes).toEqual([expect.stringMatching(/^(expired|abandoned)$/), 'expired'])
  })

  it('is 503 while the gateway does not answer, and the order stays', async () => {
    const { orderToken, orderId } = await place()
    shop.app.sandbox?.addFault({ target: 'checkout.sessions.expire', fault: 'html', times: -1 })
    expect((await cancel(orderToken)).status).toBe(503)
    shop.app.sandbox?.clearFaults()
    expect(getOrder(shop.app.db, Number(orderId)).status).toBe('pending')
    expect((await cancel(orderToken)).data.order['status']).toBe('cancelled')
    expect(attemptsOf(shop.app.db, Number(orderId))[0]?.outcome).toBe('expired')
  })
})
