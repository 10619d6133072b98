import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import type { OrderRow } from '../../src/shop/orders/find.ts'
import { moveOrder } from '../../src/shop/orders/transition.ts'
import { attemptsOf, openAttempts, paymentStatusOf, markPaid } from '../../src/shop/payments/attempts.ts'
import { shortestPageMs } from '../../src/shop/payments/gateway-page.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { cancelOrder, endHold } from '../../src/shop/payments/end-hold.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import { quay } from '../support/addresses.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
  setSetting(shop.app.db, 'payments.manualInstructions', 'Transfer to <DE00 1234>.', Date.now())
})
afterAll(() => shop.stop())

/** The public URL names localhost, which may resolve to another address than the one that is listened on. */
const onLoopback = (url: string | null): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')

type Placed = { url: string; done: string; order: () => OrderRow }

async function place(visitor: Browser, body: object = {}, slug = 'mug'): Promise<Placed> {
  const { data } = await visitor.get<{ offers: { productId: number; productSlug: string }[] }>('/store/offers')
  const productId = data.offers.find((offer) => offer.productSlug === slug)?.productId
  const created = await visitor.post<{ checkoutUrl: string }>('/store/checkout-session', {
    items: [{ productId, quantity: slug === 'last' ? 1 : 2 }],
    shippingAddress: quay,
    ...body
  })
  expect(created).toMatchObject({ status: 200 })
  const url = onLoopback(created.data.checkoutUrl)
  const token = url.slice(url.lastIndexOf('/') + 1)
  const order = (): OrderRow => getOrderByPublicToken(shop.app.db, token)
  return { url, done: `${shop.url}/checkout/done/${token}`, order }
}

const pageOf = async (visitor: Browser, url: string): Promise<[number, string]> => {
  const page = await visitor.fetch(url)
  return [page.status, await page.text()]
}

const named = ({ id, publicToken }: OrderRow): string => `orderId=${id}&orderToken=${publicToken}`

describe('the hosted checkout', () => {
  it('is in the language and the colour of the shop, also without a storefront', async () => {
    for (const [name, value] of [
      ['language', 'de'],
      ['accentColor', '#123456'],
      ['enabled', 'false']
    ] as const)
      setSetting(shop.app.db, `storefront.${name}`, value, Date.now())
    onTestFinished(() => {
      for (const name of ['language', 'accentColor', 'enabled'] as const)
        unsetSetting(shop.app.db, `storefront.${name}`)
    })
    const visitor = shop.visitor()
    const { url, done } = await place(visitor, { shippingAddress: undefined })
    const asked = await visitor.submit(url, { payment_method: 'manual', email: 'x', country: 'DE', address1: '' })
    for (const words of [
      '<html lang="de">',
      'Bestellung bezahlen',
      'Gesamtbetrag',
      '25,00\u00a0€',
      'Bitte geben Sie eine E-Mail-Adresse wie name@example.com ein.',
      '>Vorname<',
      'Wie möchten Sie bezahlen?',
      'Abbrechen und zurück'
    ])
      expect(asked.html).toContain(words)
    expect(asked.html).not.toMatch(/Please|Order|Price/)
    const [, status] = await pageOf(visitor, done)
    expect(status).toMatch(
      /Ihre Bestellung ist noch nicht bezahlt[\s\S]*Bestellung \d+ vom \d+\. \S+ 20\d\d[\s\S]*Jetzt bezahlen/
    )
    expect(await pageOf(visitor, `${shop.url}/checkout/abc`)).toEqual([
      404,
      expect.stringContaining('Seite nicht gefunden')
    ])
    const [, theme = ''] = /href="(\/theme-[^"]+)"/.exec(status) ?? []
    expect((await visitor.fetch(`${shop.url}${theme}`)).status).toBe(200)
  })

  it('asks for what is missing and offers the payment methods that are on', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor, { returnUrl: 'https://site.example/thanks' })
    const page = await visitor.fetch(url)
    const html = await page.text()
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toMatch(
      /form-action 'self' http:\/\/localhost:\d+ https:\/\/site\.example;/
    )
    expect(html).toMatch(/<bdi>Mug<\/bdi> <span class="quantity">× 2<\/span>/)
    expect(html).toContain('€25.00')
    expect(html).toContain('name="email"')
    expect(html).toMatch(/name="payment_method" value="card" checked[\s\S]*name="payment_method" value="manual"/)
    expect(html).toContain('Transfer to &lt;DE00 1234&gt;.')
    expect(html).toContain(`action="/checkout/cancel/${order().publicToken}"`)
  })

  it('does not ask for an email that is known, nor take another', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor, { customer: { email: 'lena@example.com', lastName: 'Brandt' } })
    expect((await pageOf(visitor, url))[1]).not.toMatch(/name="(email|firstName)"/)
    await visitor.form(url, {
      payment_method: 'manual',
      email: 'other@example.com',
      lastName: 'Other',
      firstName: 'Lena'
    })
    expect(order()).toMatchObject({ email: 'lena@example.com', contact: { firstName: 'Lena', lastName: 'Brandt' } })
  })

  it('says at the field what is wrong, and shows again what was typed', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const { html } = await visitor.submit(url, { payment_method: 'manual', email: 'not "an" email', firstName: 'Lena' })
    expect(html).toContain('Please enter an email address such as name@example.com.')
    expect(html).toContain('value="not &quot;an&quot; email"')
    expect(html).toMatch(/value="manual" checked/)
    const reloaded = await (await visitor.fetch(url)).text()
    expect(reloaded).toContain('value="not &quot;an&quot; email"')
    expect(reloaded).not.toContain('Please enter')
    expect((await visitor.submit(url, { payment_method: 'manual' })).html).toContain('Please enter an email address.')
    const barter = await visitor.submit(url, { payment_method: 'barter', email: 'lena@example.com' })
    expect(barter.html).toContain('Please choose a payment method.')
    expect([order().status, order().email]).toEqual(['pending', null])
  })

  it('takes an order by hand: on hold with the instructions, told to the site as pending', async () => {
    const visitor = shop.visitor()
    const { url, done, order } = await place(visitor, { returnUrl: 'https://site.example/thanks?a=1' })
    const sent = await visitor.form(url, { payment_method: 'manual', email: 'lena@example.com' })
    expect(sent.status).toBe(303)
    expect(sent.headers.get('location')).toBe(`https://site.example/thanks?a=1&${named(order())}&result=pending`)
    expect(order()).toMatchObject({ status: 'on-hold', email: 'lena@example.com' })
    const [status, html] = await pageOf(visitor, done)
    expect(status).toBe(200)
    expect(html).toContain('waiting for your payment')
    expect(html).toContain('Transfer to &lt;DE00 1234&gt;.')
  })

  it('ends the transfer that an order waited for when it has come, and when the order is cancelled', async () => {
    const visitor = shop.visitor()
    const byHand = async (): Promise<Placed> => {
      const placed = await place(visitor)
      await visitor.form(placed.url, { payment_method: 'manual', email: 'lena@example.com' })
      expect(paymentStatusOf(shop.app.db, placed.order().id)).toBe('created')
      return placed
    }
    const { done, order } = await byHand()
    for (let time = 0; time < 2; time += 1) markPaid(shop.app.db, order().id, 'operator', Date.now())
    expect([order().status, paymentStatusOf(shop.app.db, order().id)]).toEqual(['processing', 'paid'])
    expect((await pageOf(visitor, done))[1]).toContain('Thank you for your order')
    await refundOrder(shop.app, order().id, {}, 'operator')
    expect(order().status).toBe('refunded')

    const transfer = await byHand()
    await cancelOrder(shop.app, transfer.order().id, 'operator')
    expect([transfer.order().status, paymentStatusOf(shop.app.db, transfer.order().id)]).toEqual([
      'cancelled',
      'abandoned'
    ])
    markPaid(shop.app.db, transfer.order().id, 'operator', Date.now())
    expect([transfer.order().status, paymentStatusOf(shop.app.db, transfer.order().id)]).toEqual(['processing', 'paid'])
    const open = openAttempts(shop.app.db).map(({ orderId }) => orderId)
    expect(open).not.toContain(order().id)
    expect(open).not.toContain(transfer.order().id)
  })

  it('makes one attempt of a double click, a reload and a change of mind', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    const card = { payment_method: 'card', email: 'lena@example.com' }
    const clicks = await Promise.all([visitor.form(url, card), visitor.form(url, card), visitor.form(url, card)])
    expect(clicks.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(new Set(clicks.map(({ headers }) => headers.get('location'))).size).toBe(1)
    expect(attemptsOf(shop.app.db, order().id)).toHaveLength(1)

    const manual = { payment_method: 'manual' }
    const after = await Promise.all([visitor.form(url, manual), visitor.form(url, manual)])
    expect(after.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [303, `/checkout/done/${order().publicToken}`],
      [303, `/checkout/done/${order().publicToken}`]
    ])
    expect(attemptsOf(shop.app.db, order().id).map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['manual', null],
      ['checkout_session', 'expired']
    ])
    expect(order().status).toBe('on-hold')
    const gatewayPage = onLoopback(clicks[0]?.headers.get('location') ?? null)
    expect((await visitor.form(gatewayPage, { payment_method: 'pm_card_visa' })).status).toBe(410)
  })

  it('extends the hold of an order that is paid late, for as long as its card page is open', async () => {
    const minute = 60_000
    const card = { payment_method: 'card', email: 'lena@example.com' }
    const payWithHold = async (endsAt: number): Promise<number> => {
      const visitor = shop.visitor()
      const { url, order } = await place(visitor)
      shop.app.db.sqlite.prepare('UPDATE orders SET hold_ends_at = ? WHERE id = ?').run(endsAt, order().id)
      expect((await visitor.form(url, card)).status).toBe(303)
      return order().holdEndsAt ?? 0
    }
    const now = Date.now()
    expect(await payWithHold(now + minute)).toBeGreaterThanOrEqual(now + shortestPageMs)
    expect(await payWithHold(now + 600 * minute)).toBe(now + 600 * minute)
  })

  it('leads to the card page, and from there back with the order paid', async () => {
    const visitor = shop.visitor()
    const { url, done, order } = await place(visitor, { returnUrl: 'https://site.example/thanks' })
    const chosen = await visitor.form(url, { payment_method: 'card', email: 'lena@example.com' })
    expect((await pageOf(visitor, done))[1]).toContain('is not paid yet')
    const paid = await visitor.form(onLoopback(chosen.headers.get('location')), { payment_method: 'pm_card_visa' })
    expect(await visitor.comeBack(paid)).toBe(`https://site.example/thanks?${named(order())}&result=success`)
    const [status, html] = await pageOf(visitor, done)
    expect([status, html]).toEqual([200, expect.stringContaining('Thank you for your order')])
    expect(html).toContain('result=success')
    const again = await visitor.form(url, { payment_method: 'manual', email: 'lena@example.com' })
    expect(again.headers.get('location')).toContain('result=success')
    expect(await pageOf(visitor, url)).toEqual([200, expect.stringContaining('Thank you for your order')])
    expect(order().status).toBe('processing')
  })
})

describe('the hosted checkout of an order that failed or ended', () => {
  it('lets a failed order be paid after all, unless its last piece has gone', async () => {
    const visitor = shop.visitor()
    const declined = async (slug: string): Promise<Placed> => {
      const placed = await place(visitor, {}, slug)
      const move = { by: 'test', reason: 'declined' }
      write(shop.app.db, (tx) => void moveOrder(tx, placed.order().id, 'failed', move, Date.now()))
      return placed
    }
    const card = { payment_method: 'card', email: 'lena@example.com' }
    const mug = await declined('mug')
    expect((await pageOf(visitor, mug.done))[1]).toContain('did not go through')
    expect((await visitor.form(mug.url, card)).status).toBe(303)
    expect(mug.order().status).toBe('pending')

    const last = await declined('last')
    await place(shop.visitor(), {}, 'last')
    for (const method of ['card', 'manual']) {
      const refused = await visitor.submit(last.url, { ...card, payment_method: method })
      expect(refused).toEqual({ status: 410, html: expect.stringContaining('&quot;Last one&quot; is out of stock') })
    }
    expect(last.order()).toMatchObject({ status: 'failed', email: null })
  })

  it('is gone once the order has expired, was cancelled or refunded', async () => {
    const visitor = shop.visitor()
    const expired = await place(visitor)
    await endHold(shop.app, expired.order().id)
    expect(await pageOf(visitor, expired.url)).toEqual([410, expect.stringContaining('This order has expired')])
    const late = await visitor.submit(expired.url, { payment_method: 'manual', email: 'a@example.com' })
    expect(late).toEqual({ status: 410, html: expect.stringContaining('This order has expired') })
    expect(await pageOf(visitor, expired.done)).toEqual([200, expect.stringContaining('This order has expired')])

    const cancelled = await place(visitor)
    write(
      shop.app.db,
      (tx) => void moveOrder(tx, cancelled.order().id, 'cancelled', { by: 'operator', reason: 'wish' }, Date.now())
    )
    expect(await pageOf(visitor, cancelled.url)).toEqual([410, expect.stringContaining('This order was cancelled')])

    const refunded = await place(visitor)
    const chosen = await visitor.form(refunded.url, { payment_method: 'card', email: 'a@example.com' })
    await visitor.form(onLoopback(chosen.headers.get('location')), { payment_method: 'pm_card_visa' })
    await refundOrder(shop.app, refunded.order().id, { amountMinor: 500 }, 'operator')
    expect((await pageOf(visitor, refunded.done))[1]).toContain('-€5.00')
    await refundOrder(shop.app, refunded.order().id, {}, 'operator')
    expect(await pageOf(visitor, refunded.url)).toEqual([410, expect.stringContaining('This order was refunded')])
  })

  it('knows only its own orders', async () => {
    const visitor = shop.visitor()
    for (const path of ['/checkout/abc', '/checkout/done/abc', '/checkout/done']) {
      expect(await pageOf(visitor, `${shop.url}${path}`)).toEqual([404, expect.stringContaining('Page not found')])
    }
    for (const path of ['/checkout/', '/checkout/abc%2f', '/checkout/a/b', '/Checkout/abc', '//checkout/abc']) {
      expect((await visitor.fetch(`${shop.url}${path}`)).status).toBe(404)
    }
  })

  it('refuses a form of another site', async () => {
    const { url, order } = await place(shop.visitor())
    const sent = await shop
      .visitor({ 'sec-fetch-site': 'cross-site' })
      .form(url, { payment_method: 'manual', email: 'a@example.com' })
    expect([sent.status, order().status]).toEqual([403, 'pending'])
  })
})

describe('an order that the site paid by token', () => {
  it('is shown, but cannot be paid a second time on our page', async () => {
    const visitor = shop.visitor()
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
    const body = {
      items,
      strategy: 'token_handoff',
      paymentToken: 'pm_card_chargeDeclined',
      returnUrl: 'https://site.example/thanks'
    }
    await visitor.post('/store/checkout-session', body)
    const order = shop.app.db.sqlite
      .prepare('SELECT public_token token, status FROM orders ORDER BY id DESC')
      .get() as { token: string; status: string }
    expect(order.status).toBe('failed')
    const url = `${shop.url}/checkout/${order.token}`
    const [status, html] = await pageOf(visitor, url)
    expect([status, html]).toEqual([200, expect.stringContaining('did not go through')])
    expect(html).not.toContain('Pay now')
    await visitor.form(url, { payment_method: 'manual', email: 'a@example.com' })
    expect(shop.app.db.sqlite.prepare('SELECT status FROM orders ORDER BY id DESC').get()).toEqual({ status: 'failed' })
  })
})

describe('the style', () => {
  it('has an address of its own for each content and may be kept for ever', async () => {
    const visitor = shop.visitor()
    const [, html] = await pageOf(visitor, `${shop.url}/checkout/abc`)
    const paths = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    expect(new Set(paths).size).toBe(2)
    for (const path of paths) {
      const asset = await visitor.fetch(`${shop.url}${path}`)
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    }
    expect((await visitor.fetch(`${shop.url}/assets/style-000000000000.css`)).status).toBe(404)
  })
})

describe('clicks at once', () => {
  const target = 'checkout.sessions.create'
  const click = (visitor: Browser, url: string, method: 'card' | 'manual'): Promise<Response> =>
    visitor.form(url, { payment_method: method, email: 'ada@example.com' })
  const pagesOf = (order: OrderRow) =>
    shop.app.sandbox?.ledger().sessions.filter((session) => session.client_reference_id === String(order.id))

  it('are led to one page, which the first of them opens', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    shop.app.sandbox?.addFault({ target, fault: 'slow', delayMs: 500 })
    const answers = await Promise.all([1, 2, 3].map(() => click(visitor, url, 'card')))
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
    expect(pagesOf(order())).toHaveLength(1)
  }, 20_000)

  it('leave the order as it was when none of them was let through', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    shop.app.sandbox?.addFault({ target, fault: '409', moment: 'before', times: 3 })
    const refused = await visitor.submit(url, { payment_method: 'card', email: 'ada@example.com' })
    expect(refused.html).toContain('Card payments are not available at the moment.')
    expect(order().status).toBe('pending')
    expect(await click(visitor, url, 'card')).toMatchObject({ status: 303 })
    expect(pagesOf(order())).toHaveLength(1)
  }, 20_000)

  it('on both ways to pay leave no page open for an order that is paid by hand', async () => {
    const visitor = shop.visitor()
    const { url, order } = await place(visitor)
    shop.app.sandbox?.addFault({ target, fault: 'slow', delayMs: 1_000 })
    const byCard = click(visitor, url, 'card')
    await expect.poll(() => attemptsOf(shop.app.db, order().id)).toHaveLength(1)
    expect((await click(visitor, url, 'manual')).status).toBe(303)
    const answer = await byCard
    expect(answer.headers.get('location') ?? '').not.toContain('/sandbox/')
    expect(order().status).toBe('on-hold')
    expect(pagesOf(order())?.map(({ status }) => status)).toEqual(['expired'])
  }, 20_000)
})
