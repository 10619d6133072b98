import { isNull } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { orders } from '../../../src/shop/orders/schema.ts'
import { startPace, reconcile } from '../../../src/shop/payments/reconcile.ts'
import type { Pace } from '../../../src/shop/payments/reconcile.ts'
import { paymentAttempts } from '../../../src/shop/payments/schema.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openQuietTill } from './till.ts'

const till = await openQuietTill()
const minuteMs = 60_000
const { app } = till.shop
setSetting(app.db, 'limits.checkout_ip', 'off', till.clock.now())
setSetting(app.db, 'checkout.holdMinutes', '60', till.clock.now())

/** The gateway calls of one round, by the object that each names. */
let asked: string[] = []
let pace: Pace
beforeEach(() => {
  app.db.orm.update(paymentAttempts).set({ outcome: 'abandoned' }).where(isNull(paymentAttempts.outcome)).run()
  till.clock.advance(60 * minuteMs)
  pace = startPace()
})

async function round(events = { since: till.clock.now() }) {
  asked = []
  const { cards } = app
  const client = cards?.client
  if (cards === null || client === undefined) throw new Error('this shop takes no cards')
  const stripe = await client()
  const note = (request: { path: string }): void => void asked.push(request.path.replace(/^\/v1\/|\?.*$/g, ''))
  stripe.on('request', note)
  try {
    return await reconcile({ ...app, cards: { ...cards, client: () => Promise.resolve(stripe) } }, { events, pace })
  } finally {
    stripe.off('request', note)
  }
}

const askedPages = () => asked.filter((path) => path.startsWith('checkout/sessions/'))

describe('the reconciler', () => {
  it('checks a hundred of many waiting pages in a round, and all of them in turn', async () => {
    const ids = []
    for (let page = 0; page < 130; page += 1) ids.push((await till.redirect()).sessionId)
    expect(await round()).toMatchObject({ attempts: 100, failed: 0 })
    expect(asked[0]).toBe('events')
    const first = askedPages()
    await round()
    const both = new Set([...first, ...askedPages()].map((path) => path.split('/').at(-1)))
    expect([askedPages().length, ids.every((id) => both.has(id))]).toEqual([100, true])
  })

  it('checks a page near its end in each round', async () => {
    const { id, sessionId } = await till.redirect()
    const soon = till.clock.now() + minuteMs
    app.db.orm.update(orders).set({ holdEndsAt: soon }).run()
    for (let page = 0; page < 120; page += 1) await till.redirect()
    for (const _round of [1, 2, 3]) {
      await round()
      expect(askedPages()).toContain(`checkout/sessions/${sessionId}`)
    }
    till.clock.advance(2 * minuteMs)
    await round()
    expect([till.order(id).status, askedPages()]).toEqual([
      'cancelled',
      expect.arrayContaining([`checkout/sessions/${sessionId}/expire`])
    ])
  })

  it('settles a payment from the list of events, without a call about its page', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId)
    const since = till.clock.now() - minuteMs
    expect(await round({ since })).toMatchObject({ attempts: 0 })
    expect(till.order(id).status).toBe('processing')
  })

  it('stops at the rate limit, and skips more rounds each time', async () => {
    await till.redirect()
    await till.redirect()
    till.sandbox.addFault({ target: 'checkout.sessions.retrieve', fault: '429', times: -1 })
    expect(await round()).toMatchObject({ attempts: 2, failed: 2 })
    expect(askedPages()).toHaveLength(1)
    const minutes: number[] = []
    for (let minute = 1; minute <= 24; minute += 1) {
      till.clock.advance(minuteMs)
      await round()
      if (asked.length > 0) minutes.push(minute)
    }
    expect(minutes).toEqual([2, 6, 14, 23])
    till.sandbox.clearFaults()
    till.clock.advance(9 * minuteMs)
    expect(await round()).toMatchObject({ failed: 0 })
    till.clock.advance(minuteMs)
    expect(await round()).toMatchObject({ attempts: 2 })
  })

  it('stops at the rate limit while it applies events, and lists the same events again', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId)
    const events = { since: till.clock.now() - minuteMs }
    till.sandbox.addFault({ target: 'checkout.sessions.retrieve', fault: '429' })
    await round(events)
    expect([askedPages().length, till.order(id).status]).toEqual([1, 'pending'])
    till.clock.advance(2 * minuteMs)
    await round(events)
    expect(till.order(id).status).toBe('processing')
  })
})

describe('a checkout that meets the rate limit', () => {
  it.each([
    ['coupons.create', 'checkout.sessions.create', {}],
    ['payment_intents.create', 'payment_intents.confirm', { strategy: 'token_handoff', paymentToken: 'pm_card_visa' }]
  ])('tries again: %s and %s', async (first, second, how) => {
    for (const target of [first, second]) till.sandbox.addFault({ target, fault: '429' })
    const body = {
      items: [{ productId: 1, quantity: 1 }],
      couponCode: 'TEN',
      returnUrl: 'https://site.example/',
      ...how
    }
    expect((await till.shop.visitor().post('/store/checkout-session', body)).status).toBe(200)
  })
})
