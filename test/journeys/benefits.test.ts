import { describe, expect, it } from 'vitest'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import type { Browser } from '../support/browser.ts'
import { benefitCatalogue } from './catalogue.ts'
import {
  buy,
  comesBack,
  dayMs,
  handOff,
  mailedToken,
  me,
  newcomer,
  openShop,
  order,
  ordersOf,
  pay,
  putDownload
} from './shop.ts'
import type { JourneyShop, Me } from './shop.ts'

const noon = '2026-01-15T12:00:00.000Z'

type Download = { id: number; productId: number; name: string; url: string; expiresAt: string }

async function downloads(visitor: Browser): Promise<Download[]> {
  return (await visitor.get<{ downloads: Download[] }>('/me/downloads')).data.downloads
}

function refund(shop: JourneyShop, orderId: number, amountMinor?: number) {
  return refundOrder(shop.app, orderId, amountMinor, 'operator')
}

/** Sends every webhook of the sandbox once more, signed anew, as Stripe does when it is asked to. */
async function sendAgain(shop: JourneyShop): Promise<number[]> {
  const stripe = await shop.app.cards?.client?.()
  if (stripe === undefined) throw new Error('There is no gateway.')
  const { data: events } = await stripe.events.list({ limit: 100 })
  const secret = shop.app.cards?.webhookSecret ?? ''
  const statuses: number[] = []
  for (const event of events) {
    const payload = JSON.stringify(event)
    const timestamp = Math.floor(shop.clock.now() / 1000)
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json' }
    const answer = await fetch(`${shop.apiRoot}/webhooks/stripe`, { method: 'POST', body: payload, headers })
    statuses.push(answer.status)
  }
  return statuses
}

/** What each product gives, as /me tells it. */
const gifts: { slug: string; flags: string[]; shows: (me: Me) => unknown; is: unknown; gone: unknown }[] = [
  {
    slug: 'keepers-month',
    flags: ['hasActiveMembershipA'],
    shows: ({ entitlements }) => entitlements.memberships,
    is: [
      {
        id: expect.any(Number),
        module: 'A',
        planId: expect.any(Number),
        planSlug: 'keepers',
        planName: 'Keepers',
        status: 'active',
        startedAt: noon,
        expiresAt: '2026-02-15T12:00:00.000Z',
        isPro: false
      }
    ],
    gone: [expect.objectContaining({ status: 'cancelled' })]
  },
  {
    slug: 'head-keeper',
    flags: ['hasActiveMembershipA', 'hasProAccess'],
    shows: ({ entitlements }) => entitlements.membershipsSummary,
    is: {
      activeMembershipCount: 1,
      totalMemberships: 1,
      primaryPlan: {
        planId: expect.any(Number),
        planSlug: 'head-keeper',
        planName: 'Head Keeper',
        module: 'A',
        status: 'active',
        expiresAt: '2027-01-15T12:00:00.000Z'
      }
    },
    gone: { activeMembershipCount: 0, totalMemberships: 1, primaryPlan: null }
  },
  {
    slug: 'guild',
    flags: ['hasActiveMembershipB'],
    shows: ({ entitlements, flags }) => [entitlements.membershipsSummary['primaryPlan'], flags['hasMembershipB']],
    is: [expect.objectContaining({ planSlug: 'guild', module: 'B', expiresAt: null }), true],
    // A membership that was taken back is one that he had.
    gone: [null, true]
  },
  {
    slug: 'almanac',
    flags: ['hasActiveSubscription'],
    shows: ({ entitlements }) => entitlements.subscriptions,
    is: [
      {
        id: expect.any(Number),
        productId: expect.any(Number),
        name: 'Product almanac',
        status: 'active',
        interval: 'month',
        currentPeriodEnd: '2026-02-15T12:00:00.000Z',
        cancelAtPeriodEnd: false
      }
    ],
    gone: [expect.objectContaining({ status: 'cancelled' })]
  },
  {
    slug: 'almanac-pro',
    flags: ['hasActiveSubscription', 'hasProAccess'],
    shows: ({ roles }) => roles.serviceRoles,
    is: ['pro'],
    gone: []
  },
  {
    slug: 'glazing',
    flags: ['hasCourseEnrollments'],
    shows: ({ flags }) => flags['hasCourseEnrollments'],
    is: true,
    gone: false
  },
  {
    slug: 'panes',
    flags: [],
    shows: ({ entitlements }) => [entitlements.donations, entitlements.donationsSummary],
    is: [
      {
        donations: [
          {
            id: expect.any(Number),
            orderId: expect.any(Number),
            amount: 10,
            currency: 'EUR',
            campaign: 'panes',
            createdAt: noon
          }
        ]
      },
      { hasDonations: true, totalDonations: 1, lastDonationAt: noon }
    ],
    gone: [{ donations: [] }, { hasDonations: false, totalDonations: 0, lastDonationAt: null }]
  },
  {
    slug: 'gift',
    flags: [],
    shows: ({ entitlements }) => entitlements.donations.donations[0]?.['campaign'],
    is: null,
    gone: undefined
  }
]

describe.each(gifts)('what $slug grants', ({ slug, flags, shows, is, gone }) => {
  it('is not there before it is paid, is there once however often the payment is reported, and goes with a refund', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    const bought = await order(shop, lena, slug)
    const before = await me(lena)
    for (const flag of flags) expect([flag, before.flags[flag]]).toEqual([flag, false])

    await pay(lena, bought)
    const after = await me(lena)
    expect(shows(after)).toEqual(is)
    for (const flag of flags) expect([flag, after.flags[flag]]).toEqual([flag, true])

    const statuses = await sendAgain(shop)
    expect([statuses.length > 0, ...statuses.filter((status) => status !== 200)]).toEqual([true])
    expect(await me(lena)).toEqual(after)

    await refund(shop, bought.orderId)
    const back = await me(lena)
    expect(shows(back)).toEqual(gone)
    for (const flag of flags) expect([flag, back.flags[flag]]).toEqual([flag, false])
    await sendAgain(shop)
    expect(await me(lena)).toEqual(back)
  })
})

describe('a benefit that is bought again', () => {
  it('is longer by what was bought, and shorter by exactly that after a refund of either', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    const first = await buy(shop, lena, 'keepers-month')
    await buy(shop, lena, 'keepers-month', { quantity: 2 })
    const { entitlements } = await me(lena)
    expect(entitlements.memberships).toHaveLength(1)
    expect(entitlements.memberships[0]).toMatchObject({ startedAt: noon, expiresAt: '2026-04-15T12:00:00.000Z' })
    shop.clock.advance(dayMs / 2)
    await refund(shop, first.orderId)
    const active = (await me(lena)).entitlements.memberships.filter(({ status }) => status === 'active')
    // February and March of the second order begin now.
    expect(active).toEqual([expect.objectContaining({ startedAt: '2026-01-16T00:00:00.000Z' })])
    expect(Date.parse(String(active[0]?.['expiresAt'])) - shop.clock.now()).toBe(59 * dayMs)
  })

  it('goes on from today when it had run out, as a membership of its own', async () => {
    const shop = await openShop(benefitCatalogue)
    await buy(shop, await newcomer(shop, 'lena'), 'guild-week')
    shop.clock.advance(20 * dayMs)
    const lena = await comesBack(shop, 'lena')
    await buy(shop, lena, 'guild-week')
    const { entitlements, flags } = await me(lena)
    expect(entitlements.memberships.map(({ status }) => status)).toEqual(['active', 'expired'])
    expect(entitlements.membershipsSummary).toMatchObject({ activeMembershipCount: 1, totalMemberships: 2 })
    expect(flags).toMatchObject({ hasActiveMembershipB: true, hasMembershipB: true })
  })

  it('keeps a fixed term of a subscription going, whose end is the sum of both', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    for (const _ of [1, 2]) expect((await handOff(shop, lena, 'almanac')).data.status).toBe('completed')
    const { subscriptions } = (await me(lena)).entitlements
    expect(subscriptions).toEqual([expect.objectContaining({ currentPeriodEnd: '2026-03-15T12:00:00.000Z' })])
  })
})

describe('time alone', () => {
  it('ends memberships and fixed terms to the millisecond, with no job having run', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    await buy(shop, lena, 'head-keeper')
    await handOff(shop, lena, 'almanac-pro')
    const pro = { hasActiveMembershipA: true, hasActiveSubscription: true, hasProAccess: true }
    expect((await me(lena)).roles.serviceRoles).toEqual(['member', 'pro'])
    shop.clock.set(Date.parse('2027-01-15T11:59:59.999Z'))
    const then = await comesBack(shop, 'lena')
    expect((await me(then)).flags).toMatchObject(pro)
    shop.clock.advance(1)
    const over = await me(then)
    expect(over.flags).toMatchObject({ hasActiveMembershipA: false, hasActiveSubscription: false, hasProAccess: false })
    expect(over.roles.serviceRoles).toEqual([])
    expect(over.entitlements.memberships[0]).toMatchObject({ status: 'expired' })
    expect(over.entitlements.subscriptions[0]).toMatchObject({ status: 'expired' })
    expect(over.entitlements.membershipsSummary).toEqual({
      activeMembershipCount: 0,
      totalMemberships: 1,
      primaryPlan: null
    })
  })
})

describe('an order that is not (any more) paid', () => {
  it('gives nothing when its card is declined, and everything when it is paid after all', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    const declined = await handOff(shop, lena, 'glazing', { body: { paymentToken: 'pm_card_visa_chargeDeclined' } })
    expect([declined.status, declined.error.code]).toEqual([402, 'CHECKOUT_FAILED'])
    expect((await me(lena)).flags).toMatchObject({ hasCourseEnrollments: false, hasAnyCompletedStoreOrder: false })
    const bought = await order(shop, lena, 'glazing')
    expect((await lena.form(bought.url, { payment_method: 'pm_card_visa_chargeDeclined' })).status).toBe(402)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
    await pay(lena, bought)
    expect((await me(lena)).flags).toMatchObject({ hasCourseEnrollments: true, hasAnyCompletedStoreOrder: true })
  })

  it('keeps what it gave after a refund of a part', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'glazing')
    await refund(shop, orderId, 1_000)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(true)
    await refund(shop, orderId)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
    expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['refunded'])
  })

  it('keeps what it gave while it is disputed, and loses it when the dispute is lost', async () => {
    const shop = await openShop(benefitCatalogue)
    const lena = await newcomer(shop, 'lena')
    await buy(shop, lena, 'glazing')
    const intent = shop.app.sandbox?.ledger().intents[0]?.id ?? ''
    const dispute = shop.app.sandbox?.openDispute(intent)
    await shop.app.sandbox?.deliverDue()
    expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['on-hold'])
    expect((await me(lena)).flags).toMatchObject({ hasCourseEnrollments: true, hasAnyCompletedStoreOrder: false })
    shop.app.sandbox?.decideDispute(dispute?.id ?? '', 'lost')
    await shop.app.sandbox?.deliverDue()
    expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['refunded'])
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
  })
})

describe('what a guest bought', () => {
  it('is his account’s once its email is verified, and not before', async () => {
    const shop = await openShop(benefitCatalogue, { 'registration.emailVerification': 'true' })
    putDownload(shop, 'song.txt', 'la')
    const guest = shop.visitor()
    const customer = { body: { customer: { email: 'Guest@Shop.example' } } }
    await buy(shop, guest, 'head-keeper', customer)
    await buy(shop, guest, 'song', customer)
    const asked = await order(shop, guest, 'panes')
    await pay(guest, asked, { email: 'guest@shop.example' })
    await order(shop, guest, 'glazing', customer)
    await buy(shop, guest, 'guild', { body: { customer: { email: 'other@shop.example' } } })

    const registered = await shop.visitor().register({ email: 'guest@shop.example' })
    expect(registered.data).toMatchObject({
      registrationStatus: 'pending_verification',
      flags: { isLoggedIn: false, hasProAccess: false },
      entitlements: { ordersSummary: { totalOrders: 0 } }
    })
    const visitor = shop.visitor()
    const credentials = { email: 'guest@shop.example', password: 'tidal-basalt-93' }
    expect((await visitor.post('/auth/login', credentials)).error.code).toBe('AUTH_EMAIL_NOT_VERIFIED')
    expect(
      (await visitor.post('/auth/verify-email', { token: await mailedToken(shop, 'guest@shop.example') })).status
    ).toBe(200)
    expect((await visitor.post('/auth/login', credentials)).data).toMatchObject({
      flags: { hasProAccess: true, hasCourseEnrollments: false, hasActiveMembershipB: false },
      entitlements: { ordersSummary: { totalOrders: 4 }, donationsSummary: { totalDonations: 1 } }
    })
    expect((await downloads(visitor)).map(({ name }) => name)).toEqual(['song.txt'])
    expect(await ordersOf(visitor)).toHaveLength(4)
  })
})
