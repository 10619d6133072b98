import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getOrder, historyOf } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { checkOut, lastOne, mug, set } from '../api/checkout-support.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
let buyer: Browser
beforeAll(async () => {
  shop = await startShop()
  set(shop, withoutHoldLimits)
  buyer = shop.visitor()
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.app.sandbox?.clearFaults()
  // The buyer is always faster than the webhook.
  shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
})

const addresses = { returnUrl: 'https://site.example/thanks?a=1', cancelUrl: 'https://site.example/cart' }

type Placed = { id: number; token: string; gatewayPage: string }

async function place(body: object = {}): Promise<Placed> {
  const fields = { items: [mug], customer: { email: 'ada@example.com' }, ...addresses, ...body }
  const { data } = await checkOut(shop.visitor(), fields)
  const { pathname } = new URL(data.checkoutUrl ?? '')
  return { id: Number(data.orderId), token: data.orderToken, gatewayPage: `${shop.url}${pathname}` }
}

const orderOf = ({ id }: Placed): OrderRow => getOrder(shop.app.db, id)
const pay = ({ gatewayPage }: Placed, card = 'pm_card_visa') => buyer.form(gatewayPage, { payment_method: card })
const stock = (): unknown => shop.app.db.sqlite.prepare("SELECT stock FROM products WHERE slug = 'last'").pluck().get()
const silence = (target: string) => void shop.app.sandbox?.addFault({ target, fault: 'html', times: -1 })

async function visit(kind: 'return' | 'cancel' | 'done', { token }: Placed, init: RequestInit = {}) {
  const response = await buyer.fetch(`${shop.url}/checkout/${kind}/${token}`, init)
  return [response.status, response.headers.get('location')]
}

/** The redirect to the site with a result. */
const toSite = (url: string, { id, token }: Placed, result: string) => {
  const separator = url.includes('?') ? '&' : '?'
  return [303, `${url}${separator}orderId=${id}&orderToken=${token}&result=${result}`]
}
const thanks = (placed: Placed, result: string) => toSite(addresses.returnUrl, placed, result)

describe('a return from the gateway', () => {
  it('asks the gateway and stores its answer before the site learns of it', async () => {
    const order = await place()
    const paid = await pay(order)
    expect(orderOf(order).status).toBe('pending')
    expect([303, await buyer.comeBack(paid)]).toEqual(thanks(order, 'success'))
    expect(orderOf(order).status).toBe('processing')
    expect(historyOf(shop.app.db, order.id).at(-1)).toMatchObject({ to: 'processing', by: 'return' })
  })

  it('changes nothing when it is repeated', async () => {
    const order = await place()
    const paid = await pay(order)
    await Promise.all([buyer.comeBack(paid), buyer.comeBack(paid)])
    expect(await visit('return', order)).toEqual(thanks(order, 'success'))
    expect(historyOf(shop.app.db, order.id)).toHaveLength(2)
  })

  it('is pending before the payment, whatever the query says', async () => {
    const order = await place()
    const response = await buyer.fetch(
      `${shop.url}/checkout/return/${order.token}?result=success&redirect_status=succeeded`
    )
    expect([303, response.headers.get('location')]).toEqual(thanks(order, 'pending'))
    expect(orderOf(order).status).toBe('pending')
  })

  it('is pending while the bank decides, and afterwards tells what the bank decided', async () => {
    const order = await place()
    const paid = await pay(order, 'pm_sandbox_processing')
    expect([303, await buyer.comeBack(paid)]).toEqual(thanks(order, 'pending'))
    expect(attemptsOf(shop.app.db, order.id)[0]?.gatewayStatus).toBe('complete')
    expect((await buyer.post(`/store/orders/${order.token}/cancel`)).error.code).toBe('CONFLICT')
  })

  it('is pending when the gateway does not answer, and the reconciler settles the order', async () => {
    const order = await place()
    const paid = await pay(order)
    silence('checkout.sessions.retrieve')
    expect([303, await buyer.comeBack(paid)]).toEqual(thanks(order, 'pending'))
    shop.app.sandbox?.clearFaults()
    await settlePayments(shop.app)
    expect(await visit('return', order)).toEqual(thanks(order, 'success'))
  })

  it('is failed after the order was cancelled or refunded', async () => {
    const refunded = await place()
    await buyer.comeBack(await pay(refunded))
    await refundOrder(shop.app, refunded.id, {}, 'operator')
    expect(await visit('return', refunded)).toEqual(thanks(refunded, 'failed'))
    const cancelled = await place()
    await visit('cancel', cancelled)
    expect(await visit('return', cancelled)).toEqual(thanks(cancelled, 'failed'))
  })

  it("leads to the order's page if the site gave no address, and nowhere with an unknown token", async () => {
    const order = await place({ returnUrl: null })
    expect(await visit('return', order)).toEqual([303, `/checkout/done/${order.token}`])
    expect(await visit('return', { ...order, token: 'unknown' })).toEqual([404, null])
    expect(await visit('cancel', { ...order, token: 'unknown' })).toEqual([404, null])
  })
})

describe('a return without a payment', () => {
  const cart = (placed: Placed) => toSite(addresses.cancelUrl, placed, 'cancelled')

  it('cancels the order, releases its stock and closes the payment page before the site learns of it', async () => {
    const order = await place({ items: [lastOne] })
    expect(stock()).toBe(0)
    const left = await buyer.form(`${order.gatewayPage}/cancel`, {})
    expect([303, await buyer.comeBack(left)]).toEqual(cart(order))
    expect([orderOf(order).status, stock()]).toEqual(['cancelled', 1])
    expect((await pay(order)).status).toBe(410)
    expect(await visit('cancel', order)).toEqual(cart(order))
    expect(historyOf(shop.app.db, order.id)).toHaveLength(2)
  })

  it('does not cancel an order that was paid in another tab', async () => {
    const order = await place()
    await pay(order)
    expect(await visit('cancel', order)).toEqual(thanks(order, 'success'))
    expect(orderOf(order).status).toBe('processing')
  })

  it('does not cancel an order whose payment the bank is deciding about', async () => {
    const order = await place()
    await pay(order, 'pm_sandbox_processing')
    expect(await visit('cancel', order)).toEqual(thanks(order, 'pending'))
    expect(orderOf(order).status).toBe('pending')
  })

  it("leads to the order's page while the gateway does not answer, where the buyer can cancel later", async () => {
    const order = await place()
    silence('checkout.sessions.*')
    expect(await visit('cancel', order)).toEqual([303, `/checkout/done/${order.token}`])
    expect(orderOf(order).status).toBe('pending')
    const refused = await buyer.form(`${shop.url}/checkout/cancel/${order.token}`, {})
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('could not be cancelled')])
    shop.app.sandbox?.clearFaults()
    expect(await visit('cancel', order, { method: 'POST' })).toEqual([303, `/checkout/done/${order.token}`])
    expect(orderOf(order).status).toBe('cancelled')
  })

  it('does not cancel anything for a client that only looks ahead', async () => {
    const order = await place()
    expect(await visit('cancel', order, { method: 'HEAD' })).toEqual([303, `/checkout/done/${order.token}`])
    const ahead = [
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'prefetch' },
      { 'x-moz': 'prefetch' },
      { 'x-purpose': 'preview' },
      { 'sec-fetch-dest': 'empty' },
      { 'sec-fetch-dest': 'iframe' }
    ]
    for (const headers of ahead) {
      expect(await visit('cancel', order, { headers })).toEqual([303, `/checkout/done/${order.token}`])
      expect(orderOf(order).status).toBe('pending')
    }
    expect(await visit('cancel', order, { headers: { 'sec-fetch-dest': 'document' } })).toEqual(
      toSite(addresses.cancelUrl, order, 'cancelled')
    )
  })

  it('is a form on the hosted page, which a program that opens every link does not send', async () => {
    const { token, ...order } = await place({ shippingAddress: undefined })
    const page = await (await buyer.fetch(`${shop.url}/checkout/${token}`)).text()
    expect([page.includes(`href="/checkout/cancel/`), page.includes(`action="/checkout/cancel/${token}"`)]).toEqual([
      false,
      true
    ])
    const left = await buyer.form(`${shop.url}/checkout/cancel/${token}`, { leave: '1' })
    expect([left.status, left.headers.get('location')]).toEqual(
      toSite(addresses.cancelUrl, { token, ...order }, 'cancelled')
    )
  })

  it("leads to the order's page if the site gave no address", async () => {
    const order = await place({ returnUrl: null, cancelUrl: null })
    expect(await visit('cancel', order)).toEqual([303, `/checkout/done/${order.token}`])
    const page = await buyer.fetch(`${shop.url}/checkout/done/${order.token}`)
    expect(await page.text()).toContain('This order was cancelled')
  })

  it('is refused by a form of another site', async () => {
    const order = await place()
    const foreign = shop.visitor({ 'sec-fetch-site': 'cross-site' })
    expect((await foreign.form(`${shop.url}/checkout/cancel/${order.token}`, {})).status).toBe(403)
    expect(orderOf(order).status).toBe('pending')
  })
})
