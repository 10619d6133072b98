import { describe, expect, it } from 'vitest'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import type { Browser } from '../support/browser.ts'
import { benefitCatalog } from './catalog.ts'
import {
  buy,
  logIn,
  dayMs,
  handOff,
  verificationToken,
  me,
  registerUser,
  openShop,
  order,
  ordersOf,
  pay,
  writeDownload
} from './shop.ts'
import type { JourneyShop, Me } from './shop.ts'

const noon = '2026-01-15T12:00:00.000Z'

type Download = { id: number; productId: number; name: string; url: string; expiresAt: string }

async function downloads(visitor: Browser): Promise<Download[]> {
  return (await visitor.get<{ downloads: Download[] }>('/me/downloads')).data.downloads
}

function refund(shop: JourneyShop, orderId: number, amountMinor?: number) {
  return refundOrder(shop.app, orderId, { amountMinor }, 'operator')
}

/** Delivers every webhook of the sandbox again with a new signature, as Stripe does on request. Returns the statuses. */
async function resendWebhooks(shop: JourneyShop): Promise<number[]> {
  const stripe = await shop.app.cards?.client?.()
  if (stripe === undefined) throw new Error('The gateway is missing.')
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

/** The benefits of each product in the response of /me: when paid, and after a refund. */
const grants: { slug: string; flags: string[]; shows: (me: Me) => unknown; is: unknown; revoked: unknown }[] = [
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
    revoked: [expect.objectContaining({ status: 'cancelled' })]
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
    revoked: { activeMembershipCount: 0, totalMemberships: 1, primaryPlan: null }
  },
  {
    slug: 'guild',
    flags: ['hasActiveMembershipB'],
    shows: ({ entitlements, flags }) => [entitlements.membershipsSummary['primaryPlan'], flags['hasMembershipB']],
    is: [expect.objectContaining({ planSlug: 'guild', module: 'B', expiresAt: null }), true],
    // hasMembershipB stays true, because a cancelled membership counts too.
    revoked: [null, true]
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
    revoked: [expect.objectContaining({ status: 'cancelled' })]
  },
  {
    slug: 'almanac-pro',
    flags: ['hasActiveSubscription', 'hasProAccess'],
    shows: ({ roles }) => roles.serviceRoles,
    is: ['pro'],
    revoked: []
  },
  {
    slug: 'glazing',
    flags: ['hasCourseEnrollments'],
    shows: ({ flags }) => flags['hasCourseEnrollments'],
    is: true,
    revoked: false
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
    revoked: [{ donations: [] }, { hasDonations: false, totalDonations: 0, lastDonationAt: null }]
  },
  {
    slug: 'gift',
    flags: [],
    shows: ({ entitlements }) => entitlements.donations.donations[0]?.['campaign'],
    is: null,
    revoked: undefined
  }
]

describe.each(grants)('the benefits of $slug', ({ slug, flags, shows, is, revoked }) => {
  it('start with the payment, once for repeated reports of it, and end with a refund', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const bought = await order(shop, lena, slug)
    const before = await me(lena)
    for (const flag of flags) expect([flag, before.flags[flag]]).toEqual([flag, false])

    await pay(lena, bought)
    const after = await me(lena)
    expect(shows(after)).toEqual(is)
    for (const flag of flags) expect([flag, after.flags[flag]]).toEqual([flag, true])

    const statuses = await resendWebhooks(shop)
    expect([statuses.length > 0, ...statuses.filter((status) => status !== 200)]).toEqual([true])
    expect(await me(lena)).toEqual(after)

    await refund(shop, bought.orderId)
    const back = await me(lena)
    expect(shows(back)).toEqual(revoked)
    for (const flag of flags) expect([flag, back.flags[flag]]).toEqual([flag, false])
    await resendWebhooks(shop)
    expect(await me(lena)).toEqual(back)
  })
})

describe('a benefit that is bought again', () => {
  it('is extended by the bought period, and shortened by it after a refund of either order', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const first = await buy(shop, lena, 'keepers-month')
    await buy(shop, lena, 'keepers-month', { quantity: 2 })
    const { entitlements } = await me(lena)
    expect(entitlements.memberships).toHaveLength(1)
    expect(entitlements.memberships[0]).toMatchObject({ startedAt: noon, expiresAt: '2026-04-15T12:00:00.000Z' })
    shop.clock.advance(dayMs / 2)
    await refund(shop, first.orderId)
    const active = (await me(lena)).entitlements.memberships.filter(({ status }) => status === 'active')
    // The two months of the second order start now.
    expect(active).toEqual([expect.objectContaining({ startedAt: '2026-01-16T00:00:00.000Z' })])
    expect(Date.parse(String(active[0]?.['expiresAt'])) - shop.clock.now()).toBe(59 * dayMs)
  })

  it('starts a new membership from today when the old one has expired', async () => {
    const shop = await openShop(benefitCatalog)
    await buy(shop, await registerUser(shop, 'lena'), 'guild-week')
    shop.clock.advance(20 * dayMs)
    const lena = await logIn(shop, 'lena')
    await buy(shop, lena, 'guild-week')
    const { entitlements, flags } = await me(lena)
    expect(entitlements.memberships.map(({ status }) => status)).toEqual(['active', 'expired'])
    expect(entitlements.membershipsSummary).toMatchObject({ activeMembershipCount: 1, totalMemberships: 2 })
    expect(flags).toMatchObject({ hasActiveMembershipB: true, hasMembershipB: true })
  })

  it('extends the fixed term of a subscription', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    for (const _ of [1, 2]) expect((await handOff(shop, lena, 'almanac')).data.status).toBe('completed')
    const { subscriptions } = (await me(lena)).entitlements
    expect(subscriptions).toEqual([expect.objectContaining({ currentPeriodEnd: '2026-03-15T12:00:00.000Z' })])
  })
})

describe('the expiry of a benefit', () => {
  it('is exact to the millisecond and needs no job', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    await buy(shop, lena, 'head-keeper')
    await handOff(shop, lena, 'almanac-pro')
    const pro = { hasActiveMembershipA: true, hasActiveSubscription: true, hasProAccess: true }
    expect((await me(lena)).roles.serviceRoles).toEqual(['member', 'pro'])
    shop.clock.set(Date.parse('2027-01-15T11:59:59.999Z'))
    const then = await logIn(shop, 'lena')
    expect((await me(then)).flags).toMatchObject(pro)
    shop.clock.advance(1)
    const expired = await me(then)
    expect(expired.flags).toMatchObject({
      hasActiveMembershipA: false,
      hasActiveSubscription: false,
      hasProAccess: false
    })
    expect(expired.roles.serviceRoles).toEqual([])
    expect(expired.entitlements.memberships[0]).toMatchObject({ status: 'expired' })
    expect(expired.entitlements.subscriptions[0]).toMatchObject({ status: 'expired' })
    expect(expired.entitlements.membershipsSummary).toEqual({
      activeMembershipCount: 0,
      totalMemberships: 1,
      primaryPlan: null
    })
  })
})

describe('an order that is not paid, or no longer paid', () => {
  it('gives no benefits when the card is declined, and gives them when it is paid later', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const declined = await handOff(shop, lena, 'glazing', { body: { paymentToken: 'pm_card_visa_chargeDeclined' } })
    expect([declined.status, declined.error.code]).toEqual([402, 'CHECKOUT_FAILED'])
    expect((await me(lena)).flags).toMatchObject({ hasCourseEnrollments: false, hasAnyCompletedStoreOrder: false })
    const bought = await order(shop, lena, 'glazing')
    expect((await lena.form(bought.url, { payment_method: 'pm_card_visa_chargeDeclined' })).status).toBe(402)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
    await pay(lena, bought)
    expect((await me(lena)).flags).toMatchObject({ hasCourseEnrollments: true, hasAnyCompletedStoreOrder: true })
  })

  it('keeps its benefits after a partial refund', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    const { orderId } = await buy(shop, lena, 'glazing')
    await refund(shop, orderId, 1_000)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(true)
    await refund(shop, orderId)
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
    expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['refunded'])
  })

  it.each(['glazing', 'song', 'head-keeper', 'guild', 'almanac-pro'])(
    'stops %s during a dispute, and gives it again when the dispute is won',
    async (slug) => {
      const shop = await openShop(benefitCatalog)
      writeDownload(shop, 'song.txt', 'la')
      const lena = await registerUser(shop, 'lena')
      const { flags: none } = await me(lena)
      await handOff(shop, lena, slug)
      const paid = await me(lena)
      const files = await downloads(lena)
      const open = async () => Promise.all(files.map(async ({ url }) => (await lena.fetch(`${shop.url}${url}`)).status))
      expect(await open()).toEqual(files.map(() => 200))
      const intent = shop.app.sandbox?.ledger().intents[0]?.id ?? ''
      const dispute = shop.app.sandbox?.openDispute(intent)
      await shop.app.sandbox?.deliverDue()
      expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['on-hold'])
      // It says that there is a membership of this module, ended ones included.
      const { hasMembershipB: _known, ...stopped } = (await me(lena)).flags
      expect(none).toMatchObject(stopped)
      expect([await downloads(lena), await open()]).toEqual([[], files.map(() => 404)])
      shop.app.sandbox?.decideDispute(dispute?.id ?? '', 'won')
      await shop.app.sandbox?.deliverDue()
      const { flags, entitlements } = await me(lena)
      expect(flags).toEqual(paid.flags)
      for (const name of ['memberships', 'subscriptions'] as const)
        expect(entitlements[name]).toEqual(paid.entitlements[name])
      expect([(await downloads(lena)).map(({ id }) => id), await open()]).toEqual([
        files.map(({ id }) => id),
        files.map(() => 200)
      ])
    }
  )

  it('loses its benefits for good when the dispute is lost', async () => {
    const shop = await openShop(benefitCatalog)
    const lena = await registerUser(shop, 'lena')
    await buy(shop, lena, 'glazing')
    const intent = shop.app.sandbox?.ledger().intents[0]?.id ?? ''
    const dispute = shop.app.sandbox?.openDispute(intent)
    shop.app.sandbox?.decideDispute(dispute?.id ?? '', 'lost')
    await shop.app.sandbox?.deliverDue()
    expect((await ordersOf(lena)).map(({ status }) => status)).toEqual(['refunded'])
    expect((await me(lena)).flags['hasCourseEnrollments']).toBe(false)
  })
})

describe('the orders of a guest', () => {
  it('belong to an account with the same email once that email is verified', async () => {
    const shop = await openShop(benefitCatalog, { 'registration.emailVerification': 'true' })
    writeDownload(shop, 'song.txt', 'la')
    const guest = shop.visitor()
    const customer = { body: { customer: { email: 'Guest@Shop.example' } } }
    await buy(shop, guest, 'head-keeper', customer)
    await buy(shop, guest, 'song', customer)
    const withoutEmail = await order(shop, guest, 'panes')
    await pay(guest, withoutEmail, { email: 'guest@shop.example' })
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
    const link = { token: await verificationToken(shop, 'guest@shop.example'), password: credentials.password }
    expect((await visitor.post('/auth/verify-email', link)).status).toBe(200)
    expect((await visitor.post('/auth/login', credentials)).data).toMatchObject({
      flags: { hasProAccess: true, hasCourseEnrollments: false, hasActiveMembershipB: false },
      entitlements: { ordersSummary: { totalOrders: 4 }, donationsSummary: { totalDonations: 1 } }
    })
    expect((await downloads(visitor)).map(({ name }) => name)).toEqual(['song.txt'])
    expect(await ordersOf(visitor)).toHaveLength(4)
  })
})

describe('the account page of the storefront', () => {
  it('links each download by its path, on whatever host the page is open, and the link gives the file', async () => {
    const shop = await openShop(benefitCatalog, { 'storefront.enabled': 'true' })
    writeDownload(shop, 'song.txt', 'la la')
    const lena = await registerUser(shop, 'lena')
    await buy(shop, lena, 'song')
    const [song] = await downloads(lena)
    const { pathname } = new URL(song?.url ?? '', shop.url)
    const page = await (await lena.fetch(`${shop.url}/account`)).text()
    expect(page.match(/href="[^"]*download[^"]*"/g)).toEqual([`href="${pathname}"`])
    expect(await (await lena.fetch(`${shop.url}${pathname}`)).text()).toBe('la la')
  })
})
