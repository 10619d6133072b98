import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { revokeByHand } from '../../../src/shop/benefits/operator-grants.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import type { Browser } from '../../support/browser.ts'
import { openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
  await till.shop.visitor().register()
  await till.shop.visitor().register({ email: 'eve@example.com' })
})
beforeEach(() => till.sandbox.clearFaults())
afterAll(() => till.close())

type Subscription = {
  name: string
  status: string
  interval: string
  currentPeriodEnd: string
  cancelAtPeriodEnd: boolean
}

const day = 24 * 60 * 60_000

/** Years pass in these tests, so the customer logs in again. */
async function login(email = 'ada@example.com'): Promise<Browser> {
  const visitor = till.shop.visitor()
  await visitor.post('/auth/login', { email, password: 'tidal-basalt-93' })
  return visitor
}

async function subscribe(slug = 'club', buyer?: Browser) {
  const visitor = buyer ?? (await login())
  const { id, sessionId } = await till.redirect({ slug, visitor })
  await till.sandbox.payCheckout(sessionId)
  const session = await till.stripe.checkout.sessions.retrieve(sessionId)
  return { id, session, subscription: session.subscription as string }
}

const entitled = async (slug: string, email?: string): Promise<Subscription | undefined> => {
  const { data } = await (await login(email)).get<{ entitlements: { subscriptions: Subscription[] } }>('/me')
  return data.entitlements.subscriptions.find(({ name }) => name.toLowerCase() === slug)
}
const statusAt = async (id: string) => (await till.stripe.subscriptions.retrieve(id)).status

describe('a subscription that Stripe renews', () => {
  it('starts with the payment of its order and lasts until the date from Stripe', async () => {
    const { id, session, subscription } = await subscribe()
    expect(session).toMatchObject({ mode: 'subscription', amount_total: 800 })
    expect(till.order(id).status).toBe('completed')
    const { items } = await till.stripe.subscriptions.retrieve(subscription)
    expect(await entitled('club')).toMatchObject({
      status: 'active',
      interval: 'month',
      currentPeriodEnd: new Date((items.data[0]?.current_period_end ?? 0) * 1000).toISOString(),
      cancelAtPeriodEnd: false
    })
  })

  it('extends with each paid renewal, is past due after a failed one, and active again after its payment', async () => {
    const { subscription } = await subscribe('yearbook')
    const before = await entitled('yearbook')
    till.clock.advance(370 * day)
    await till.deliver()
    const renewed = await entitled('yearbook')
    expect(Date.parse(renewed?.currentPeriodEnd ?? '')).toBeGreaterThan(Date.parse(before?.currentPeriodEnd ?? ''))
    till.sandbox.renewSubscription(subscription, 'failed')
    await till.deliver()
    expect(await entitled('yearbook')).toMatchObject({
      status: 'past_due',
      currentPeriodEnd: renewed?.currentPeriodEnd
    })
    till.sandbox.renewSubscription(subscription, 'paid')
    await till.deliver()
    expect(await entitled('yearbook')).toMatchObject({ status: 'active' })
  })

  it('ends with its period after a cancellation, in whatever order the events arrive', async () => {
    const { subscription } = await subscribe('club', await login('eve@example.com'))
    const mine = () => entitled('club', 'eve@example.com')
    await till.stripe.subscriptions.update(subscription, { cancel_at_period_end: true })
    await till.deliver()
    expect(await mine()).toMatchObject({ status: 'active', cancelAtPeriodEnd: true })
    till.clock.advance(40 * day)
    await till.deliver()
    expect(await statusAt(subscription)).toBe('canceled')
    expect((await mine())?.status).not.toBe('active')
  })

  it('is updated by the reconciler when its webhooks were lost', async () => {
    const { subscription } = await subscribe('yearbook')
    till.loseWebhooks()
    till.clock.advance(370 * day)
    await till.deliver()
    await till.settle()
    const { items } = await till.stripe.subscriptions.retrieve(subscription)
    const ends = till.shop.app.db.sqlite
      .prepare<[string], { ends: number }>('SELECT current_period_end AS ends FROM subscriptions WHERE gateway_id = ?')
      .all(subscription)
    expect(ends).toEqual([{ ends: (items.data[0]?.current_period_end ?? 0) * 1000 }])
  })
})

describe('a subscription that has ended in the shop', () => {
  it('is not charged again after a refund', async () => {
    const { id, subscription } = await subscribe()
    await refundOrder(till.shop.app, id, {}, 'operator')
    expect(till.sandbox.ledger().refunds.at(-1)).toMatchObject({ amount: 800 })
    await till.deliver()
    expect(till.order(id).status).toBe('refunded')
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })

  it("is not charged again after the refund of a guest's order", async () => {
    const { id, subscription } = await subscribe('club', till.shop.visitor())
    await refundOrder(till.shop.app, id, {}, 'operator')
    await till.deliver()
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })

  it('is ended by the reconciler when the webhooks of the refund were lost', async () => {
    const { id, subscription } = await subscribe()
    till.loseWebhooks()
    await refundOrder(till.shop.app, id, {}, 'operator')
    expect(await statusAt(subscription)).toBe('active')
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
  })

  it('is ended once at Stripe by the reconciler after an operator ended it', async () => {
    const { id, subscription } = await subscribe()
    const { sqlite } = till.shop.app.db
    const row = sqlite.prepare<[number], { id: number }>('SELECT id FROM subscriptions WHERE order_id = ?').get(id)
    revokeByHand(till.shop.app.db, 'subscription', row?.id ?? 0, till.clock.now())
    await till.settle()
    expect(await statusAt(subscription)).toBe('canceled')
    till.sandbox.addFault({ target: 'subscriptions.*', fault: '500', times: -1 })
    till.logged.length = 0
    await till.settle({ underWay: 'leave', events: { since: till.clock.now() + 60_000 } })
    expect(till.logged.filter(({ fields }) => fields.what === 'subscriptions')).toEqual([])
  })
})

describe('a cart', () => {
  it('buys one fixed period with token_handoff', async () => {
    const { data } = await till.handOff('pm_card_visa', { slug: 'club', visitor: await login() })
    expect(data).toMatchObject({ status: 'completed' })
    expect(
      till.sandbox.ledger().subscriptions.filter(({ metadata }) => metadata.shopstead_order === String(data.orderId))
    ).toEqual([])
  })
})
