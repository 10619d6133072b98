import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { metadataOf, idOf } from '../../../src/shop/payments/gateway-state.ts'
import { write } from '../../../src/platform/db/database.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { createAttempt, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import { offerCheckoutPage, openCheckoutPage, pageUrls } from '../../../src/shop/payments/gateway-page.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { openTill } from './till.ts'
import type { Till } from './till.ts'

const minute = 60_000

let till: Till
beforeAll(async () => {
  till = await openTill()
})
beforeEach(() => {
  till.sandbox.clearFaults()
  till.logged.length = 0
})
afterAll(() => till.close())

/** The attempt of a new order, whose page is not open yet. */
async function unopened(extra: Parameters<Till['redirect']>[0] = {}, holdMinutes = 60): Promise<AttemptRow> {
  const { id } = await till.redirect(extra)
  const { app } = till.shop
  const how = { gateway: 'sandbox', kind: 'checkout_session', livemode: false } as const
  const now = till.clock.now()
  const order = { ...till.order(id), holdEndsAt: now + holdMinutes * minute }
  return write(app.db, (tx) => createAttempt(tx, order, how, now))
}

const offer = (attempt: AttemptRow) => offerCheckoutPage(till.shop.app, attempt)
const open = (attempt: AttemptRow) => openCheckoutPage(till.shop.app, attempt)
const now = ({ orderId }: AttemptRow) => till.attempt(orderId)
const pageOf = (attempt: AttemptRow) =>
  till.stripe.checkout.sessions.retrieve(now(attempt).objectId ?? '', { expand: ['line_items', 'payment_intent'] })
const sessionsOf = ({ token }: AttemptRow) =>
  till.sandbox.ledger().sessions.filter(({ metadata }) => metadata?.shopstead_attempt === token)
const close = ({ orderId }: AttemptRow) =>
  write(till.shop.app.db, (tx) =>
    moveOrder(tx, orderId, 'cancelled', { by: 'operator', reason: 'test' }, till.clock.now())
  )

describe('the payment page', () => {
  it("contains the order's items and its metadata", async () => {
    const attempt = await unopened({ quantity: 3 })
    expect(await offer(attempt)).toBe(now(attempt).url)
    const { successUrl, cancelUrl } = pageUrls(till.shop.app, till.order(attempt.orderId))
    const mine = metadataOf(till.shop.app, attempt)
    const page = await pageOf(attempt)
    expect(page).toMatchObject({
      mode: 'payment',
      amount_total: 3750,
      currency: 'eur',
      customer_email: 'ada@example.com',
      client_reference_id: String(attempt.orderId),
      metadata: mine,
      success_url: successUrl,
      cancel_url: cancelUrl,
      adaptive_pricing: { enabled: false },
      total_details: { amount_discount: 0 }
    })
    expect(page.line_items?.data).toMatchObject([{ quantity: 3, description: 'Mug', amount_total: 3750 }])
    expect(now(attempt)).toMatchObject({ objectId: page.id, outcome: null })
    await till.sandbox.payCheckout(page.id, { waitMs: 0 })
    const paid = await till.stripe.paymentIntents.retrieve(idOf((await pageOf(attempt)).payment_intent) ?? '')
    expect(paid).toMatchObject({ metadata: mine, description: `Order ${attempt.orderId}` })
  })

  it("shows the products' pictures if the shop is reached by https", async () => {
    const { app } = till.shop
    const hash = 'a'.repeat(32)
    app.db.sqlite.exec(`
      INSERT INTO media (hash, width, height, created_at) VALUES ('${hash}', 800, 600, 0);
      INSERT INTO product_images (product_id, src, alt, position, media_hash, created_at) SELECT id, 'x', '', 0, '${hash}', 0 FROM products`)
    onTestFinished(() => void app.db.sqlite.exec('DELETE FROM product_images; DELETE FROM media'))
    const picturesAt = async (publicUrl: string): Promise<string[]> => {
      const attempt = await unopened()
      await offerCheckoutPage({ ...app, publicUrl: () => publicUrl }, attempt)
      const product = idOf((await pageOf(attempt)).line_items?.data[0]?.price?.product ?? null) ?? ''
      return (await till.stripe.products.retrieve(product)).images
    }
    expect(await picturesAt('https://shop.example')).toEqual([`https://shop.example/media/${hash}-800.webp`])
    expect(await picturesAt('http://localhost:3000')).toEqual([])
  })

  it('asks for the email of a buyer without one', async () => {
    const attempt = await unopened({ body: { customer: {} } })
    await offer(attempt)
    expect((await pageOf(attempt)).customer_email).toBeNull()
  })

  it("contains the order's discount as a coupon for one use", async () => {
    const attempt = await unopened({ quantity: 2, body: { customer: {}, couponCode: 'TEN' } })
    await offer(attempt)
    const page = await pageOf(attempt)
    expect(page).toMatchObject({ amount_total: 2250, total_details: { amount_discount: 250 } })
    expect(await till.stripe.coupons.retrieve(idOf(page.discounts?.[0]?.coupon) ?? '')).toMatchObject({
      amount_off: 250,
      currency: 'eur',
      duration: 'once',
      max_redemptions: 1,
      name: 'Discount'
    })
  })

  it('sells subscriptions with their interval beside one-time items', async () => {
    const items = ['yearbook', 'print'].map((slug) => ({ productId: till.productId(slug), quantity: 1 }))
    const attempt = await unopened({ body: { items, customer: { email: 'ada@example.com' } } })
    await offer(attempt)
    const page = await pageOf(attempt)
    expect(page).toMatchObject({ mode: 'subscription', amount_total: 6999 })
    expect(page.line_items?.data.map(({ price }) => price?.recurring?.interval ?? null)).toEqual(['year', null])
    await till.sandbox.payCheckout(page.id, { waitMs: 0 })
    const { subscription } = await pageOf(attempt)
    expect(await till.stripe.subscriptions.retrieve(idOf(subscription) ?? '')).toMatchObject({
      metadata: metadataOf(till.shop.app, attempt),
      description: `Order ${attempt.orderId}`
    })
  })

  it.each([
    ['with the hold', 60, 60],
    ['a little later than a hold of half an hour, the minimum of Stripe', 30, 31],
    ['a little sooner than a hold of a day, the maximum of Stripe', 24 * 60, 24 * 60 - 1]
  ])('ends %s', async (_when, holdMinutes, minutes) => {
    const attempt = await unopened({}, holdMinutes)
    await offer(attempt)
    expect((await pageOf(attempt)).expires_at * 1000).toBe(attempt.createdAt + minutes * minute)
  })
})

describe('a page that is requested more than once', () => {
  it('is one page, at the same time or later', async () => {
    const attempt = await unopened()
    const first = await offer(attempt)
    expect(await offer(attempt)).toBe(first)
    till.clock.advance(minute)
    expect((await open(attempt)).url).toBe(first)
    expect(sessionsOf(attempt)).toHaveLength(1)
  })

  it('is waited for while another request opens it', async () => {
    const attempt = await unopened()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: '409', times: 3 })
    const waiting = offer(attempt)
    const { db } = till.shop.app
    write(db, (tx) => updateAttempt(tx, attempt.id, { url: 'https://pay.example/theirs' }, till.clock.now()))
    expect(await waiting).toBe('https://pay.example/theirs')
    expect(now(attempt).outcome).toBeNull()
  })

  it('is not waited for when the other request fails', async () => {
    const attempt = await unopened()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: '409', times: 3 })
    const waiting = offer(attempt)
    const { db } = till.shop.app
    const ended = { url: 'https://pay.example/theirs', outcome: 'failed' as const }
    write(db, (tx) => updateAttempt(tx, attempt.id, ended, till.clock.now()))
    const asked = performance.now()
    await expect(waiting).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 504 })
    expect(performance.now() - asked).toBeLessThan(4_000)
    expect(now(attempt)).toMatchObject({ outcome: 'failed', url: null })
  })
})

describe('a page that is not opened', () => {
  it('fails the order when it is refused', async () => {
    const attempt = await unopened()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: '429', times: 4 })
    await expect(offer(attempt)).rejects.toMatchObject({
      code: 'CHECKOUT_FAILED',
      status: 502,
      details: { step: 'create_intent' }
    })
    expect(historyOf(till.shop.app.db, attempt.orderId).at(-1)).toMatchObject({
      to: 'failed',
      by: 'checkout',
      reason: 'the payment page was refused'
    })
    expect(till.logged).toMatchObject([
      {
        message: 'a payment page could not be opened',
        fields: { orderId: attempt.orderId, kind: 'broken', code: expect.stringMatching(/./), param: '' }
      }
    ])
  })

  it('leaves the order to the reconciler or to the next request without a response', async () => {
    const attempt = await unopened()
    till.sandbox.addFault({ target: 'checkout.sessions.create', fault: 'html', times: 3 })
    await expect(offer(attempt)).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 504 })
    expect(till.order(attempt.orderId).status).toBe('pending')
    expect(now(attempt)).toMatchObject({ outcome: null, gatewayStatus: 'unknown' })
    till.sandbox.clearFaults()
    expect(await offer(now(attempt))).toBe(now(attempt).url)
    expect(now(attempt)).toMatchObject({ outcome: null, gatewayStatus: 'open' })
  })

  it.each([1249, 1251])(
    'is not shown when the gateway adds up another total than the %i of the order',
    async (ours) => {
      const attempt = await unopened()
      const { db } = till.shop.app
      write(db, (tx) => updateAttempt(tx, attempt.id, { amountMinor: ours }, till.clock.now()))
      for (const _click of [1, 2])
        await expect(offer(now(attempt))).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 504 })
      expect(sessionsOf(attempt)).toMatchObject([{ amount_total: 1250 }])
      expect(now(attempt)).toMatchObject({ url: null, objectId: null, outcome: null })
      expect(till.order(attempt.orderId).status).toBe('pending')
      expect(till.logged).toContainEqual({
        message: expect.stringContaining(`its amount is €12.50, the order's is €12.${ours % 100}`),
        fields: expect.objectContaining({ kind: 'mismatch', orderId: attempt.orderId })
      })
    }
  )

  it('keeps the page that another request has opened', async () => {
    const attempt = await unopened()
    await offer(attempt)
    const { gatewayStatus, objectId } = now(attempt)
    till.shop.app.db.sqlite.prepare('UPDATE payment_attempts SET url = NULL WHERE id = ?').run(attempt.id)
    for (const fault of ['html', '429'] as const) {
      till.sandbox.addFault({ target: 'checkout.sessions.create', fault, times: fault === '429' ? 4 : 3 })
      await expect(offer(attempt)).rejects.toMatchObject({ code: 'CHECKOUT_FAILED' })
    }
    expect(till.order(attempt.orderId).status).toBe('pending')
    expect(now(attempt)).toMatchObject({ outcome: null, gatewayStatus, objectId })
  })

  it("throws the database's error", async () => {
    const attempt = await unopened()
    const { sqlite } = till.shop.app.db
    sqlite.pragma('query_only = 1')
    onTestFinished(() => void sqlite.pragma('query_only = 0'))
    await expect(offer(attempt)).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_READONLY/) })
  })
})

describe('a page of an order that was cancelled in the meantime', () => {
  it('is closed before the buyer gets its address', async () => {
    const attempt = await unopened()
    close(attempt)
    await expect(open(attempt)).rejects.toThrow('given up')
    expect(await pageOf(attempt)).toMatchObject({ status: 'expired' })
    expect(now(attempt).outcome).toBe('expired')
  })

  it('is closed when only the attempt has ended', async () => {
    const attempt = await unopened()
    const { db } = till.shop.app
    write(db, (tx) => updateAttempt(tx, attempt.id, { outcome: 'abandoned' }, till.clock.now()))
    await expect(open(attempt)).rejects.toThrow('given up')
    expect(await pageOf(attempt)).toMatchObject({ status: 'expired' })
  })

  it('is not opened, and the order stays cancelled', async () => {
    const attempt = await unopened()
    close(attempt)
    await expect(offer(attempt)).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 504 })
    expect(till.order(attempt.orderId).status).toBe('cancelled')
  })
})
