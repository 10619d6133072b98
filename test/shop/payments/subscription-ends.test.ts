import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { applyEvent } from '../../../src/shop/payments/apply-event.ts'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { endSubscriptionOf, endUnwantedSubscriptions } from '../../../src/shop/payments/subscription-ends.ts'
import type { Browser } from '../../support/browser.ts'
import { eventOf, openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
let visitor: Browser
beforeAll(async () => {
  till = await openTill()
  visitor = till.shop.visitor()
  await visitor.register()
  till.loseWebhooks()
})
afterAll(() => till.close())

async function subscribe(slug = 'club') {
  const { id: orderId, sessionId } = await till.redirect({ slug, visitor })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  const event = eventOf('checkout.session.completed', { id: sessionId }) as unknown as Stripe.Event
  await applyEvent(till.shop.app, till.stripe, event, 'webhook')
  const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
  return { orderId, gatewayId: idOf(subscription) ?? '' }
}

type Subscribed = Awaited<ReturnType<typeof subscribe>>

const change = ({ orderId }: Subscribed, set: Partial<typeof subscriptions.$inferInsert>) =>
  till.shop.app.db.orm.update(subscriptions).set(set).where(eq(subscriptions.orderId, orderId)).run()
const linkOf = ({ orderId }: Subscribed) =>
  till.shop.app.db.orm.select().from(subscriptions).where(eq(subscriptions.orderId, orderId)).get()?.gatewayId
const statusOf = async ({ gatewayId }: Subscribed) => (await till.stripe.subscriptions.retrieve(gatewayId)).status
const endThem = () => endUnwantedSubscriptions(till.shop.app, till.stripe)

describe('a subscription that is not wanted here any more', () => {
  it('is ended at the gateway and written off, and none else is', async () => {
    const [unwanted, wanted] = [await subscribe(), await subscribe()]
    change(unwanted, { cancelledAt: till.clock.now() })
    await endThem()
    expect([await statusOf(unwanted), linkOf(unwanted)]).toEqual(['canceled', null])
    expect([await statusOf(wanted), linkOf(wanted)]).toEqual(['active', wanted.gatewayId])
  })

  it('is only written off when the gateway has ended it itself, or does not know it', async () => {
    const [ended, gone] = [await subscribe(), await subscribe()]
    await till.stripe.subscriptions.cancel(ended.gatewayId)
    change(ended, { cancelledAt: till.clock.now() })
    change(gone, { cancelledAt: till.clock.now(), gatewayId: 'sub_gone' })
    await endThem()
    expect([linkOf(ended), linkOf(gone)]).toEqual([null, null])
  })

  it('is asked about again while the gateway fails', async () => {
    const unwanted = await subscribe()
    change(unwanted, { cancelledAt: till.clock.now() })
    const retrieve = () => Promise.reject(new Error('the line broke'))
    const broken = { subscriptions: { retrieve } } as unknown as Stripe
    await expect(endUnwantedSubscriptions(till.shop.app, broken)).rejects.toThrow('the line broke')
    expect(linkOf(unwanted)).toBe(unwanted.gatewayId)
    await endThem()
    expect(linkOf(unwanted)).toBeNull()
  })

  it.each(['canceled', 'incomplete_expired'])('and is %s is not ended a second time', async (status) => {
    const over = await subscribe()
    change(over, { cancelledAt: till.clock.now() })
    const asked: string[] = []
    const double = {
      retrieve: async (id: string) => ({ id, status }),
      cancel: async (id: string) => void asked.push(id)
    }
    await endUnwantedSubscriptions(till.shop.app, { subscriptions: double } as unknown as Stripe)
    expect(asked).toEqual([])
    expect(linkOf(over)).toBeNull()
  })
})

describe('the subscription of a payment whose money went back', () => {
  it('ends', async () => {
    const mine = await subscribe()
    await endSubscriptionOf(till.stripe, till.attempt(mine.orderId))
    expect(await statusOf(mine)).toBe('canceled')
  })

  it('is none where the payment started none, and then nothing is ended', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await endSubscriptionOf(till.stripe, till.attempt(id))
    const { data } = await till.handOff('pm_card_visa')
    await endSubscriptionOf(till.stripe, till.attempt(Number(data.orderId)))
    await endSubscriptionOf(till.stripe, { ...till.attempt(id), objectId: null })
  })
})
