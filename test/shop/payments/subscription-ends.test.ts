import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { revokeByHand } from '../../../src/shop/benefits/operator-grants.ts'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import type { OrderStatus } from '../../../src/shop/orders/states.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { applyEvent } from '../../../src/shop/payments/webhook.ts'
import { readEvent, idOf, periodEndOf } from '../../../src/shop/payments/gateway-state.ts'
import { cancelOrder } from '../../../src/shop/payments/end-hold.ts'
import { endSubscriptionOf, endUnwantedSubscriptions } from '../../../src/shop/payments/subscriptions.ts'
import type { Browser } from '../../support/browser.ts'
import { shopstead } from '../../support/command-line.ts'
import { eventOf, openTill, shelf } from './till.ts'
import type { Till } from './till.ts'

const monthly = { kind: 'subscription', interval: 'month' }
const box = { slug: 'box', name: 'Box', price: '20.00', grants: [monthly] }
const scarce = ['red-box', 'blue-box'].map((slug) => ({ ...box, slug, name: slug, stock: 1 }))

let till: Till
let visitor: Browser
beforeAll(async () => {
  till = await openTill({ products: [...shelf.products, box, ...scarce] })
  visitor = till.shop.visitor()
  await visitor.register()
  till.loseWebhooks()
})
afterAll(() => till.close())

async function subscribe(slug = 'club', buyer: Parameters<Till['redirect']>[0] = { visitor }, beforePaid?: Meanwhile) {
  const { id: orderId, sessionId } = await till.redirect({ slug, ...buyer })
  await beforePaid?.(orderId)
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  const event = readEvent(eventOf('checkout.session.completed', { id: sessionId }))
  await applyEvent(till.shop.app, till.stripe, event, 'webhook')
  const { subscription } = await till.stripe.checkout.sessions.retrieve(sessionId)
  return { orderId, gatewayId: idOf(subscription) ?? '' }
}

type Meanwhile = (orderId: number) => unknown
type Subscribed = Awaited<ReturnType<typeof subscribe>>

const change = ({ orderId }: Subscribed, set: Partial<typeof subscriptions.$inferInsert>) =>
  till.shop.app.db.orm.update(subscriptions).set(set).where(eq(subscriptions.orderId, orderId)).run()
const linkOf = ({ orderId }: Subscribed) =>
  till.shop.app.db.orm.select().from(subscriptions).where(eq(subscriptions.orderId, orderId)).get()?.gatewayId
const statusOf = async ({ gatewayId }: Subscribed) => (await till.stripe.subscriptions.retrieve(gatewayId)).status
const endThem = () => endUnwantedSubscriptions(till.shop.app, till.stripe)

describe('a subscription that must not renew any more', () => {
  it('is ended at the gateway and marked as ended, and the others are not', async () => {
    const [unwanted, wanted] = [await subscribe(), await subscribe()]
    change(unwanted, { cancelledAt: till.clock.now() })
    await endThem()
    expect([await statusOf(unwanted), linkOf(unwanted)]).toEqual(['canceled', null])
    expect([await statusOf(wanted), linkOf(wanted)]).toEqual(['active', wanted.gatewayId])
  })

  it('is only marked as ended when the gateway has ended it or does not know it', async () => {
    const [ended, gone] = [await subscribe(), await subscribe()]
    await till.stripe.subscriptions.cancel(ended.gatewayId)
    change(ended, { cancelledAt: till.clock.now() })
    change(gone, { cancelledAt: till.clock.now(), gatewayId: 'sub_gone' })
    await endThem()
    expect([linkOf(ended), linkOf(gone)]).toEqual([null, null])
  })

  it('is tried again while the gateway fails', async () => {
    const unwanted = await subscribe()
    change(unwanted, { cancelledAt: till.clock.now() })
    const retrieve = () => Promise.reject(new Error('the line broke'))
    const broken = { subscriptions: { retrieve } } as unknown as Stripe
    await expect(endUnwantedSubscriptions(till.shop.app, broken)).rejects.toThrow('the line broke')
    expect(linkOf(unwanted)).toBe(unwanted.gatewayId)
    await endThem()
    expect(linkOf(unwanted)).toBeNull()
  })

  it('does not delay the others when the gateway refuses to end it', async () => {
    const [refused, other] = [await subscribe(), await subscribe()]
    for (const each of [refused, other]) change(each, { cancelledAt: till.clock.now() })
    const asked: string[] = []
    const refusal = Object.assign(new Error('not allowed'), { statusCode: 403 })
    const double = {
      retrieve: async (id: string) => ({ id, status: 'active' }),
      cancel: async (id: string) => {
        asked.push(id)
        if (id === asked[0]) throw refusal
      }
    }
    const broken = { subscriptions: double } as unknown as Stripe
    await expect(endUnwantedSubscriptions(till.shop.app, broken)).rejects.toThrow('not allowed')
    expect(asked).toHaveLength(2)
    expect([linkOf(refused), linkOf(other)].filter((link) => link !== null)).toEqual(asked.slice(0, 1))
    await endThem()
    expect([linkOf(refused), linkOf(other)]).toEqual([null, null])
  })

  it.each(['canceled', 'incomplete_expired'])('is not ended again when its status is %s', async (status) => {
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

/** A guest's, whose order gives nothing until an account takes it in. */
function asGuest(email: string, slug = 'club') {
  return subscribe(slug, { visitor: till.shop.visitor(), body: { customer: { email } } })
}

const operate = (...words: string[]) => shopstead(till.shop.app.config.dataDir, words)
const move = (id: number, to: OrderStatus) =>
  write(till.shop.app.db, (tx) => moveOrder(tx, id, to, { by: 'operator', reason: 'test' }, till.clock.now()))
const rowOf = ({ orderId }: Subscribed) =>
  till.shop.app.db.orm.select().from(subscriptions).where(eq(subscriptions.orderId, orderId)).get()
const periodEndAt = async ({ gatewayId }: Subscribed) =>
  periodEndOf(await till.stripe.subscriptions.retrieve(gatewayId))

/** An account that claims the orders with its email. */
async function claim(email: string) {
  await till.shop.visitor().register({ email })
  expect(await operate('users', 'verify', email, '--json')).toMatchObject({ code: 0 })
}

/** What the shop ends in a round at a gateway where everything is active. */
async function endedNow(): Promise<string[]> {
  const asked: string[] = []
  const double = {
    retrieve: async (id: string) => ({ id, status: 'active' }),
    cancel: async (id: string) => void asked.push(id)
  }
  await endUnwantedSubscriptions(till.shop.app, { subscriptions: double } as unknown as Stripe)
  return asked
}

/** An order that was cancelled and lost its stock before it was paid, and waits for an operator. */
async function payLate(slug: string) {
  const late = await subscribe(slug, { visitor }, async (orderId) => {
    move(orderId, 'cancelled')
    await subscribe(slug)
  })
  expect(till.order(late.orderId).status).toBe('on-hold')
  return late
}

describe('a subscription without an account', () => {
  it('continues with its order, and ends once with it', async () => {
    const [off, on] = [await asGuest('off@example.com', 'box'), await asGuest('on@example.com', 'box')]
    await endThem()
    expect([await statusOf(off), await statusOf(on)]).toEqual(['active', 'active'])
    await cancelOrder(till.shop.app, off.orderId, 'operator')
    await endThem()
    expect([await statusOf(off), await statusOf(on)]).toEqual(['canceled', 'active'])
    expect(await endedNow()).toEqual([])
  })

  it('is not ended again when the gateway has ended it, whichever event arrives', async () => {
    const [announced, found] = [
      await asGuest('announced@example.com', 'box'),
      await asGuest('found@example.com', 'box')
    ]
    for (const { gatewayId, orderId } of [announced, found]) {
      await till.stripe.subscriptions.cancel(gatewayId)
      await cancelOrder(till.shop.app, orderId, 'operator')
    }
    const event = readEvent(eventOf('customer.subscription.deleted', { id: announced.gatewayId }))
    await applyEvent(till.shop.app, till.stripe, event, 'webhook')
    await endThem()
    expect(await endedNow()).toEqual([])
  })

  it('ends with an order that was paid late, when its hold is cancelled', async () => {
    const gone = await payLate('red-box')
    await endThem()
    expect(await statusOf(gone)).toBe('active')
    await cancelOrder(till.shop.app, gone.orderId, 'operator')
    await endThem()
    expect(await statusOf(gone)).toBe('canceled')
  })

  it('is looked up only at the gateway of its payment', async () => {
    const theirs = await asGuest('theirs@example.com', 'box')
    await cancelOrder(till.shop.app, theirs.orderId, 'operator')
    const { sqlite } = till.shop.app.db
    const pay = sqlite.prepare('UPDATE payment_attempts SET gateway = ?, livemode = ? WHERE order_id = ?')
    for (const [gateway, livemode] of [
      ['stripe', 0],
      ['sandbox', 1]
    ]) {
      pay.run(gateway, livemode, theirs.orderId)
      expect(await endedNow()).toEqual([])
    }
    pay.run('sandbox', 0, theirs.orderId)
    expect(await endedNow()).toEqual([theirs.gatewayId])
  })

  it("ends when its buyer is erased, even if the account's email was not verified", async () => {
    const guests = await asGuest('eva@example.com')
    await till.shop.visitor().register({ email: 'eva@example.com' })
    await operate('users', 'erase', 'eva@example.com', '--yes')
    await endThem()
    expect(await statusOf(guests)).toBe('canceled')
  })
})

describe('a subscription that an account claims after its payment', () => {
  it('is renewed by the gateway, until the paid date', async () => {
    const mine = await asGuest('ida@example.com')
    till.sandbox.renewSubscription(mine.gatewayId, 'paid')
    const event = readEvent(eventOf('customer.subscription.updated', { id: mine.gatewayId }))
    await applyEvent(till.shop.app, till.stripe, event, 'webhook')
    await claim('ida@example.com')
    const { gatewayId } = mine
    expect(rowOf(mine)).toMatchObject({ gatewayId, currentPeriodEnd: await periodEndAt(mine), cancelledAt: null })
    await endThem()
    expect(await statusOf(mine)).toBe('active')
  })

  it('is paid until its date and not renewed when the gateway had ended it before', async () => {
    const mine = await asGuest('uwe@example.com')
    await till.stripe.subscriptions.cancel(mine.gatewayId)
    const event = readEvent(eventOf('customer.subscription.deleted', { id: mine.gatewayId }))
    await applyEvent(till.shop.app, till.stripe, event, 'webhook')
    await claim('uwe@example.com')
    expect(rowOf(mine)).toMatchObject({ gatewayId: null, currentPeriodEnd: await periodEndAt(mine) })
  })

  it('ends when its holder is erased', async () => {
    const mine = await asGuest('max@example.com')
    await claim('max@example.com')
    await operate('users', 'erase', 'max@example.com', '--yes')
    await endThem()
    expect(await statusOf(mine)).toBe('canceled')
  })

  it('ends when it is revoked', async () => {
    const mine = await asGuest('kai@example.com')
    await claim('kai@example.com')
    const id = rowOf(mine)?.id ?? 0
    const revoked = revokeByHand(till.shop.app.db, 'subscription', id, till.clock.now())
    expect(revoked).toEqual({ gatewayId: mine.gatewayId })
    await endThem()
    expect(await statusOf(mine)).toBe('canceled')
    expect(await endedNow()).toEqual([])
  })

  it('ends when it was revoked before its subscription at the gateway was known', async () => {
    const mine = await asGuest('jan@example.com')
    const { sqlite } = till.shop.app.db
    sqlite.prepare('DELETE FROM gateway_subscriptions WHERE order_id = ?').run(mine.orderId)
    await claim('jan@example.com')
    const id = rowOf(mine)?.id ?? 0
    revokeByHand(till.shop.app.db, 'subscription', id, till.clock.now())
    const event = readEvent(eventOf('customer.subscription.updated', { id: mine.gatewayId }))
    await applyEvent(till.shop.app, till.stripe, event, 'webhook')
    await endThem()
    expect(await statusOf(mine)).toBe('canceled')
  })

  it('belongs to an order whose late payment an operator accepted', async () => {
    const mine = await payLate('blue-box')
    expect(rowOf(mine)).toBeUndefined()
    move(mine.orderId, 'processing')
    expect(rowOf(mine)).toMatchObject({ gatewayId: mine.gatewayId, currentPeriodEnd: await periodEndAt(mine) })
  })
})

describe('the subscription of a refunded payment', () => {
  it('ends at the gateway', async () => {
    const mine = await subscribe()
    await endSubscriptionOf(till.stripe, till.attempt(mine.orderId))
    expect(await statusOf(mine)).toBe('canceled')
  })

  it('is ignored when the payment started none', async () => {
    const others = async () => (await till.stripe.subscriptions.list({ status: 'all' })).data
    const before = await others()
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await endSubscriptionOf(till.stripe, till.attempt(id))
    const { data } = await till.handOff('pm_card_visa')
    await endSubscriptionOf(till.stripe, till.attempt(Number(data.orderId)))
    await endSubscriptionOf(till.stripe, { ...till.attempt(id), objectId: null })
    expect(before).not.toEqual([])
    expect(await others()).toEqual(before)
  })
})
