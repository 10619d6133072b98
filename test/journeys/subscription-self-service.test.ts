import { describe, expect, it } from 'vitest'
import type { Browser } from '../support/browser.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, handOff, logIn, me, openShop, registerUser, withLoopback } from './shop.ts'
import type { Entry, JourneyShop } from './shop.ts'

async function subscriber(settings = {}) {
  const shop = await openShop(benefitCatalog, settings)
  const lena = await registerUser(shop, 'lena')
  const { orderId } = await buy(shop, lena, 'almanac-pro')
  const [{ id } = { id: 0 }] = await subscriptionsOf(lena)
  return { shop, lena, orderId, id: Number(id) }
}

const listed = (visitor: Browser) => visitor.get<{ subscriptions: Entry[] }>('/me/subscriptions')
const subscriptionsOf = async (visitor: Browser) => (await listed(visitor)).data.subscriptions
const cancel = (visitor: Browser, id: number | string) =>
  visitor.post<{ subscription: Entry }>(`/me/subscriptions/${id}/cancel`)
const atStripe = (shop: JourneyShop) => shop.app.sandbox?.ledger().subscriptions[0]

/** Follows a link as a browser does, without following its redirect. */
async function follow(visitor: Browser, url: string): Promise<{ status: number; location: string }> {
  const answer = await visitor.fetch(withLoopback(url), { redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location') ?? '' }
}

describe('GET /me/subscriptions', () => {
  it('lists price and next payment beside the element of entitlements, and asks the gateway nothing', async () => {
    const { shop, lena } = await subscriber()
    const { entitlements } = await me(lena)
    shop.app.sandbox?.addFault({ target: '*', fault: 'reset', times: -1 })
    expect(await subscriptionsOf(lena)).toEqual([
      {
        ...entitlements.subscriptions[0],
        amount: 90,
        currency: 'EUR',
        recurring: { amount: 90, interval: 'year', shipping: 0, tax: 0, from: '2027-01-15T12:00:00.000Z' },
        nextPaymentAt: '2027-01-15T12:00:00.000Z',
        canCancel: true,
        manageUrl: expect.stringMatching(/\/account\/subscriptions\/\d+\/manage$/)
      }
    ])
  })

  it('has nothing to cancel or manage for a fixed period that the gateway does not renew', async () => {
    const shop = await openShop(benefitCatalog)
    const tove = await registerUser(shop, 'tove')
    await handOff(shop, tove, 'almanac-pro')
    expect(await subscriptionsOf(tove)).toMatchObject([
      { amount: 90, nextPaymentAt: null, canCancel: false, manageUrl: null }
    ])
  })

  it('needs a session', async () => {
    const { shop } = await subscriber()
    expect((await listed(shop.visitor())).status).toBe(401)
  })
})

describe('POST /me/subscriptions/{id}/cancel', () => {
  it('ends the subscription with its paid period, here and at Stripe, and again changes nothing', async () => {
    const { shop, lena, id } = await subscriber()
    for (const _ of ['once', 'again']) {
      const { status, data } = await cancel(lena, id)
      expect([status, data.subscription]).toMatchObject([
        200,
        { id, status: 'active', cancelAtPeriodEnd: true, nextPaymentAt: null, canCancel: false }
      ])
    }
    expect(atStripe(shop)).toMatchObject({ status: 'active', cancel_at_period_end: true })
    expect((await me(lena)).flags['hasActiveSubscription']).toBe(true)
  })

  it('is 404 for another person and for an id that does not exist', async () => {
    const { shop, id } = await subscriber()
    const tove = await registerUser(shop, 'tove')
    for (const foreign of [id, 999, '0', 'x', '1e1']) {
      expect([foreign, (await cancel(tove, foreign)).status]).toEqual([foreign, 404])
    }
    expect((await cancel(shop.visitor(), id)).status).toBe(401)
    expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: false })
  })

  it('is limited for one account, and a subscription that does not exist does not count', async () => {
    const { lena, id } = await subscriber({ 'limits.account_change': '1/3600' })
    const { status } = await lena.post('/me/subscriptions/999/cancel')
    expect(status).toBe(404)
    expect((await cancel(lena, id)).status).toBe(200)
    const { status: second, error } = await cancel(lena, id)
    expect([second, error.details]).toEqual([429, { bucket: 'account_change' }])
  })

  it('is 503 while Stripe does not answer, changes nothing, and works afterwards', async () => {
    const { shop, lena, id } = await subscriber()
    shop.app.sandbox?.addFault({ target: 'subscriptions.update', fault: '503', times: -1 })
    const refused = await cancel(lena, id)
    expect([refused.status, refused.error.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE'])
    expect(await subscriptionsOf(lena)).toMatchObject([{ canCancel: true, cancelAtPeriodEnd: false }])
    shop.app.sandbox?.clearFaults()
    expect((await cancel(lena, id)).data.subscription).toMatchObject({ cancelAtPeriodEnd: true })
  })

  it('records that Stripe has ended the subscription already', async () => {
    const { shop, lena, id } = await subscriber()
    shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'lost', times: -1 })
    const stripe = await shop.app.cards?.client?.()
    await stripe?.subscriptions.cancel(atStripe(shop)?.id ?? '')
    expect((await cancel(lena, id)).data.subscription).toMatchObject({ status: 'cancelled', canCancel: false })
    expect((await cancel(lena, id)).status).toBe(200)
  })

  it('ends a subscription at once when its renewal was not paid, so that no retry charges it', async () => {
    const { shop, lena, id } = await subscriber()
    shop.app.sandbox?.renewSubscription(atStripe(shop)?.id ?? '', 'failed')
    await shop.app.sandbox?.deliverDue()
    expect(await subscriptionsOf(lena)).toMatchObject([{ status: 'past_due', nextPaymentAt: null, canCancel: true }])
    expect((await cancel(lena, id)).data.subscription).toMatchObject({ status: 'cancelled', canCancel: false })
    expect(atStripe(shop)).toMatchObject({ status: 'canceled' })
  })
})

describe('manageUrl', () => {
  it('leads its holder to a new session of the billing portal, where a cancellation is seen here', async () => {
    const { shop, lena } = await subscriber()
    const [{ manageUrl } = {}] = await subscriptionsOf(lena)
    const first = await follow(lena, String(manageUrl))
    const second = await follow(lena, String(manageUrl))
    expect([first.status, second.status, first.location === second.location]).toEqual([303, 303, false])
    const portal = await lena.form(withLoopback(first.location), {
      subscription: atStripe(shop)?.id ?? '',
      action: 'cancel'
    })
    expect(portal.status).toBe(303)
    expect(atStripe(shop)).toMatchObject({ cancel_at_period_end: false, cancel_at: expect.any(Number) })
    expect(await subscriptionsOf(lena)).toMatchObject([{ cancelAtPeriodEnd: true, nextPaymentAt: null }])
  })

  it('gives nothing away: it needs the session of its holder', async () => {
    const { shop, lena } = await subscriber()
    const [{ manageUrl } = {}] = await subscriptionsOf(lena)
    expect((await follow(shop.visitor(), String(manageUrl))).status).toBe(401)
    const tove = await registerUser(shop, 'tove')
    expect((await follow(tove, String(manageUrl))).status).toBe(404)
  })

  it('leads to the login of the storefront first', async () => {
    const { shop, lena, id } = await subscriber({ 'storefront.enabled': 'true' })
    const [{ manageUrl } = {}] = await subscriptionsOf(lena)
    const { status, location } = await follow(shop.visitor(), String(manageUrl))
    expect([status, location]).toEqual([303, `/login?next=%2Faccount%2Fsubscriptions%2F${id}%2Fmanage`])
  })

  it('is limited for one account', async () => {
    const { lena, id } = await subscriber({ 'limits.portal_account': '2/3600' })
    const open = () => lena.post<{ url: string }>(`/me/subscriptions/${id}/portal`)
    expect((await open()).data.url).toMatch(/\/sandbox\/portal\/bps_\w+$/)
    expect([(await open()).status, (await open()).status]).toEqual([200, 429])
  })

  it('leads to a portal whose address expires when it is not opened', async () => {
    const { shop, lena, id } = await subscriber()
    const { data } = await lena.post<{ url: string }>(`/me/subscriptions/${id}/portal`)
    shop.clock.advance(5 * 60_000)
    expect((await follow(await logIn(shop, 'lena'), data.url)).status).toBe(404)
  })
})
