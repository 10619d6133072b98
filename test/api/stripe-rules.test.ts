import { describe, expect, it } from 'vitest'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { getOrder } from '../../src/shop/orders/find.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { quay } from '../support/addresses.ts'
import { checkOut, count, fieldErrors, handoff, mug, set, shopFor } from './checkout-support.ts'

const onLoopback = (url: string | null | undefined): string => (url ?? '').replace('//localhost:', '//127.0.0.1:')
const sessionOf = (shop: RunningShop) => shop.app.sandbox?.ledger().sessions.at(-1)

describe('a subscription', () => {
  const seed = {
    products: [
      {
        slug: 'club',
        name: 'Club',
        price: '8.00',
        type: 'digital',
        grants: [{ kind: 'subscription', interval: 'month' }]
      },
      ...Array.from({ length: 21 }, (_, n) => ({ slug: `p${n}`, name: `Product ${n}`, price: '1.00' }))
    ]
  }
  const others = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => ({ productId: from + n, quantity: 1 }))

  it('can be bought with at most 20 other products; the error names the items beyond', async () => {
    const shop = await shopFor({ seed })
    const items = [...others(2, 22), { productId: 1, quantity: 1 }]
    const refused = await checkOut(shop.visitor(), { items })
    expect([refused.status, fieldErrors(refused)]).toEqual([422, ['items.20.productId']])
    expect((await checkOut(shop.visitor(), { items: items.slice(1) })).status).toBe(200)
    expect((await checkOut(shop.visitor(), { items: others(2, 22) })).status).toBe(200)
  })

  it('leaves room for the shipping and the added taxes, which are lines on the page of Stripe too', async () => {
    const parcel = { id: 'parcel', name: 'Parcel', amount: '4.90' }
    const zoned = { ...seed, shipping: [{ zone: 'Germany', countries: ['DE'], methods: [parcel] }] }
    const shop = await shopFor({ seed: zoned })
    set(shop, { 'shop.country': 'DE', 'tax.pricesIncludeTax': 'false' })
    presetEu(shop.app.db, { ownRate: true }, 0)
    const buy = (items: object[]) =>
      checkOut(shop.visitor(), { items, shippingAddress: quay, shippingMethod: 'parcel' })
    const refused = await buy([...others(2, 21), { productId: 1, quantity: 1 }])
    expect(fieldErrors(refused)).toEqual(['items.17.productId', 'items.18.productId', 'items.19.productId'])
    const { problems } = refused.error.details
    expect(problems).toContainEqual(
      expect.objectContaining({
        code: 'too_many_products',
        message: expect.stringContaining('At most 17 other products can be bought together with a subscription.')
      })
    )
    const fitting = await buy([...others(2, 18), { productId: 1, quantity: 1 }])
    expect([fitting.status, sessionOf(shop)?.amount_total]).toEqual([200, Math.round((2500 + 490) * 1.19)])
    // Without a subscription, Stripe accepts 100 lines.
    expect((await buy(others(2, 22))).status).toBe(200)
  })
})

describe('an email that Stripe rejects', () => {
  const email = 'löwe@example.com'

  it('is refused on its field, and the same key accepts the corrected body', async () => {
    const shop = await shopFor()
    const ask = (address: string) =>
      checkOut(shop.visitor(), { items: [mug], customer: { email: address } }, { key: 'order-7f0c' })
    const refused = await ask(email)
    expect([refused.status, fieldErrors(refused)]).toEqual([422, ['customer.email']])
    expect(getOrder(shop.app.db, 1).status).toBe('failed')
    expect((await ask('loewe@example.com')).status).toBe(200)
  })

  it('may have a domain in any script, which Stripe gets in ASCII', async () => {
    const shop = await shopFor()
    const answer = await checkOut(shop.visitor(), { items: [mug], customer: { email: 'ada@bücher.example' } })
    expect([answer.status, sessionOf(shop)?.customer_email]).toEqual([200, 'ada@xn--bcher-kva.example'])
  })

  it('is requested again on the hosted page', async () => {
    const shop = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
    const { data } = await checkOut(shop.visitor())
    const url = onLoopback(data.checkoutUrl)
    const refused = await shop.visitor().submit(url, { payment_method: 'card', email })
    expect(refused.html).toMatch(/name="email"[\s\S]*Cannot be used for card payments/)
    expect(getOrder(shop.app.db, 1).email).toBeNull()
    const sent = await shop.visitor().form(url, { payment_method: 'card', email: 'loewe@example.com' })
    expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
  })
})

/** The first order in the query of a site's address. */
const named = (shop: RunningShop): string => `orderId=1&orderToken=${getOrder(shop.app.db, 1).publicToken}`

describe('{CHECKOUT_SESSION_ID} in a returnUrl', () => {
  it.each([
    ['https://site.example/thanks/{CHECKOUT_SESSION_ID}?a=1', (id: string) => `https://site.example/thanks/${id}?a=1&`],
    ['https://site.example/thanks?s={CHECKOUT_SESSION_ID}', (id: string) => `https://site.example/thanks?s=${id}&`]
  ])('is replaced by the id of the session: %s', async (returnUrl, expected) => {
    const shop = await shopFor()
    const { data } = await checkOut(shop.visitor(), {
      items: [mug],
      returnUrl,
      customer: { email: 'a@b.example' }
    })
    const paid = await shop.visitor().form(onLoopback(data.checkoutUrl), { payment_method: 'pm_card_visa' })
    const sessionId = sessionOf(shop)?.id ?? ''
    expect(await shop.visitor().comeBack(paid)).toBe(`${expected(sessionId)}${named(shop)}&result=success`)
    const done = await shop.visitor().fetch(`${shop.url}/checkout/done/${getOrder(shop.app.db, 1).publicToken}`)
    expect(await done.text()).toContain(expected(sessionId).replaceAll('&', '&amp;'))
  })

  it('is removed when there is no session', async () => {
    const shop = await shopFor()
    const returnUrl = 'https://site.example/thanks?s={CHECKOUT_SESSION_ID}'
    const { data } = await checkOut(shop.visitor(), { items: [mug], ...handoff, returnUrl })
    const page = await shop.visitor().fetch(`${shop.url}/checkout/return/${data.orderToken}`)
    expect(page.headers.get('location')).toBe(`https://site.example/thanks?s=&${named(shop)}&result=success`)
  })
})

describe('3-D Secure', () => {
  const returnUrl = 'HTTPS://Site.example:443/a/../done?x=1#part'
  const byToken = { items: [mug], ...handoff, paymentToken: 'pm_card_authenticationRequired', returnUrl }
  const read = (shop: RunningShop, token: string) =>
    shop.visitor().get<{ order: { status: string } }>(`/store/orders/${token}`)

  async function begin(shop: RunningShop) {
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    const { data } = await checkOut(shop.visitor(), byToken)
    const { paymentId = '', redirectUrl = '', orderToken } = data as { [name: string]: string } & typeof data
    const answer = (outcome: 'approve' | 'fail') => shop.visitor().form(onLoopback(redirectUrl), { outcome })
    return { paymentId, orderToken, answer }
  }

  it.each([
    ['approve', 'processing'],
    ['fail', 'failed']
  ] as const)("goes to the site's own address, and the order's state is the gateway's: %s", async (outcome, status) => {
    const shop = await shopFor()
    const { paymentId, orderToken, answer } = await begin(shop)
    const stripe = await shop.app.cards?.client?.()
    const intent = await stripe?.paymentIntents.retrieve(paymentId)
    expect(intent?.next_action?.redirect_to_url?.return_url).toBe(returnUrl)
    const { status: code, headers } = await answer(outcome)
    expect([code, headers.get('location')]).toEqual([
      303,
      expect.stringMatching(`^https://site.example/done\\?x=1&payment_intent=${paymentId}&.*#part$`)
    ])
    const [known, joined] = await Promise.all([read(shop, orderToken), read(shop, orderToken)])
    expect([known.data.order.status, joined.data.order.status]).toEqual([status, status])
    expect([getOrder(shop.app.db, 1).status, count(shop, 'orders')]).toEqual([status, 1])
  })

  it('is pending while the buyer did not authenticate, and when the gateway does not answer', async () => {
    const shop = await shopFor()
    const { orderToken, answer } = await begin(shop)
    expect((await read(shop, orderToken)).data.order.status).toBe('pending')
    await answer('approve')
    shop.app.sandbox?.addFault({ target: 'payment_intents.retrieve', fault: 'html', times: -1 })
    expect((await read(shop, orderToken)).data.order.status).toBe('pending')
    expect(attemptsOf(shop.app.db, 1)[0]?.outcome).toBeNull()
    shop.app.sandbox?.clearFaults()
    expect((await read(shop, orderToken)).data.order.status).toBe('processing')
  })

  it('does not know the order of another token', async () => {
    const shop = await shopFor()
    expect((await shop.visitor().fetch(`${shop.url}/checkout/return/unknown`)).status).toBe(404)
  })
})
